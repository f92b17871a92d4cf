CREATE TABLE agent_profiles (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  harness TEXT NOT NULL,
  model TEXT,
  base_url TEXT,
  api_key_env TEXT,
  api_key TEXT,
  params TEXT NOT NULL DEFAULT '{}',
  tools TEXT NOT NULL DEFAULT '{}',
  permission_mode TEXT,
  system_append TEXT,
  max_parallel INTEGER,
  description TEXT NOT NULL DEFAULT '',
  created_at REAL NOT NULL,
  updated_at REAL NOT NULL);
INSERT INTO agent_profiles VALUES (1, 'claude', 'claude-sdk', NULL, NULL, NULL, NULL, '{}', '{}', NULL, NULL, NULL, 'made at the first start', 1796076165.9051986, 1796076165.9051986);
INSERT INTO agent_profiles VALUES (2, 'mock', 'mock', NULL, NULL, NULL, NULL, '{}', '{}', NULL, NULL, NULL, 'made at the first start', 1796076165.9059494, 1796076165.9059494);
INSERT INTO agent_profiles VALUES (3, '秘书 🤖', 'openai', 'made-up', 'http://127.0.0.1:37697/v1', NULL, 'sk-made-up-literal-key', '{"max_turns": 5, "stream": false}', '{}', NULL, NULL, NULL, 'Writes plans — cheaply', 1796076166.2346332, 1796076166.2346332);
INSERT INTO agent_profiles VALUES (4, 'by-env', 'openai', 'made-up', 'http://127.0.0.1:9/v1', 'MADE_UP_KEY', NULL, '{}', '{"preset": "readonly", "deny": ["bash"]}', NULL, 'Be brief.', 2, '', 1796076166.2551255, 1796076166.2551255);
INSERT INTO agent_profiles VALUES (5, 'slow', 'mock', NULL, NULL, NULL, NULL, '{"speed": 0.0001}', '{}', NULL, NULL, NULL, '', 1796076166.2687843, 1796076166.2687843);
INSERT INTO agent_profiles VALUES (6, 'careful', 'claude-sdk', 'opus', NULL, NULL, NULL, '{}', '{}', 'plan', NULL, NULL, '', 1796076166.273131, 1796076166.273131);
CREATE TABLE edges (
  plan_id INTEGER NOT NULL,
  src INTEGER NOT NULL,
  dst INTEGER NOT NULL,
  PRIMARY KEY (plan_id, src, dst));
INSERT INTO edges VALUES (1, 1, 2);
INSERT INTO edges VALUES (1, 2, 3);
INSERT INTO edges VALUES (1, 2, 4);
INSERT INTO edges VALUES (1, 3, 5);
INSERT INTO edges VALUES (1, 4, 5);
INSERT INTO edges VALUES (2, 1, 2);
INSERT INTO edges VALUES (5, 1, 2);
INSERT INTO edges VALUES (6, 1, 2);
INSERT INTO edges VALUES (10, 1, 2);
INSERT INTO edges VALUES (10, 2, 3);
INSERT INTO edges VALUES (10, 1, 4);
INSERT INTO edges VALUES (10, 1, 5);
INSERT INTO edges VALUES (10, 1, 6);
INSERT INTO edges VALUES (10, 1, 7);
INSERT INTO edges VALUES (10, 1, 8);
INSERT INTO edges VALUES (11, 1, 2);
INSERT INTO edges VALUES (11, 2, 3);
INSERT INTO edges VALUES (12, 1, 2);
INSERT INTO edges VALUES (12, 3, 4);
CREATE TABLE events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  plan_id INTEGER NOT NULL,
  node_id INTEGER NOT NULL,
  ts REAL NOT NULL,
  kind TEXT NOT NULL,
  data TEXT NOT NULL);
INSERT INTO events VALUES (1, 1, 1, 1796076166.7400942, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (2, 1, 1, 1796076166.756313, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (3, 1, 1, 1796076166.7570095, 'system', '{"text": "agent: \u79d8\u4e66 \ud83e\udd16 (openai / made-up)", "agent": {"name": "\u79d8\u4e66 \ud83e\udd16", "harness": "openai", "model": "made-up", "profile_id": 3}}');
INSERT INTO events VALUES (4, 1, 1, 1796076166.76402, 'system', '{"text": "session started", "session_id": "df203891-1d02-4d1d-a32e-87d036996144", "model": "made-up", "base_url": "http://127.0.0.1:37697", "cwd": "/tmp/clearbox-original/app"}');
INSERT INTO events VALUES (5, 1, 1, 1796076168.9469056, 'tool_use', '{"id": "call_1", "name": "bash", "input": {"command": "mkdir -p docs && echo ''first \u884c'' >> docs/Plan.md && echo x > notes.tmp"}, "parent_tool_use_id": null}');
INSERT INTO events VALUES (6, 1, 1, 1796076168.9688747, 'tool_result', '{"tool_use_id": "call_1", "content": "[exit code 0]", "is_error": false, "parent_tool_use_id": null}');
INSERT INTO events VALUES (7, 1, 1, 1796076169.047895, 'text', '{"text": "Wrote the plan \ud83d\udcdd.", "parent_tool_use_id": null}');
INSERT INTO events VALUES (8, 1, 1, 1796076169.053712, 'result', '{"text": "Wrote the plan \ud83d\udcdd.", "is_error": false, "subtype": "success", "num_turns": 2, "duration_ms": 2291, "cost_usd": null, "session_id": "df203891-1d02-4d1d-a32e-87d036996144", "errors": [], "model": "made-up", "tokens_in": 200, "tokens_out": 14}');
INSERT INTO events VALUES (9, 1, 1, 1796076169.0618856, 'status', '{"from": "running", "to": "done"}');
INSERT INTO events VALUES (10, 1, 2, 1796076169.07442, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (11, 1, 2, 1796076169.0840507, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (12, 1, 2, 1796076169.0873282, 'system', '{"text": "agent: mock (mock)", "agent": {"name": "mock", "harness": "mock", "model": null, "profile_id": 2}}');
INSERT INTO events VALUES (13, 1, 2, 1796076169.0979805, 'system', '{"text": "mock session started", "session_id": "mock-1-2", "cwd": "/tmp/clearbox-original/app"}');
INSERT INTO events VALUES (14, 1, 1, 1796076169.0996099, 'system', '{"text": "review: agent: \u79d8\u4e66 \ud83e\udd16 (openai / made-up)", "review": true}');
INSERT INTO events VALUES (15, 1, 1, 1796076169.101369, 'system', '{"text": "session started", "session_id": "6fc6f243-05a5-48e4-bb36-cc6c262eeeff", "model": "made-up", "base_url": "http://127.0.0.1:37697", "cwd": "/tmp/clearbox-original/app", "review": true}');
INSERT INTO events VALUES (16, 1, 2, 1796076169.222264, 'thinking', '{"text": "Thinking."}');
INSERT INTO events VALUES (17, 1, 1, 1796076169.2392445, 'text', '{"text": "VERDICT: concerns\nSUMMARY: \u898b\u51fa\u3057 is missing \u26a0\ufe0f\nFINDINGS:\n- docs/Plan.md has no heading", "parent_tool_use_id": null, "review": true}');
INSERT INTO events VALUES (18, 1, 1, 1796076169.2404923, 'result', '{"text": "VERDICT: concerns\nSUMMARY: \u898b\u51fa\u3057 is missing \u26a0\ufe0f\nFINDINGS:\n- docs/Plan.md has no heading", "is_error": false, "subtype": "success", "num_turns": 1, "duration_ms": 139, "cost_usd": null, "session_id": "6fc6f243-05a5-48e4-bb36-cc6c262eeeff", "errors": [], "model": "made-up", "tokens_in": 100, "tokens_out": 7, "review": true}');
INSERT INTO events VALUES (19, 1, 2, 1796076169.244286, 'text', '{"text": "Looking around."}');
INSERT INTO events VALUES (20, 1, 2, 1796076169.2722352, 'tool_use', '{"id": "toolu_1_2_0", "name": "Read", "input": {"file_path": "README.md"}}');
INSERT INTO events VALUES (21, 1, 2, 1796076169.2877524, 'tool_result', '{"tool_use_id": "toolu_1_2_0", "content": "(mock output of Read)", "is_error": false}');
INSERT INTO events VALUES (22, 1, 2, 1796076169.3235936, 'text', '{"text": "Did Check it."}');
INSERT INTO events VALUES (23, 1, 2, 1796076169.3321362, 'result', '{"text": "Did Check it.", "is_error": false, "num_turns": 3, "cost_usd": 0.0}');
INSERT INTO events VALUES (24, 1, 2, 1796076169.3485436, 'status', '{"from": "running", "to": "done"}');
INSERT INTO events VALUES (25, 1, 3, 1796076169.3615804, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (26, 1, 4, 1796076169.3783395, 'status', '{"from": "pending", "to": "running"}');
INSERT INTO events VALUES (27, 1, 4, 1796076169.3816311, 'system', '{"text": "executing subplan 2"}');
INSERT INTO events VALUES (28, 1, 3, 1796076169.3920605, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (29, 1, 3, 1796076169.400094, 'system', '{"text": "agent: mock (mock)", "agent": {"name": "mock", "harness": "mock", "model": null, "profile_id": 2}}');
INSERT INTO events VALUES (30, 2, 1, 1796076169.4100103, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (31, 2, 1, 1796076169.4185765, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (32, 2, 1, 1796076169.42022, 'system', '{"text": "agent: mock (mock)", "agent": {"name": "mock", "harness": "mock", "model": null, "profile_id": 2}}');
INSERT INTO events VALUES (33, 1, 3, 1796076169.4295638, 'system', '{"text": "mock session started", "session_id": "mock-1-3", "cwd": "/tmp/clearbox-original/app"}');
INSERT INTO events VALUES (34, 2, 1, 1796076169.4337983, 'system', '{"text": "mock session started", "session_id": "mock-2-1", "cwd": "/tmp/clearbox-original/app"}');
INSERT INTO events VALUES (35, 2, 1, 1796076169.4486034, 'thinking', '{"text": "Thinking."}');
INSERT INTO events VALUES (36, 1, 3, 1796076169.4575124, 'thinking', '{"text": "Thinking."}');
INSERT INTO events VALUES (37, 2, 1, 1796076169.463779, 'text', '{"text": "Looking around."}');
INSERT INTO events VALUES (38, 1, 3, 1796076169.4820378, 'text', '{"text": "Looking around."}');
INSERT INTO events VALUES (39, 2, 1, 1796076169.502295, 'tool_use', '{"id": "toolu_2_1_0", "name": "Grep", "input": {"pattern": "TODO"}}');
INSERT INTO events VALUES (40, 1, 3, 1796076169.5081725, 'tool_use', '{"id": "toolu_1_3_0", "name": "Read", "input": {"file_path": "README.md"}}');
INSERT INTO events VALUES (41, 2, 1, 1796076169.528145, 'tool_result', '{"tool_use_id": "toolu_2_1_0", "content": "(mock output of Grep)", "is_error": false}');
INSERT INTO events VALUES (42, 1, 3, 1796076169.560141, 'tool_result', '{"tool_use_id": "toolu_1_3_0", "content": "(mock output of Read)", "is_error": false}');
INSERT INTO events VALUES (43, 2, 1, 1796076169.566029, 'text', '{"text": "Did inner a."}');
INSERT INTO events VALUES (44, 2, 1, 1796076169.5961206, 'result', '{"text": "Did inner a.", "is_error": false, "num_turns": 3, "cost_usd": 0.0}');
INSERT INTO events VALUES (45, 2, 1, 1796076169.6145017, 'status', '{"from": "running", "to": "done"}');
INSERT INTO events VALUES (46, 2, 2, 1796076169.6224911, 'status', '{"from": "pending", "to": "running"}');
INSERT INTO events VALUES (47, 2, 2, 1796076169.6243308, 'system', '{"text": "executing subplan 3"}');
INSERT INTO events VALUES (48, 3, 1, 1796076169.6302733, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (49, 3, 1, 1796076169.6400557, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (50, 3, 1, 1796076169.640939, 'system', '{"text": "agent: mock (mock)", "agent": {"name": "mock", "harness": "mock", "model": null, "profile_id": 2}}');
INSERT INTO events VALUES (51, 3, 1, 1796076169.6498988, 'system', '{"text": "mock session started", "session_id": "mock-3-1", "cwd": "/tmp/clearbox-original/app"}');
INSERT INTO events VALUES (52, 1, 3, 1796076169.6522784, 'tool_use', '{"id": "toolu_1_3_1", "name": "Bash", "input": {"command": "ls -la"}}');
INSERT INTO events VALUES (53, 3, 1, 1796076169.684173, 'thinking', '{"text": "Thinking."}');
INSERT INTO events VALUES (54, 1, 3, 1796076169.690324, 'tool_result', '{"tool_use_id": "toolu_1_3_1", "content": "(mock output of Bash)", "is_error": false}');
INSERT INTO events VALUES (55, 3, 1, 1796076169.7022471, 'text', '{"text": "Looking around."}');
INSERT INTO events VALUES (56, 1, 3, 1796076169.7083323, 'text', '{"text": "Did \u90e8\u7f72 to production."}');
INSERT INTO events VALUES (57, 1, 3, 1796076169.709072, 'result', '{"text": "Did \u90e8\u7f72 to production.", "is_error": false, "num_turns": 3, "cost_usd": 0.0}');
INSERT INTO events VALUES (58, 1, 3, 1796076169.7240546, 'status', '{"from": "running", "to": "done"}');
INSERT INTO events VALUES (59, 3, 1, 1796076169.7307963, 'tool_use', '{"id": "toolu_3_1_0", "name": "Read", "input": {"file_path": "README.md"}}');
INSERT INTO events VALUES (60, 3, 1, 1796076169.75918, 'tool_result', '{"tool_use_id": "toolu_3_1_0", "content": "(mock output of Read)", "is_error": false}');
INSERT INTO events VALUES (61, 3, 1, 1796076169.784142, 'text', '{"text": "Did innermost \ud83d\udc22."}');
INSERT INTO events VALUES (62, 3, 1, 1796076169.7880871, 'result', '{"text": "Did innermost \ud83d\udc22.", "is_error": false, "num_turns": 3, "cost_usd": 0.0}');
INSERT INTO events VALUES (63, 3, 1, 1796076169.8008225, 'status', '{"from": "running", "to": "done"}');
INSERT INTO events VALUES (64, 2, 2, 1796076169.8120277, 'status', '{"from": "running", "to": "done"}');
INSERT INTO events VALUES (65, 1, 4, 1796076169.8400261, 'status', '{"from": "running", "to": "done"}');
INSERT INTO events VALUES (66, 1, 5, 1796076169.8600688, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (67, 1, 5, 1796076169.8754067, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (68, 1, 5, 1796076169.8801792, 'system', '{"text": "agent: mock (mock)", "agent": {"name": "mock", "harness": "mock", "model": null, "profile_id": 2}}');
INSERT INTO events VALUES (69, 1, 5, 1796076169.904066, 'system', '{"text": "mock session started", "session_id": "mock-1-5", "cwd": "/tmp/clearbox-original/app"}');
INSERT INTO events VALUES (70, 1, 5, 1796076169.9388478, 'thinking', '{"text": "Thinking."}');
INSERT INTO events VALUES (71, 1, 5, 1796076169.9589715, 'text', '{"text": "Looking around."}');
INSERT INTO events VALUES (72, 1, 5, 1796076170.0085173, 'tool_use', '{"id": "toolu_1_5_0", "name": "Write", "input": {"file_path": "out_5.txt", "content": "..."}}');
INSERT INTO events VALUES (73, 1, 5, 1796076170.0460112, 'tool_result', '{"tool_use_id": "toolu_1_5_0", "content": "(mock output of Write)", "is_error": false}');
INSERT INTO events VALUES (74, 1, 5, 1796076170.078222, 'text', '{"text": "Did Close."}');
INSERT INTO events VALUES (75, 1, 5, 1796076170.0857944, 'result', '{"text": "Did Close.", "is_error": false, "num_turns": 3, "cost_usd": 0.0}');
INSERT INTO events VALUES (76, 1, 5, 1796076170.1215012, 'status', '{"from": "running", "to": "done"}');
INSERT INTO events VALUES (77, 1, 0, 1796076170.1265943, 'system', '{"text": "plan review: agent: \u79d8\u4e66 \ud83e\udd16 (openai / made-up)", "review": true}');
INSERT INTO events VALUES (78, 1, 0, 1796076170.1322436, 'system', '{"text": "session started", "session_id": "5589f770-777b-43be-8777-5d11ff788813", "model": "made-up", "base_url": "http://127.0.0.1:37697", "cwd": "/tmp/clearbox-original/app", "review": true}');
INSERT INTO events VALUES (79, 1, 0, 1796076170.3030028, 'text', '{"text": "VERDICT: concerns\nSUMMARY: \u898b\u51fa\u3057 is missing \u26a0\ufe0f\nFINDINGS:\n- docs/Plan.md has no heading", "parent_tool_use_id": null, "review": true}');
INSERT INTO events VALUES (80, 1, 0, 1796076170.311197, 'result', '{"text": "VERDICT: concerns\nSUMMARY: \u898b\u51fa\u3057 is missing \u26a0\ufe0f\nFINDINGS:\n- docs/Plan.md has no heading", "is_error": false, "subtype": "success", "num_turns": 1, "duration_ms": 179, "cost_usd": null, "session_id": "5589f770-777b-43be-8777-5d11ff788813", "errors": [], "model": "made-up", "tokens_in": 100, "tokens_out": 7, "review": true}');
INSERT INTO events VALUES (81, 1, 1, 1796076170.3640711, 'system', '{"text": "rework requested"}');
INSERT INTO events VALUES (82, 1, 1, 1796076170.3680348, 'status', '{"from": "done", "to": "pending"}');
INSERT INTO events VALUES (83, 1, 1, 1796076170.3800395, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (84, 1, 1, 1796076170.4414678, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (85, 1, 1, 1796076170.460189, 'system', '{"text": "agent: \u79d8\u4e66 \ud83e\udd16 (openai / made-up)", "agent": {"name": "\u79d8\u4e66 \ud83e\udd16", "harness": "openai", "model": "made-up", "profile_id": 3}}');
INSERT INTO events VALUES (86, 1, 1, 1796076170.498541, 'system', '{"text": "session started", "session_id": "de6e7ca8-af58-4e54-a996-1cdd19e2cc92", "model": "made-up", "base_url": "http://127.0.0.1:37697", "cwd": "/tmp/clearbox-original/app"}');
INSERT INTO events VALUES (87, 1, 1, 1796076170.8447163, 'tool_use', '{"id": "call_1", "name": "bash", "input": {"command": "mkdir -p docs && echo ''second \u884c'' >> docs/Plan.md && echo x > notes.tmp"}, "parent_tool_use_id": null}');
INSERT INTO events VALUES (88, 1, 1, 1796076171.0502553, 'tool_result', '{"tool_use_id": "call_1", "content": "[exit code 0]", "is_error": false, "parent_tool_use_id": null}');
INSERT INTO events VALUES (89, 1, 1, 1796076171.0786054, 'text', '{"text": "Wrote the plan \ud83d\udcdd.", "parent_tool_use_id": null}');
INSERT INTO events VALUES (90, 1, 1, 1796076171.083977, 'result', '{"text": "Wrote the plan \ud83d\udcdd.", "is_error": false, "subtype": "success", "num_turns": 2, "duration_ms": 594, "cost_usd": null, "session_id": "de6e7ca8-af58-4e54-a996-1cdd19e2cc92", "errors": [], "model": "made-up", "tokens_in": 200, "tokens_out": 14}');
INSERT INTO events VALUES (91, 1, 1, 1796076171.2064044, 'status', '{"from": "running", "to": "done"}');
INSERT INTO events VALUES (92, 1, 1, 1796076171.219536, 'system', '{"text": "review: agent: \u79d8\u4e66 \ud83e\udd16 (openai / made-up)", "review": true}');
INSERT INTO events VALUES (93, 1, 1, 1796076171.231886, 'system', '{"text": "session started", "session_id": "82f6d283-b98e-49d4-9641-372980673778", "model": "made-up", "base_url": "http://127.0.0.1:37697", "cwd": "/tmp/clearbox-original/app", "review": true}');
INSERT INTO events VALUES (94, 1, 0, 1796076171.4661596, 'system', '{"text": "plan review: agent: \u79d8\u4e66 \ud83e\udd16 (openai / made-up)", "review": true}');
INSERT INTO events VALUES (95, 1, 0, 1796076171.4690537, 'system', '{"text": "session started", "session_id": "bc48ccd7-93ad-4f1d-9872-9076f1f0977b", "model": "made-up", "base_url": "http://127.0.0.1:37697", "cwd": "/tmp/clearbox-original/app", "review": true}');
INSERT INTO events VALUES (96, 1, 1, 1796076171.8102767, 'text', '{"text": "VERDICT: concerns\nSUMMARY: \u898b\u51fa\u3057 is missing \u26a0\ufe0f\nFINDINGS:\n- docs/Plan.md has no heading", "parent_tool_use_id": null, "review": true}');
INSERT INTO events VALUES (97, 1, 1, 1796076171.8324075, 'result', '{"text": "VERDICT: concerns\nSUMMARY: \u898b\u51fa\u3057 is missing \u26a0\ufe0f\nFINDINGS:\n- docs/Plan.md has no heading", "is_error": false, "subtype": "success", "num_turns": 1, "duration_ms": 600, "cost_usd": null, "session_id": "82f6d283-b98e-49d4-9641-372980673778", "errors": [], "model": "made-up", "tokens_in": 100, "tokens_out": 7, "review": true}');
INSERT INTO events VALUES (98, 1, 0, 1796076171.8459108, 'text', '{"text": "VERDICT: concerns\nSUMMARY: \u898b\u51fa\u3057 is missing \u26a0\ufe0f\nFINDINGS:\n- docs/Plan.md has no heading", "parent_tool_use_id": null, "review": true}');
INSERT INTO events VALUES (99, 1, 0, 1796076171.8487325, 'result', '{"text": "VERDICT: concerns\nSUMMARY: \u898b\u51fa\u3057 is missing \u26a0\ufe0f\nFINDINGS:\n- docs/Plan.md has no heading", "is_error": false, "subtype": "success", "num_turns": 1, "duration_ms": 380, "cost_usd": null, "session_id": "bc48ccd7-93ad-4f1d-9872-9076f1f0977b", "errors": [], "model": "made-up", "tokens_in": 100, "tokens_out": 7, "review": true}');
INSERT INTO events VALUES (100, 6, 1, 1796076173.1530142, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (101, 6, 1, 1796076173.1750267, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (102, 6, 1, 1796076173.1765099, 'system', '{"text": "agent: mock (mock)", "agent": {"name": "mock", "harness": "mock", "model": null, "profile_id": 2}}');
INSERT INTO events VALUES (103, 6, 1, 1796076173.2055109, 'system', '{"text": "mock session started", "session_id": "mock-6-1", "cwd": "/tmp/clearbox-original/stopped"}');
INSERT INTO events VALUES (104, 6, 1, 1796076173.2345903, 'thinking', '{"text": "Thinking."}');
INSERT INTO events VALUES (105, 6, 1, 1796076173.2600353, 'text', '{"text": "Looking around."}');
INSERT INTO events VALUES (106, 6, 1, 1796076173.2962139, 'tool_use', '{"id": "toolu_6_1_0", "name": "Bash", "input": {"command": "ls -la"}}');
INSERT INTO events VALUES (107, 6, 1, 1796076173.3202174, 'tool_result', '{"tool_use_id": "toolu_6_1_0", "content": "(mock output of Bash)", "is_error": false}');
INSERT INTO events VALUES (108, 6, 1, 1796076173.3530724, 'tool_use', '{"id": "toolu_6_1_1", "name": "Grep", "input": {"pattern": "TODO"}}');
INSERT INTO events VALUES (109, 6, 1, 1796076173.3826628, 'tool_result', '{"tool_use_id": "toolu_6_1_1", "content": "(mock output of Grep)", "is_error": false}');
INSERT INTO events VALUES (110, 6, 1, 1796076173.4134326, 'text', '{"text": "Did done first."}');
INSERT INTO events VALUES (111, 6, 1, 1796076173.4184322, 'result', '{"text": "Did done first.", "is_error": false, "num_turns": 3, "cost_usd": 0.0}');
INSERT INTO events VALUES (112, 6, 1, 1796076173.4525504, 'status', '{"from": "running", "to": "done"}');
INSERT INTO events VALUES (113, 6, 2, 1796076173.4685678, 'status', '{"from": "pending", "to": "running"}');
INSERT INTO events VALUES (114, 6, 2, 1796076173.4882061, 'system', '{"text": "executing subplan 7"}');
INSERT INTO events VALUES (115, 7, 1, 1796076173.5040853, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (116, 7, 1, 1796076173.5240977, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (117, 7, 1, 1796076173.5289896, 'system', '{"text": "agent: slow (mock)", "agent": {"name": "slow", "harness": "mock", "model": null, "profile_id": 5}}');
INSERT INTO events VALUES (118, 7, 1, 1796076173.5541794, 'system', '{"text": "mock session started", "session_id": "mock-7-1", "cwd": "/tmp/clearbox-original/stopped"}');
INSERT INTO events VALUES (119, 7, 1, 1796076173.5861094, 'system', '{"text": "plan stopped; node re-queued"}');
INSERT INTO events VALUES (120, 7, 1, 1796076173.608526, 'status', '{"from": "running", "to": "pending"}');
INSERT INTO events VALUES (121, 9, 1, 1796076173.7000992, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (122, 9, 1, 1796076173.7156043, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (123, 9, 1, 1796076173.7242284, 'system', '{"text": "agent: mock (mock)", "agent": {"name": "mock", "harness": "mock", "model": null, "profile_id": 2}}');
INSERT INTO events VALUES (124, 9, 1, 1796076173.7520967, 'system', '{"text": "mock session started", "session_id": "mock-9-1", "cwd": "/tmp/clearbox-original/data/workspace/plan-9"}');
INSERT INTO events VALUES (125, 9, 1, 1796076173.7844248, 'thinking', '{"text": "Thinking."}');
INSERT INTO events VALUES (126, 9, 1, 1796076173.8139143, 'text', '{"text": "Looking around."}');
INSERT INTO events VALUES (127, 9, 1, 1796076173.8481784, 'tool_use', '{"id": "toolu_9_1_0", "name": "Bash", "input": {"command": "ls -la"}}');
INSERT INTO events VALUES (128, 9, 1, 1796076173.904632, 'tool_result', '{"tool_use_id": "toolu_9_1_0", "content": "(mock output of Bash)", "is_error": false}');
INSERT INTO events VALUES (129, 9, 1, 1796076173.9784515, 'tool_use', '{"id": "toolu_9_1_1", "name": "Grep", "input": {"pattern": "TODO"}}');
INSERT INTO events VALUES (130, 9, 1, 1796076174.0224998, 'tool_result', '{"tool_use_id": "toolu_9_1_1", "content": "(mock output of Grep)", "is_error": false}');
INSERT INTO events VALUES (131, 9, 1, 1796076174.0905151, 'tool_use', '{"id": "toolu_9_1_2", "name": "Read", "input": {"file_path": "README.md"}}');
INSERT INTO events VALUES (132, 9, 1, 1796076174.1321676, 'tool_result', '{"tool_use_id": "toolu_9_1_2", "content": "(mock output of Read)", "is_error": false}');
INSERT INTO events VALUES (133, 9, 1, 1796076174.1585007, 'text', '{"text": "Did alone."}');
INSERT INTO events VALUES (134, 9, 1, 1796076174.166589, 'result', '{"text": "Did alone.", "is_error": false, "num_turns": 3, "cost_usd": 0.0}');
INSERT INTO events VALUES (135, 9, 1, 1796076174.1961021, 'status', '{"from": "running", "to": "done"}');
INSERT INTO events VALUES (136, 10, 1, 1796076174.90067, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (137, 10, 1, 1796076174.9090178, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (138, 10, 1, 1796076174.9162002, 'system', '{"text": "agent: mock (mock)", "agent": {"name": "mock", "harness": "mock", "model": null, "profile_id": 2}}');
INSERT INTO events VALUES (139, 10, 1, 1796076174.9365857, 'system', '{"text": "mock session started", "session_id": "mock-10-1", "cwd": "/tmp/clearbox-original/api"}');
INSERT INTO events VALUES (140, 10, 1, 1796076174.9564514, 'thinking', '{"text": "Thinking."}');
INSERT INTO events VALUES (141, 10, 1, 1796076174.9780483, 'text', '{"text": "Looking around."}');
INSERT INTO events VALUES (142, 10, 1, 1796076175.0116205, 'tool_use', '{"id": "toolu_10_1_0", "name": "Grep", "input": {"pattern": "TODO"}}');
INSERT INTO events VALUES (143, 10, 1, 1796076175.032161, 'tool_result', '{"tool_use_id": "toolu_10_1_0", "content": "(mock output of Grep)", "is_error": false}');
INSERT INTO events VALUES (144, 10, 1, 1796076175.0721679, 'tool_use', '{"id": "toolu_10_1_1", "name": "Bash", "input": {"command": "ls -la"}}');
INSERT INTO events VALUES (145, 10, 1, 1796076175.1008205, 'tool_result', '{"tool_use_id": "toolu_10_1_1", "content": "(mock output of Bash)", "is_error": false}');
INSERT INTO events VALUES (146, 10, 1, 1796076175.1305935, 'tool_use', '{"id": "toolu_10_1_2", "name": "Grep", "input": {"pattern": "TODO"}}');
INSERT INTO events VALUES (147, 10, 1, 1796076175.152144, 'tool_result', '{"tool_use_id": "toolu_10_1_2", "content": "(mock output of Grep)", "is_error": false}');
INSERT INTO events VALUES (148, 10, 1, 1796076175.1860216, 'text', '{"text": "Did First."}');
INSERT INTO events VALUES (149, 10, 1, 1796076175.2022862, 'result', '{"text": "Did First.", "is_error": false, "num_turns": 3, "cost_usd": 0.0}');
INSERT INTO events VALUES (150, 10, 1, 1796076175.2173226, 'status', '{"from": "running", "to": "done"}');
INSERT INTO events VALUES (151, 10, 2, 1796076175.2196498, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (152, 10, 4, 1796076175.2260222, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (153, 10, 5, 1796076175.237285, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (154, 10, 6, 1796076175.256097, 'status', '{"from": "pending", "to": "running"}');
INSERT INTO events VALUES (155, 10, 6, 1796076175.257296, 'system', '{"text": "executing subplan 11"}');
INSERT INTO events VALUES (156, 10, 7, 1796076175.274287, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (157, 10, 8, 1796076175.2866433, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (158, 10, 2, 1796076175.3001, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (159, 10, 2, 1796076175.3121872, 'system', '{"text": "agent: slow (mock)", "agent": {"name": "slow", "harness": "mock", "model": null, "profile_id": 5}}');
INSERT INTO events VALUES (160, 10, 4, 1796076175.3284967, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (161, 10, 4, 1796076175.3366518, 'system', '{"text": "agent: slow (mock)", "agent": {"name": "slow", "harness": "mock", "model": null, "profile_id": 5}}');
INSERT INTO events VALUES (162, 10, 5, 1796076175.352572, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (163, 10, 5, 1796076175.362404, 'system', '{"text": "agent: slow (mock)", "agent": {"name": "slow", "harness": "mock", "model": null, "profile_id": 5}}');
INSERT INTO events VALUES (164, 10, 7, 1796076175.3841016, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (165, 10, 7, 1796076175.3950212, 'system', '{"text": "agent: mock (mock)", "agent": {"name": "mock", "harness": "mock", "model": null, "profile_id": 2}}');
INSERT INTO events VALUES (166, 10, 8, 1796076175.4120853, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (167, 10, 8, 1796076175.426051, 'system', '{"text": "agent: by-env (openai / made-up)", "agent": {"name": "by-env", "harness": "openai", "model": "made-up", "profile_id": 4}}');
INSERT INTO events VALUES (168, 11, 1, 1796076175.444088, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (169, 11, 1, 1796076175.4641044, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (170, 11, 1, 1796076175.4726965, 'system', '{"text": "agent: mock (mock)", "agent": {"name": "mock", "harness": "mock", "model": null, "profile_id": 2}}');
INSERT INTO events VALUES (171, 10, 2, 1796076175.496101, 'system', '{"text": "mock session started", "session_id": "mock-10-2", "cwd": "/tmp/clearbox-original/api"}');
INSERT INTO events VALUES (172, 10, 4, 1796076175.5161006, 'system', '{"text": "mock session started", "session_id": "mock-10-4", "cwd": "/tmp/clearbox-original/api"}');
INSERT INTO events VALUES (173, 10, 5, 1796076175.5260758, 'system', '{"text": "mock session started", "session_id": "mock-10-5", "cwd": "/tmp/clearbox-original/api"}');
INSERT INTO events VALUES (174, 10, 7, 1796076175.5408094, 'system', '{"text": "mock session started", "session_id": "mock-10-7", "cwd": "/tmp/clearbox-original/api"}');
INSERT INTO events VALUES (175, 10, 8, 1796076175.5600722, 'system', '{"text": "session started", "session_id": "c5a77ac6-a700-429c-97ca-f2d3f5c1895b", "model": "made-up", "base_url": "http://127.0.0.1:9", "cwd": "/tmp/clearbox-original/api"}');
INSERT INTO events VALUES (176, 11, 1, 1796076175.680085, 'system', '{"text": "mock session started", "session_id": "mock-11-1", "cwd": "/tmp/clearbox-original/api"}');
INSERT INTO events VALUES (177, 10, 7, 1796076175.6853287, 'thinking', '{"text": "Thinking."}');
INSERT INTO events VALUES (178, 11, 1, 1796076175.6978612, 'thinking', '{"text": "Thinking."}');
INSERT INTO events VALUES (179, 10, 7, 1796076175.7099705, 'text', '{"text": "Looking around."}');
INSERT INTO events VALUES (180, 11, 1, 1796076175.749082, 'text', '{"text": "Looking around."}');
INSERT INTO events VALUES (181, 10, 7, 1796076175.770888, 'tool_use', '{"id": "toolu_10_7_0", "name": "Bash", "input": {"command": "ls -la"}}');
INSERT INTO events VALUES (182, 10, 2, 1796076175.7805963, 'system', '{"text": "stopped by user"}');
INSERT INTO events VALUES (183, 10, 2, 1796076175.800104, 'status', '{"from": "running", "to": "failed"}');
INSERT INTO events VALUES (184, 11, 1, 1796076175.8106534, 'tool_use', '{"id": "toolu_11_1_0", "name": "Bash", "input": {"command": "ls -la"}}');
INSERT INTO events VALUES (185, 10, 7, 1796076175.8237681, 'tool_result', '{"tool_use_id": "toolu_10_7_0", "content": "(mock output of Bash)", "is_error": false}');
INSERT INTO events VALUES (186, 11, 1, 1796076175.9495935, 'tool_result', '{"tool_use_id": "toolu_11_1_0", "content": "(mock output of Bash)", "is_error": false}');
INSERT INTO events VALUES (187, 10, 7, 1796076175.9550211, 'text', '{"text": "Did Yours."}');
INSERT INTO events VALUES (188, 10, 7, 1796076175.9641109, 'result', '{"text": "Did Yours.", "is_error": false, "num_turns": 3, "cost_usd": 0.0}');
INSERT INTO events VALUES (189, 10, 7, 1796076175.9801514, 'status', '{"from": "running", "to": "done"}');
INSERT INTO events VALUES (190, 11, 1, 1796076175.9914432, 'tool_use', '{"id": "toolu_11_1_1", "name": "Read", "input": {"file_path": "README.md"}}');
INSERT INTO events VALUES (191, 10, 5, 1796076176.0014699, 'system', '{"text": "stopped by user"}');
INSERT INTO events VALUES (192, 10, 5, 1796076176.0121264, 'status', '{"from": "running", "to": "failed"}');
INSERT INTO events VALUES (193, 11, 1, 1796076176.0207126, 'tool_result', '{"tool_use_id": "toolu_11_1_1", "content": "(mock output of Read)", "is_error": false}');
INSERT INTO events VALUES (194, 10, 5, 1796076176.0331016, 'system', '{"text": "retry requested"}');
INSERT INTO events VALUES (195, 10, 5, 1796076176.052468, 'status', '{"from": "failed", "to": "pending"}');
INSERT INTO events VALUES (196, 10, 5, 1796076176.0680957, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (197, 10, 5, 1796076176.0866957, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (198, 10, 5, 1796076176.0961804, 'system', '{"text": "agent: slow (mock)", "agent": {"name": "slow", "harness": "mock", "model": null, "profile_id": 5}}');
INSERT INTO events VALUES (199, 10, 5, 1796076176.1120117, 'system', '{"text": "mock session started", "session_id": "mock-10-5", "cwd": "/tmp/clearbox-original/api"}');
INSERT INTO events VALUES (200, 11, 1, 1796076176.121061, 'tool_use', '{"id": "toolu_11_1_2", "name": "Write", "input": {"file_path": "out_1.txt", "content": "..."}}');
INSERT INTO events VALUES (201, 11, 1, 1796076176.146398, 'tool_result', '{"tool_use_id": "toolu_11_1_2", "content": "(mock output of Write)", "is_error": false}');
INSERT INTO events VALUES (202, 11, 1, 1796076176.1740227, 'text', '{"text": "Did one."}');
INSERT INTO events VALUES (203, 11, 1, 1796076176.1751533, 'result', '{"text": "Did one.", "is_error": false, "num_turns": 3, "cost_usd": 0.0}');
INSERT INTO events VALUES (204, 11, 1, 1796076176.1983016, 'status', '{"from": "running", "to": "done"}');
INSERT INTO events VALUES (205, 11, 2, 1796076176.212091, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (206, 11, 2, 1796076176.227897, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (207, 11, 2, 1796076176.2402515, 'system', '{"text": "agent: slow (mock)", "agent": {"name": "slow", "harness": "mock", "model": null, "profile_id": 5}}');
INSERT INTO events VALUES (208, 11, 2, 1796076176.2582471, 'system', '{"text": "mock session started", "session_id": "mock-11-2", "cwd": "/tmp/clearbox-original/api"}');
INSERT INTO events VALUES (209, 10, 8, 1796076177.4107776, 'result', '{"text": "", "is_error": true, "subtype": "error_api", "num_turns": 1, "duration_ms": 1855, "cost_usd": null, "session_id": "c5a77ac6-a700-429c-97ca-f2d3f5c1895b", "errors": ["could not connect to http://127.0.0.1:9/v1 (ConnectError: All connection attempts failed). Is the server running and the base_url right (e.g. http://localhost:11434/v1 for Ollama, http://localhost:1234/v1 for LM Studio)?"], "model": "made-up", "tokens_in": null, "tokens_out": null}');
INSERT INTO events VALUES (210, 10, 8, 1796076177.4406574, 'status', '{"from": "running", "to": "failed"}');
INSERT INTO events VALUES (211, 10, 4, 1796076182.4079309, 'system', '{"text": "agent interrupted by service restart; node re-queued"}');
INSERT INTO events VALUES (212, 10, 4, 1796076182.4445915, 'status', '{"from": "running", "to": "pending"}');
INSERT INTO events VALUES (213, 10, 5, 1796076182.4466069, 'system', '{"text": "agent interrupted by service restart; node re-queued"}');
INSERT INTO events VALUES (214, 10, 5, 1796076182.4561496, 'status', '{"from": "running", "to": "pending"}');
INSERT INTO events VALUES (215, 11, 2, 1796076182.4642472, 'system', '{"text": "agent interrupted by service restart; node re-queued"}');
INSERT INTO events VALUES (216, 11, 2, 1796076182.4801354, 'status', '{"from": "running", "to": "pending"}');
INSERT INTO events VALUES (217, 10, 4, 1796076182.4894922, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (218, 10, 5, 1796076182.5045302, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (219, 11, 2, 1796076182.5085359, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (220, 10, 4, 1796076182.5216115, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (221, 10, 4, 1796076182.532271, 'system', '{"text": "agent: slow (mock)", "agent": {"name": "slow", "harness": "mock", "model": null, "profile_id": 5}}');
INSERT INTO events VALUES (222, 10, 5, 1796076182.5476165, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (223, 10, 5, 1796076182.5522754, 'system', '{"text": "agent: slow (mock)", "agent": {"name": "slow", "harness": "mock", "model": null, "profile_id": 5}}');
INSERT INTO events VALUES (224, 11, 2, 1796076182.5704808, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (225, 11, 2, 1796076182.5781543, 'system', '{"text": "agent: slow (mock)", "agent": {"name": "slow", "harness": "mock", "model": null, "profile_id": 5}}');
INSERT INTO events VALUES (226, 10, 4, 1796076182.5904932, 'system', '{"text": "mock session started", "session_id": "mock-10-4", "cwd": "/tmp/clearbox-original/api"}');
INSERT INTO events VALUES (227, 10, 5, 1796076182.6049104, 'system', '{"text": "mock session started", "session_id": "mock-10-5", "cwd": "/tmp/clearbox-original/api"}');
INSERT INTO events VALUES (228, 11, 2, 1796076182.6128738, 'system', '{"text": "mock session started", "session_id": "mock-11-2", "cwd": "/tmp/clearbox-original/api"}');
INSERT INTO events VALUES (229, 12, 1, 1796076183.105222, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (230, 12, 3, 1796076183.1092634, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (231, 12, 5, 1796076183.1163933, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (232, 12, 6, 1796076183.1210027, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (233, 12, 1, 1796076183.1453588, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (234, 12, 1, 1796076183.1461635, 'system', '{"text": "claimed by external agent ''\u5916\u90e8 agent''"}');
INSERT INTO events VALUES (235, 12, 1, 1796076183.1601806, 'text', '{"text": "text \u9032\u6357"}');
INSERT INTO events VALUES (236, 12, 1, 1796076183.1781182, 'thinking', '{"text": "thinking \u9032\u6357"}');
INSERT INTO events VALUES (237, 12, 1, 1796076183.1967943, 'tool_use', '{"text": "tool_use \u9032\u6357"}');
INSERT INTO events VALUES (238, 12, 1, 1796076183.2122238, 'tool_result', '{"text": "tool_result \u9032\u6357"}');
INSERT INTO events VALUES (239, 12, 1, 1796076183.228292, 'log', '{"text": "log \u9032\u6357"}');
INSERT INTO events VALUES (240, 12, 1, 1796076183.2472105, 'result', '{"text": "Made the page \u9801", "is_error": false}');
INSERT INTO events VALUES (241, 12, 1, 1796076183.2523296, 'status', '{"from": "running", "to": "done"}');
INSERT INTO events VALUES (242, 12, 2, 1796076183.2677598, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (243, 12, 2, 1796076183.3170946, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (244, 12, 2, 1796076183.3214676, 'system', '{"text": "claimed by external agent ''\u5916\u90e8 agent''"}');
INSERT INTO events VALUES (245, 12, 2, 1796076183.3858168, 'result', '{"text": "Split it up", "is_error": false}');
INSERT INTO events VALUES (246, 12, 2, 1796076183.387916, 'system', '{"text": "agent finished; now executing the subplan it created"}');
INSERT INTO events VALUES (247, 13, 1, 1796076183.392475, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (248, 12, 3, 1796076183.4428997, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (249, 12, 3, 1796076183.4444, 'system', '{"text": "claimed by external agent ''\u5916\u90e8 agent''"}');
INSERT INTO events VALUES (250, 12, 3, 1796076183.464317, 'error', '{"text": "no network \ud83d\uded1"}');
INSERT INTO events VALUES (251, 12, 3, 1796076183.476096, 'status', '{"from": "running", "to": "failed"}');
INSERT INTO events VALUES (252, 12, 5, 1796076183.5051775, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (253, 12, 5, 1796076183.508113, 'system', '{"text": "claimed by external agent ''\u5916\u90e8 agent''"}');
INSERT INTO events VALUES (254, 12, 5, 1796076183.5206034, 'text', '{"text": "half done"}');
CREATE TABLE node_diffs (
  plan_id INTEGER NOT NULL,
  node_id INTEGER NOT NULL,
  path TEXT NOT NULL,
  diff TEXT NOT NULL,
  PRIMARY KEY (plan_id, node_id, path));
INSERT INTO node_diffs VALUES (1, 1, 'docs/Plan.md', '--- docs/Plan.md
+++ docs/Plan.md
@@ -1 +1,2 @@
 first 行
+second 行
');
CREATE TABLE node_files (
  plan_id INTEGER NOT NULL,
  node_id INTEGER NOT NULL,
  path TEXT NOT NULL,
  key TEXT NOT NULL,
  PRIMARY KEY (plan_id, node_id, key));
INSERT INTO node_files VALUES (1, 1, 'docs/Plan.md', 'docs/plan.md');
INSERT INTO node_files VALUES (1, 2, 'src/App.py', 'src/app.py');
INSERT INTO node_files VALUES (1, 2, 'src\lib/', 'src/lib');
INSERT INTO node_files VALUES (10, 1, 'first.txt', 'first.txt');
INSERT INTO node_files VALUES (10, 4, 'slow/', 'slow');
INSERT INTO node_files VALUES (12, 1, 'index.html', 'index.html');
INSERT INTO node_files VALUES (12, 2, 'pages/', 'pages');
CREATE TABLE node_results_from (
  plan_id INTEGER NOT NULL,
  node_id INTEGER NOT NULL,
  from_node_id INTEGER NOT NULL,
  PRIMARY KEY (plan_id, node_id, from_node_id));
INSERT INTO node_results_from VALUES (1, 2, 1);
INSERT INTO node_results_from VALUES (2, 2, 1);
INSERT INTO node_results_from VALUES (12, 2, 1);
CREATE TABLE nodes (
  plan_id INTEGER NOT NULL,
  node_id INTEGER NOT NULL,
  title TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  status TEXT NOT NULL DEFAULT 'pending',
  agent_kind TEXT,
  agent_name TEXT,
  session_id TEXT,
  agent_done INTEGER NOT NULL DEFAULT 0,
  result TEXT,
  error TEXT,
  started_at REAL,
  finished_at REAL,
  created_at REAL NOT NULL,
  agent_profile_id INTEGER,
  tokens_in INTEGER,
  tokens_out INTEGER,
  rework_brief TEXT,
  PRIMARY KEY (plan_id, node_id));
INSERT INTO nodes VALUES (1, 1, 'Entwurf 設計', 'Write docs/Plan.md', 'done', 'builtin', '秘书 🤖', 'de6e7ca8-af58-4e54-a996-1cdd19e2cc92', 1, 'Wrote the plan 📝.', NULL, 1796076170.4365826, 1796076171.1877952, 1796076166.420491, 3, 200, 14, 'Give it a heading.');
INSERT INTO nodes VALUES (1, 2, 'Check it', '', 'done', 'builtin', 'mock', 'mock-1-2', 1, 'Did Check it.', NULL, 1796076169.0808856, 1796076169.3394265, 1796076166.439245, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (1, 3, '部署 to production', 'Push it, then say so.', 'done', 'builtin', 'mock', 'mock-1-3', 1, 'Did 部署 to production.', NULL, 1796076169.3895216, 1796076169.7201724, 1796076166.4960792, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (1, 4, 'A big one', '', 'done', NULL, NULL, NULL, 0, 'Subplan 2 completed. Final steps:
- [inner b] Subplan 3 completed. Final steps:
- [innermost 🐢] Did innermost 🐢.', NULL, 1796076169.3723557, 1796076169.8364067, 1796076166.5515664, 2, NULL, NULL, NULL);
INSERT INTO nodes VALUES (1, 5, 'Close', '', 'done', 'builtin', 'mock', 'mock-1-5', 1, 'Did Close.', NULL, 1796076169.8636487, 1796076170.1042092, 1796076166.592378, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (2, 1, 'inner a', '', 'done', 'builtin', 'mock', 'mock-2-1', 1, 'Did inner a.', NULL, 1796076169.4133022, 1796076169.6121645, 1796076166.6630569, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (2, 2, 'inner b', '', 'done', NULL, NULL, NULL, 0, 'Subplan 3 completed. Final steps:
- [innermost 🐢] Did innermost 🐢.', NULL, 1796076169.6166363, 1796076169.8093448, 1796076166.68414, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (3, 1, 'innermost 🐢', '', 'done', 'builtin', 'mock', 'mock-3-1', 1, 'Did innermost 🐢.', NULL, 1796076169.6345143, 1796076169.8004467, 1796076166.7200618, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (5, 1, 'a', '', 'pending', NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, 1796076172.5400708, 6, NULL, NULL, NULL);
INSERT INTO nodes VALUES (5, 2, 'b', '', 'pending', NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, 1796076172.58112, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (6, 1, 'done first', '', 'done', 'builtin', 'mock', 'mock-6-1', 1, 'Did done first.', NULL, 1796076173.1615286, 1796076173.4442408, 1796076172.8092487, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (6, 2, 'container', '', 'running', NULL, NULL, NULL, 0, NULL, NULL, 1796076173.4608257, NULL, 1796076172.8568003, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (7, 1, 'slow one', '', 'pending', NULL, 'slow', 'mock-7-1', 0, NULL, NULL, NULL, NULL, 1796076173.096087, 5, NULL, NULL, NULL);
INSERT INTO nodes VALUES (9, 1, 'alone', '', 'done', 'builtin', 'mock', 'mock-9-1', 1, 'Did alone.', NULL, 1796076173.7093925, 1796076174.1806855, 1796076173.6698112, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (10, 1, 'First', '', 'done', 'builtin', 'mock', 'mock-10-1', 1, 'Did First.', NULL, 1796076174.9047492, 1796076175.2162287, 1796076174.2597983, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (10, 2, 'Stopped by hand', '', 'failed', 'builtin', 'slow', 'mock-10-2', 1, NULL, 'stopped by user', 1796076175.29343, 1796076175.7923338, 1796076174.3115954, 5, NULL, NULL, NULL);
INSERT INTO nodes VALUES (10, 3, 'Waits for the stopped one', '', 'pending', NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, 1796076174.3600655, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (10, 4, 'Runs on and on', '', 'running', 'builtin', 'slow', 'mock-10-4', 0, NULL, NULL, 1796076182.5145895, NULL, 1796076174.426683, 5, NULL, NULL, NULL);
INSERT INTO nodes VALUES (10, 5, 'Stopped, then retried', '', 'running', 'builtin', 'slow', 'mock-10-5', 0, NULL, NULL, 1796076182.5378952, NULL, 1796076174.496067, 5, NULL, NULL, NULL);
INSERT INTO nodes VALUES (10, 6, 'Container', '', 'running', NULL, NULL, NULL, 0, NULL, NULL, 1796076175.2447526, NULL, 1796076174.5640838, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (10, 7, 'Yours', '', 'done', 'builtin', 'mock', 'mock-10-7', 1, 'Did Yours.', NULL, 1796076175.3737597, 1796076175.9775352, 1796076174.6203625, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (10, 8, 'Has no key', '', 'failed', 'builtin', 'by-env', 'c5a77ac6-a700-429c-97ca-f2d3f5c1895b', 1, NULL, 'could not connect to http://127.0.0.1:9/v1 (ConnectError: All connection attempts failed). Is the server running and the base_url right (e.g. http://localhost:11434/v1 for Ollama, http://localhost:1234/v1 for LM Studio)?', 1796076175.4019492, 1796076177.4282298, 1796076174.6661417, 4, NULL, NULL, NULL);
INSERT INTO nodes VALUES (11, 1, 'one', '', 'done', 'builtin', 'mock', 'mock-11-1', 1, 'Did one.', NULL, 1796076175.453893, 1796076176.192319, 1796076174.74842, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (11, 2, 'two', '', 'running', 'builtin', 'slow', 'mock-11-2', 0, NULL, NULL, 1796076182.5573106, NULL, 1796076174.774782, 5, NULL, NULL, NULL);
INSERT INTO nodes VALUES (11, 3, 'three', '', 'pending', NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, 1796076174.8340428, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (12, 1, 'Page', '', 'done', 'external', '外部 agent', NULL, 1, 'Made the page 頁', NULL, 1796076183.144723, 1796076183.2516081, 1796076182.756643, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (12, 2, 'More pages', '', 'running', 'external', '外部 agent', NULL, 1, 'Split it up', NULL, 1796076183.31296, NULL, 1796076182.8089938, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (12, 3, 'Broken', '', 'failed', 'external', '外部 agent', NULL, 1, NULL, 'no network 🛑', 1796076183.441091, 1796076183.4717052, 1796076182.941402, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (12, 4, 'After broken', '', 'pending', NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, 1796076182.9817739, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (12, 5, 'Claimed', '', 'running', 'external', '外部 agent', NULL, 0, NULL, NULL, 1796076183.504491, NULL, 1796076183.0289545, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (12, 6, 'Nobody''s yet', '', 'ready', NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, 1796076183.0624864, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (13, 1, 'About', '', 'ready', NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, 1796076183.3681154, NULL, NULL, NULL, NULL);
CREATE TABLE plans (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  title TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  parent_plan_id INTEGER,
  parent_node_id INTEGER,
  executor TEXT,
  started INTEGER NOT NULL DEFAULT 0,
  cwd TEXT,
  next_node_id INTEGER NOT NULL DEFAULT 1,
  created_at REAL NOT NULL,
  default_agent_profile_id INTEGER,
  max_parallel INTEGER,
  review_agent_profile_id INTEGER);
INSERT INTO plans VALUES (1, '翻訳サービス 🚀 Übersicht', 'Ziel: 翻訳

zweite Zeile', NULL, NULL, 'builtin', 1, '/tmp/clearbox-original/app', 6, 1796076166.4042084, NULL, NULL, 3);
INSERT INTO plans VALUES (2, 'Inside: 中', '', 1, 4, NULL, 0, NULL, 3, 1796076166.6497808, NULL, NULL, NULL);
INSERT INTO plans VALUES (3, 'Deeper', '', 2, 2, NULL, 0, NULL, 2, 1796076166.7071707, NULL, NULL, NULL);
INSERT INTO plans VALUES (5, 'Not started', '', NULL, NULL, NULL, 0, '/tmp/clearbox-original/later', 3, 1796076172.4983103, 4, 2, NULL);
INSERT INTO plans VALUES (6, 'Stopped half way', '', NULL, NULL, 'builtin', 0, '/tmp/clearbox-original/stopped', 3, 1796076172.735413, NULL, NULL, NULL);
INSERT INTO plans VALUES (7, 'stopped inside', '', 6, 2, NULL, 0, NULL, 2, 1796076173.0477133, NULL, NULL, NULL);
INSERT INTO plans VALUES (8, 'Empty', '', NULL, NULL, NULL, 0, '/tmp/clearbox-original/empty', 1, 1796076173.639456, NULL, NULL, NULL);
INSERT INTO plans VALUES (9, 'Without a folder', '', NULL, NULL, 'builtin', 1, NULL, 2, 1796076173.656361, NULL, NULL, NULL);
INSERT INTO plans VALUES (10, 'Half way', '', NULL, NULL, 'builtin', 1, '/tmp/clearbox-original/api', 9, 1796076174.2337244, NULL, 8, NULL);
INSERT INTO plans VALUES (11, 'In the container', '', 10, 6, NULL, 0, NULL, 4, 1796076174.7151105, 2, NULL, NULL);
INSERT INTO plans VALUES (12, 'Site 🌐', 'Someone else does it', NULL, NULL, 'external', 1, '/tmp/clearbox-original/site', 7, 1796076182.7447453, NULL, NULL, NULL);
INSERT INTO plans VALUES (13, 'Pages', '', 12, 2, NULL, 0, NULL, 2, 1796076183.3390706, NULL, NULL, NULL);
CREATE TABLE reviews (
  plan_id INTEGER NOT NULL,
  node_id INTEGER,
  verdict TEXT NOT NULL,
  summary TEXT NOT NULL DEFAULT '',
  findings TEXT,
  agent_name TEXT,
  tokens_in INTEGER,
  tokens_out INTEGER,
  created_at REAL NOT NULL);
INSERT INTO reviews VALUES (1, 1, 'concerns', 'SUMMARY: 見出し is missing ⚠️
FINDINGS:
- docs/Plan.md has no heading', NULL, '秘书 🤖', 100, 7, 1796076171.836842);
INSERT INTO reviews VALUES (1, NULL, 'concerns', 'SUMMARY: 見出し is missing ⚠️
FINDINGS:
- docs/Plan.md has no heading', NULL, '秘书 🤖', 100, 7, 1796076171.8509986);
INSERT INTO reviews VALUES (1, 2, 'error', 'Did node.', NULL, 'mock', NULL, NULL, 1796076172.1561942);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES ('agent_profiles', 6);
INSERT INTO sqlite_sequence VALUES ('plans', 13);
INSERT INTO sqlite_sequence VALUES ('events', 254);
