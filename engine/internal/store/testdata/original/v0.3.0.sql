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
  updated_at REAL NOT NULL,
  capability TEXT,
  test_level TEXT);
INSERT INTO agent_profiles VALUES (1, 'claude', 'claude-sdk', NULL, NULL, NULL, NULL, '{}', '{}', NULL, NULL, NULL, 'made at the first start', 1796076189.7555041, 1796076189.7555041, NULL, NULL);
INSERT INTO agent_profiles VALUES (2, 'mock', 'mock', NULL, NULL, NULL, NULL, '{}', '{}', NULL, NULL, NULL, 'made at the first start', 1796076189.7568874, 1796076189.7568874, NULL, NULL);
INSERT INTO agent_profiles VALUES (3, '秘书 🤖', 'openai', 'made-up', 'http://127.0.0.1:43915/v1', NULL, 'sk-made-up-literal-key', '{"max_turns": 5, "stream": false}', '{}', NULL, NULL, NULL, 'Writes plans — cheaply', 1796076191.0854144, 1796076191.0854144, NULL, NULL);
INSERT INTO agent_profiles VALUES (4, 'by-env', 'openai', 'made-up', 'http://127.0.0.1:9/v1', 'MADE_UP_KEY', NULL, '{}', '{"preset": "readonly", "deny": ["bash"]}', NULL, 'Be brief.', 2, '', 1796076191.0944307, 1796076191.0944307, 'edit', 'light');
INSERT INTO agent_profiles VALUES (5, 'slow', 'mock', NULL, NULL, NULL, NULL, '{"speed": 0.0001}', '{}', NULL, NULL, NULL, '', 1796076191.1075401, 1796076191.1075401, NULL, NULL);
INSERT INTO agent_profiles VALUES (6, 'careful', 'claude-sdk', 'opus', NULL, NULL, NULL, '{}', '{}', 'plan', NULL, NULL, '', 1796076191.1155667, 1796076191.1155667, NULL, NULL);
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
INSERT INTO edges VALUES (9, 1, 2);
INSERT INTO edges VALUES (9, 2, 3);
INSERT INTO edges VALUES (9, 1, 4);
INSERT INTO edges VALUES (9, 1, 5);
INSERT INTO edges VALUES (9, 1, 6);
INSERT INTO edges VALUES (9, 1, 7);
INSERT INTO edges VALUES (9, 1, 8);
INSERT INTO edges VALUES (10, 1, 2);
INSERT INTO edges VALUES (10, 2, 3);
INSERT INTO edges VALUES (11, 1, 2);
INSERT INTO edges VALUES (11, 3, 4);
CREATE TABLE events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  plan_id INTEGER NOT NULL,
  node_id INTEGER NOT NULL,
  ts REAL NOT NULL,
  kind TEXT NOT NULL,
  data TEXT NOT NULL);
INSERT INTO events VALUES (1, 1, 1, 1796076191.8361015, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (2, 1, 1, 1796076191.8481386, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (3, 1, 1, 1796076191.8504636, 'system', '{"text": "agent: \u79d8\u4e66 \ud83e\udd16 (openai / made-up)", "agent": {"name": "\u79d8\u4e66 \ud83e\udd16", "harness": "openai", "model": "made-up", "profile_id": 3}}');
INSERT INTO events VALUES (4, 1, 1, 1796076191.864083, 'system', '{"text": "session started", "session_id": "72df5e8e-134b-4c90-9003-89553c6f05f6", "model": "made-up", "base_url": "http://127.0.0.1:43915", "cwd": "/tmp/clearbox-original/app"}');
INSERT INTO events VALUES (5, 1, 1, 1796076193.5242186, 'tool_use', '{"id": "call_1", "name": "bash", "input": {"command": "mkdir -p docs && echo ''first \u884c'' >> docs/Plan.md && echo x > notes.tmp"}, "parent_tool_use_id": null}');
INSERT INTO events VALUES (6, 1, 1, 1796076193.5341332, 'tool_result', '{"tool_use_id": "call_1", "content": "[exit code 0]", "is_error": false, "parent_tool_use_id": null}');
INSERT INTO events VALUES (7, 1, 1, 1796076193.5841126, 'text', '{"text": "Wrote the plan \ud83d\udcdd.", "parent_tool_use_id": null}');
INSERT INTO events VALUES (8, 1, 1, 1796076193.5883276, 'result', '{"text": "Wrote the plan \ud83d\udcdd.", "is_error": false, "subtype": "success", "num_turns": 2, "duration_ms": 1727, "cost_usd": null, "session_id": "72df5e8e-134b-4c90-9003-89553c6f05f6", "errors": [], "model": "made-up", "tokens_in": 200, "tokens_out": 14}');
INSERT INTO events VALUES (9, 1, 1, 1796076193.604073, 'status', '{"from": "running", "to": "done"}');
INSERT INTO events VALUES (10, 1, 2, 1796076193.610219, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (11, 1, 2, 1796076193.6138396, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (12, 1, 2, 1796076193.6148877, 'system', '{"text": "agent: mock (mock)", "agent": {"name": "mock", "harness": "mock", "model": null, "profile_id": 2}}');
INSERT INTO events VALUES (13, 1, 2, 1796076193.6320488, 'system', '{"text": "mock session started", "session_id": "mock-1-2", "cwd": "/tmp/clearbox-original/app"}');
INSERT INTO events VALUES (14, 1, 1, 1796076193.6335616, 'system', '{"text": "review: agent: \u79d8\u4e66 \ud83e\udd16 (openai / made-up)", "review": true}');
INSERT INTO events VALUES (15, 1, 1, 1796076193.6349423, 'system', '{"text": "session started", "session_id": "c3a30c83-00ed-4538-aef2-6e30d13b3780", "model": "made-up", "base_url": "http://127.0.0.1:43915", "cwd": "/tmp/clearbox-original/app", "review": true}');
INSERT INTO events VALUES (16, 1, 2, 1796076193.68331, 'thinking', '{"text": "Thinking."}');
INSERT INTO events VALUES (17, 1, 1, 1796076193.6951604, 'text', '{"text": "VERDICT: concerns\nSUMMARY: \u898b\u51fa\u3057 is missing \u26a0\ufe0f\nFINDINGS:\n- docs/Plan.md has no heading", "parent_tool_use_id": null, "review": true}');
INSERT INTO events VALUES (18, 1, 1, 1796076193.6965327, 'result', '{"text": "VERDICT: concerns\nSUMMARY: \u898b\u51fa\u3057 is missing \u26a0\ufe0f\nFINDINGS:\n- docs/Plan.md has no heading", "is_error": false, "subtype": "success", "num_turns": 1, "duration_ms": 61, "cost_usd": null, "session_id": "c3a30c83-00ed-4538-aef2-6e30d13b3780", "errors": [], "model": "made-up", "tokens_in": 100, "tokens_out": 7, "review": true}');
INSERT INTO events VALUES (19, 1, 2, 1796076193.7161658, 'text', '{"text": "Looking around."}');
INSERT INTO events VALUES (20, 1, 2, 1796076193.7521656, 'tool_use', '{"id": "toolu_1_2_0", "name": "Read", "input": {"file_path": "README.md"}}');
INSERT INTO events VALUES (21, 1, 2, 1796076193.7755098, 'tool_result', '{"tool_use_id": "toolu_1_2_0", "content": "(mock output of Read)", "is_error": false}');
INSERT INTO events VALUES (22, 1, 2, 1796076193.8210835, 'tool_use', '{"id": "toolu_1_2_1", "name": "Write", "input": {"file_path": "out_2.txt", "content": "..."}}');
INSERT INTO events VALUES (23, 1, 2, 1796076193.845439, 'tool_result', '{"tool_use_id": "toolu_1_2_1", "content": "(mock output of Write)", "is_error": false}');
INSERT INTO events VALUES (24, 1, 2, 1796076193.8791432, 'tool_use', '{"id": "toolu_1_2_2", "name": "Grep", "input": {"pattern": "TODO"}}');
INSERT INTO events VALUES (25, 1, 2, 1796076193.9236345, 'tool_result', '{"tool_use_id": "toolu_1_2_2", "content": "(mock output of Grep)", "is_error": false}');
INSERT INTO events VALUES (26, 1, 2, 1796076193.9676151, 'text', '{"text": "Did Check it."}');
INSERT INTO events VALUES (27, 1, 2, 1796076193.9702842, 'result', '{"text": "Did Check it.", "is_error": false, "num_turns": 3, "cost_usd": 0.0}');
INSERT INTO events VALUES (28, 1, 2, 1796076193.973435, 'status', '{"from": "running", "to": "done"}');
INSERT INTO events VALUES (29, 1, 3, 1796076193.9775465, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (30, 1, 3, 1796076193.9785047, 'system', '{"text": "waiting for you: this is your job, mark it done when it is"}');
INSERT INTO events VALUES (31, 1, 4, 1796076193.9803808, 'status', '{"from": "pending", "to": "running"}');
INSERT INTO events VALUES (32, 1, 4, 1796076193.981485, 'system', '{"text": "executing subplan 2"}');
INSERT INTO events VALUES (33, 2, 1, 1796076193.9892974, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (34, 2, 1, 1796076193.9938676, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (35, 2, 1, 1796076193.9945357, 'system', '{"text": "agent: mock (mock)", "agent": {"name": "mock", "harness": "mock", "model": null, "profile_id": 2}}');
INSERT INTO events VALUES (36, 2, 1, 1796076194.0033674, 'system', '{"text": "mock session started", "session_id": "mock-2-1", "cwd": "/tmp/clearbox-original/app"}');
INSERT INTO events VALUES (37, 2, 1, 1796076194.0228465, 'thinking', '{"text": "Thinking."}');
INSERT INTO events VALUES (38, 1, 3, 1796076194.0560727, 'system', '{"text": "marked done by user"}');
INSERT INTO events VALUES (39, 1, 3, 1796076194.0652044, 'status', '{"from": "ready", "to": "done"}');
INSERT INTO events VALUES (40, 2, 1, 1796076194.073195, 'text', '{"text": "Looking around."}');
INSERT INTO events VALUES (41, 2, 1, 1796076194.1071982, 'tool_use', '{"id": "toolu_2_1_0", "name": "Write", "input": {"file_path": "out_1.txt", "content": "..."}}');
INSERT INTO events VALUES (42, 2, 1, 1796076194.1252687, 'tool_result', '{"tool_use_id": "toolu_2_1_0", "content": "(mock output of Write)", "is_error": false}');
INSERT INTO events VALUES (43, 2, 1, 1796076194.14848, 'text', '{"text": "Did inner a."}');
INSERT INTO events VALUES (44, 2, 1, 1796076194.1521027, 'result', '{"text": "Did inner a.", "is_error": false, "num_turns": 3, "cost_usd": 0.0}');
INSERT INTO events VALUES (45, 2, 1, 1796076194.1584609, 'status', '{"from": "running", "to": "done"}');
INSERT INTO events VALUES (46, 2, 2, 1796076194.1612258, 'status', '{"from": "pending", "to": "running"}');
INSERT INTO events VALUES (47, 2, 2, 1796076194.1623204, 'system', '{"text": "executing subplan 3"}');
INSERT INTO events VALUES (48, 3, 1, 1796076194.170595, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (49, 3, 1, 1796076194.1800637, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (50, 3, 1, 1796076194.181334, 'system', '{"text": "agent: mock (mock)", "agent": {"name": "mock", "harness": "mock", "model": null, "profile_id": 2}}');
INSERT INTO events VALUES (51, 3, 1, 1796076194.193311, 'system', '{"text": "mock session started", "session_id": "mock-3-1", "cwd": "/tmp/clearbox-original/app"}');
INSERT INTO events VALUES (52, 3, 1, 1796076194.2261438, 'thinking', '{"text": "Thinking."}');
INSERT INTO events VALUES (53, 3, 1, 1796076194.2555637, 'text', '{"text": "Looking around."}');
INSERT INTO events VALUES (54, 3, 1, 1796076194.2816093, 'tool_use', '{"id": "toolu_3_1_0", "name": "Bash", "input": {"command": "ls -la"}}');
INSERT INTO events VALUES (55, 3, 1, 1796076194.2984257, 'tool_result', '{"tool_use_id": "toolu_3_1_0", "content": "(mock output of Bash)", "is_error": false}');
INSERT INTO events VALUES (56, 3, 1, 1796076194.3278272, 'tool_use', '{"id": "toolu_3_1_1", "name": "Grep", "input": {"pattern": "TODO"}}');
INSERT INTO events VALUES (57, 3, 1, 1796076194.3602285, 'tool_result', '{"tool_use_id": "toolu_3_1_1", "content": "(mock output of Grep)", "is_error": false}');
INSERT INTO events VALUES (58, 3, 1, 1796076194.391867, 'tool_use', '{"id": "toolu_3_1_2", "name": "Grep", "input": {"pattern": "TODO"}}');
INSERT INTO events VALUES (59, 3, 1, 1796076194.4053898, 'tool_result', '{"tool_use_id": "toolu_3_1_2", "content": "(mock output of Grep)", "is_error": false}');
INSERT INTO events VALUES (60, 3, 1, 1796076194.4280105, 'text', '{"text": "Did innermost \ud83d\udc22."}');
INSERT INTO events VALUES (61, 3, 1, 1796076194.4321384, 'result', '{"text": "Did innermost \ud83d\udc22.", "is_error": false, "num_turns": 3, "cost_usd": 0.0}');
INSERT INTO events VALUES (62, 3, 1, 1796076194.4368703, 'status', '{"from": "running", "to": "done"}');
INSERT INTO events VALUES (63, 2, 2, 1796076194.4403763, 'status', '{"from": "running", "to": "done"}');
INSERT INTO events VALUES (64, 1, 4, 1796076194.4426892, 'status', '{"from": "running", "to": "done"}');
INSERT INTO events VALUES (65, 1, 5, 1796076194.4470701, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (66, 1, 5, 1796076194.4556093, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (67, 1, 5, 1796076194.4602585, 'system', '{"text": "agent: mock (mock)", "agent": {"name": "mock", "harness": "mock", "model": null, "profile_id": 2}}');
INSERT INTO events VALUES (68, 1, 5, 1796076194.470713, 'system', '{"text": "mock session started", "session_id": "mock-1-5", "cwd": "/tmp/clearbox-original/app"}');
INSERT INTO events VALUES (69, 1, 5, 1796076194.4921165, 'thinking', '{"text": "Thinking."}');
INSERT INTO events VALUES (70, 1, 5, 1796076194.5185053, 'text', '{"text": "Looking around."}');
INSERT INTO events VALUES (71, 1, 5, 1796076194.53756, 'tool_use', '{"id": "toolu_1_5_0", "name": "Bash", "input": {"command": "ls -la"}}');
INSERT INTO events VALUES (72, 1, 5, 1796076194.570503, 'tool_result', '{"tool_use_id": "toolu_1_5_0", "content": "(mock output of Bash)", "is_error": false}');
INSERT INTO events VALUES (73, 1, 5, 1796076194.6028118, 'text', '{"text": "Did Close."}');
INSERT INTO events VALUES (74, 1, 5, 1796076194.6077166, 'result', '{"text": "Did Close.", "is_error": false, "num_turns": 3, "cost_usd": 0.0}');
INSERT INTO events VALUES (75, 1, 5, 1796076194.6164942, 'status', '{"from": "running", "to": "done"}');
INSERT INTO events VALUES (76, 1, 0, 1796076194.6229248, 'system', '{"text": "plan review: agent: \u79d8\u4e66 \ud83e\udd16 (openai / made-up)", "review": true}');
INSERT INTO events VALUES (77, 1, 0, 1796076194.6274383, 'system', '{"text": "session started", "session_id": "3fd740af-35c6-43ff-bfb6-72fc83ecc377", "model": "made-up", "base_url": "http://127.0.0.1:43915", "cwd": "/tmp/clearbox-original/app", "review": true}');
INSERT INTO events VALUES (78, 1, 0, 1796076194.7351265, 'text', '{"text": "VERDICT: concerns\nSUMMARY: \u898b\u51fa\u3057 is missing \u26a0\ufe0f\nFINDINGS:\n- docs/Plan.md has no heading", "parent_tool_use_id": null, "review": true}');
INSERT INTO events VALUES (79, 1, 0, 1796076194.736238, 'result', '{"text": "VERDICT: concerns\nSUMMARY: \u898b\u51fa\u3057 is missing \u26a0\ufe0f\nFINDINGS:\n- docs/Plan.md has no heading", "is_error": false, "subtype": "success", "num_turns": 1, "duration_ms": 108, "cost_usd": null, "session_id": "3fd740af-35c6-43ff-bfb6-72fc83ecc377", "errors": [], "model": "made-up", "tokens_in": 100, "tokens_out": 7, "review": true}');
INSERT INTO events VALUES (80, 1, 1, 1796076194.8360503, 'system', '{"text": "rework requested"}');
INSERT INTO events VALUES (81, 1, 1, 1796076194.8440893, 'status', '{"from": "done", "to": "pending"}');
INSERT INTO events VALUES (82, 1, 1, 1796076194.8560848, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (83, 1, 1, 1796076194.8720574, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (84, 1, 1, 1796076194.8738403, 'system', '{"text": "agent: \u79d8\u4e66 \ud83e\udd16 (openai / made-up)", "agent": {"name": "\u79d8\u4e66 \ud83e\udd16", "harness": "openai", "model": "made-up", "profile_id": 3}}');
INSERT INTO events VALUES (85, 1, 1, 1796076194.8813133, 'system', '{"text": "session started", "session_id": "64fb8ce1-b65b-447f-b02c-7c4b64bdd22f", "model": "made-up", "base_url": "http://127.0.0.1:43915", "cwd": "/tmp/clearbox-original/app"}');
INSERT INTO events VALUES (86, 1, 1, 1796076195.1061616, 'tool_use', '{"id": "call_1", "name": "bash", "input": {"command": "mkdir -p docs && echo ''second \u884c'' >> docs/Plan.md && echo x > notes.tmp"}, "parent_tool_use_id": null}');
INSERT INTO events VALUES (87, 1, 1, 1796076195.1164742, 'tool_result', '{"tool_use_id": "call_1", "content": "[exit code 0]", "is_error": false, "parent_tool_use_id": null}');
INSERT INTO events VALUES (88, 1, 1, 1796076195.1480997, 'text', '{"text": "Wrote the plan \ud83d\udcdd.", "parent_tool_use_id": null}');
INSERT INTO events VALUES (89, 1, 1, 1796076195.1510177, 'result', '{"text": "Wrote the plan \ud83d\udcdd.", "is_error": false, "subtype": "success", "num_turns": 2, "duration_ms": 273, "cost_usd": null, "session_id": "64fb8ce1-b65b-447f-b02c-7c4b64bdd22f", "errors": [], "model": "made-up", "tokens_in": 200, "tokens_out": 14}');
INSERT INTO events VALUES (90, 1, 1, 1796076195.1765747, 'status', '{"from": "running", "to": "done"}');
INSERT INTO events VALUES (91, 1, 1, 1796076195.1841276, 'system', '{"text": "review: agent: \u79d8\u4e66 \ud83e\udd16 (openai / made-up)", "review": true}');
INSERT INTO events VALUES (92, 1, 1, 1796076195.1852257, 'system', '{"text": "session started", "session_id": "3c791bd1-0dd9-49b3-a3c3-dda1362e150e", "model": "made-up", "base_url": "http://127.0.0.1:43915", "cwd": "/tmp/clearbox-original/app", "review": true}');
INSERT INTO events VALUES (93, 1, 0, 1796076195.2779822, 'system', '{"text": "plan review: agent: \u79d8\u4e66 \ud83e\udd16 (openai / made-up)", "review": true}');
INSERT INTO events VALUES (94, 1, 0, 1796076195.279666, 'system', '{"text": "session started", "session_id": "c8b75895-b209-483c-8bb6-b8ed63d33ccb", "model": "made-up", "base_url": "http://127.0.0.1:43915", "cwd": "/tmp/clearbox-original/app", "review": true}');
INSERT INTO events VALUES (95, 1, 1, 1796076195.392828, 'text', '{"text": "VERDICT: concerns\nSUMMARY: \u898b\u51fa\u3057 is missing \u26a0\ufe0f\nFINDINGS:\n- docs/Plan.md has no heading", "parent_tool_use_id": null, "review": true}');
INSERT INTO events VALUES (96, 1, 1, 1796076195.3962543, 'result', '{"text": "VERDICT: concerns\nSUMMARY: \u898b\u51fa\u3057 is missing \u26a0\ufe0f\nFINDINGS:\n- docs/Plan.md has no heading", "is_error": false, "subtype": "success", "num_turns": 1, "duration_ms": 211, "cost_usd": null, "session_id": "3c791bd1-0dd9-49b3-a3c3-dda1362e150e", "errors": [], "model": "made-up", "tokens_in": 100, "tokens_out": 7, "review": true}');
INSERT INTO events VALUES (97, 1, 0, 1796076195.4040637, 'text', '{"text": "VERDICT: concerns\nSUMMARY: \u898b\u51fa\u3057 is missing \u26a0\ufe0f\nFINDINGS:\n- docs/Plan.md has no heading", "parent_tool_use_id": null, "review": true}');
INSERT INTO events VALUES (98, 1, 0, 1796076195.408318, 'result', '{"text": "VERDICT: concerns\nSUMMARY: \u898b\u51fa\u3057 is missing \u26a0\ufe0f\nFINDINGS:\n- docs/Plan.md has no heading", "is_error": false, "subtype": "success", "num_turns": 1, "duration_ms": 128, "cost_usd": null, "session_id": "c8b75895-b209-483c-8bb6-b8ed63d33ccb", "errors": [], "model": "made-up", "tokens_in": 100, "tokens_out": 7, "review": true}');
INSERT INTO events VALUES (99, 1, 2, 1796076195.4540648, 'system', '{"text": "review: agent: mock (mock)", "review": true}');
INSERT INTO events VALUES (100, 1, 2, 1796076195.4573722, 'system', '{"text": "mock session started", "session_id": "mock-1-2", "cwd": "/tmp/clearbox-original/app", "review": true}');
INSERT INTO events VALUES (101, 1, 2, 1796076195.4717178, 'thinking', '{"text": "Thinking.", "review": true}');
INSERT INTO events VALUES (102, 1, 2, 1796076195.504485, 'text', '{"text": "Looking around.", "review": true}');
INSERT INTO events VALUES (103, 1, 2, 1796076195.5366695, 'tool_use', '{"id": "toolu_1_2_0", "name": "Read", "input": {"file_path": "README.md"}, "review": true}');
INSERT INTO events VALUES (104, 1, 2, 1796076195.5595129, 'tool_result', '{"tool_use_id": "toolu_1_2_0", "content": "(mock output of Read)", "is_error": false, "review": true}');
INSERT INTO events VALUES (105, 1, 2, 1796076195.5792923, 'tool_use', '{"id": "toolu_1_2_1", "name": "Grep", "input": {"pattern": "TODO"}, "review": true}');
INSERT INTO events VALUES (106, 1, 2, 1796076195.6089296, 'tool_result', '{"tool_use_id": "toolu_1_2_1", "content": "(mock output of Grep)", "is_error": false, "review": true}');
INSERT INTO events VALUES (107, 1, 2, 1796076195.644525, 'text', '{"text": "Did node.", "review": true}');
INSERT INTO events VALUES (108, 1, 2, 1796076195.646969, 'result', '{"text": "Did node.", "is_error": false, "num_turns": 3, "cost_usd": 0.0, "review": true}');
INSERT INTO events VALUES (109, 6, 1, 1796076195.9564981, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (110, 6, 1, 1796076195.9628825, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (111, 6, 1, 1796076195.9642043, 'system', '{"text": "agent: mock (mock)", "agent": {"name": "mock", "harness": "mock", "model": null, "profile_id": 2}}');
INSERT INTO events VALUES (112, 6, 1, 1796076195.970782, 'system', '{"text": "mock session started", "session_id": "mock-6-1", "cwd": "/tmp/clearbox-original/stopped"}');
INSERT INTO events VALUES (113, 6, 1, 1796076195.9881954, 'thinking', '{"text": "Thinking."}');
INSERT INTO events VALUES (114, 6, 1, 1796076196.0123277, 'text', '{"text": "Looking around."}');
INSERT INTO events VALUES (115, 6, 1, 1796076196.0331283, 'tool_use', '{"id": "toolu_6_1_0", "name": "Bash", "input": {"command": "ls -la"}}');
INSERT INTO events VALUES (116, 6, 1, 1796076196.0645738, 'tool_result', '{"tool_use_id": "toolu_6_1_0", "content": "(mock output of Bash)", "is_error": false}');
INSERT INTO events VALUES (117, 6, 1, 1796076196.0802526, 'text', '{"text": "Did done first."}');
INSERT INTO events VALUES (118, 6, 1, 1796076196.0821748, 'result', '{"text": "Did done first.", "is_error": false, "num_turns": 3, "cost_usd": 0.0}');
INSERT INTO events VALUES (119, 6, 1, 1796076196.0844524, 'status', '{"from": "running", "to": "done"}');
INSERT INTO events VALUES (120, 6, 2, 1796076196.0862586, 'status', '{"from": "pending", "to": "running"}');
INSERT INTO events VALUES (121, 6, 2, 1796076196.0869133, 'system', '{"text": "executing subplan 7"}');
INSERT INTO events VALUES (122, 7, 1, 1796076196.090306, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (123, 7, 1, 1796076196.093632, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (124, 7, 1, 1796076196.09439, 'system', '{"text": "agent: slow (mock)", "agent": {"name": "slow", "harness": "mock", "model": null, "profile_id": 5}}');
INSERT INTO events VALUES (125, 7, 1, 1796076196.0993237, 'system', '{"text": "mock session started", "session_id": "mock-7-1", "cwd": "/tmp/clearbox-original/stopped"}');
INSERT INTO events VALUES (126, 7, 1, 1796076196.1104808, 'system', '{"text": "plan stopped; node re-queued"}');
INSERT INTO events VALUES (127, 7, 1, 1796076196.1121106, 'status', '{"from": "running", "to": "pending"}');
INSERT INTO events VALUES (128, 9, 1, 1796076196.3618603, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (129, 9, 1, 1796076196.3646843, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (130, 9, 1, 1796076196.3653367, 'system', '{"text": "agent: mock (mock)", "agent": {"name": "mock", "harness": "mock", "model": null, "profile_id": 2}}');
INSERT INTO events VALUES (131, 9, 1, 1796076196.3729692, 'system', '{"text": "mock session started", "session_id": "mock-9-1", "cwd": "/tmp/clearbox-original/api"}');
INSERT INTO events VALUES (132, 9, 1, 1796076196.401366, 'thinking', '{"text": "Thinking."}');
INSERT INTO events VALUES (133, 9, 1, 1796076196.42799, 'text', '{"text": "Looking around."}');
INSERT INTO events VALUES (134, 9, 1, 1796076196.4533114, 'tool_use', '{"id": "toolu_9_1_0", "name": "Write", "input": {"file_path": "out_1.txt", "content": "..."}}');
INSERT INTO events VALUES (135, 9, 1, 1796076196.4816506, 'tool_result', '{"tool_use_id": "toolu_9_1_0", "content": "(mock output of Write)", "is_error": false}');
INSERT INTO events VALUES (136, 9, 1, 1796076196.5114326, 'text', '{"text": "Did First."}');
INSERT INTO events VALUES (137, 9, 1, 1796076196.5125945, 'result', '{"text": "Did First.", "is_error": false, "num_turns": 3, "cost_usd": 0.0}');
INSERT INTO events VALUES (138, 9, 1, 1796076196.5146358, 'status', '{"from": "running", "to": "done"}');
INSERT INTO events VALUES (139, 9, 2, 1796076196.516291, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (140, 9, 4, 1796076196.5173268, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (141, 9, 5, 1796076196.5183613, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (142, 9, 6, 1796076196.5193865, 'status', '{"from": "pending", "to": "running"}');
INSERT INTO events VALUES (143, 9, 6, 1796076196.5199525, 'system', '{"text": "executing subplan 10"}');
INSERT INTO events VALUES (144, 9, 7, 1796076196.521081, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (145, 9, 7, 1796076196.5221848, 'system', '{"text": "waiting for you: this is your job, mark it done when it is"}');
INSERT INTO events VALUES (146, 9, 8, 1796076196.5240302, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (147, 9, 2, 1796076196.5265725, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (148, 9, 2, 1796076196.5271392, 'system', '{"text": "agent: slow (mock)", "agent": {"name": "slow", "harness": "mock", "model": null, "profile_id": 5}}');
INSERT INTO events VALUES (149, 9, 4, 1796076196.5300553, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (150, 9, 4, 1796076196.5305765, 'system', '{"text": "agent: slow (mock)", "agent": {"name": "slow", "harness": "mock", "model": null, "profile_id": 5}}');
INSERT INTO events VALUES (151, 9, 5, 1796076196.533037, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (152, 9, 5, 1796076196.5335784, 'system', '{"text": "agent: slow (mock)", "agent": {"name": "slow", "harness": "mock", "model": null, "profile_id": 5}}');
INSERT INTO events VALUES (153, 9, 8, 1796076196.5363367, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (154, 9, 8, 1796076196.5368295, 'system', '{"text": "agent: by-env (openai / made-up)", "agent": {"name": "by-env", "harness": "openai", "model": "made-up", "profile_id": 4}}');
INSERT INTO events VALUES (155, 10, 1, 1796076196.5406253, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (156, 10, 1, 1796076196.5437589, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (157, 10, 1, 1796076196.54434, 'system', '{"text": "agent: mock (mock)", "agent": {"name": "mock", "harness": "mock", "model": null, "profile_id": 2}}');
INSERT INTO events VALUES (158, 9, 2, 1796076196.550646, 'system', '{"text": "mock session started", "session_id": "mock-9-2", "cwd": "/tmp/clearbox-original/api"}');
INSERT INTO events VALUES (159, 9, 4, 1796076196.5532098, 'system', '{"text": "mock session started", "session_id": "mock-9-4", "cwd": "/tmp/clearbox-original/api"}');
INSERT INTO events VALUES (160, 9, 5, 1796076196.5550163, 'system', '{"text": "mock session started", "session_id": "mock-9-5", "cwd": "/tmp/clearbox-original/api"}');
INSERT INTO events VALUES (161, 9, 8, 1796076196.5565722, 'system', '{"text": "session started", "session_id": "d5b62e6b-129b-460f-8b30-f878035baf59", "model": "made-up", "base_url": "http://127.0.0.1:9", "cwd": "/tmp/clearbox-original/api"}');
INSERT INTO events VALUES (162, 10, 1, 1796076196.6091557, 'system', '{"text": "mock session started", "session_id": "mock-10-1", "cwd": "/tmp/clearbox-original/api"}');
INSERT INTO events VALUES (163, 10, 1, 1796076196.629647, 'thinking', '{"text": "Thinking."}');
INSERT INTO events VALUES (164, 10, 1, 1796076196.6933537, 'text', '{"text": "Looking around."}');
INSERT INTO events VALUES (165, 9, 2, 1796076196.7045565, 'system', '{"text": "stopped by user"}');
INSERT INTO events VALUES (166, 9, 2, 1796076196.7061245, 'status', '{"from": "running", "to": "failed"}');
INSERT INTO events VALUES (167, 9, 5, 1796076196.7162328, 'system', '{"text": "stopped by user"}');
INSERT INTO events VALUES (168, 9, 5, 1796076196.7177918, 'status', '{"from": "running", "to": "failed"}');
INSERT INTO events VALUES (169, 9, 5, 1796076196.7241352, 'system', '{"text": "retry requested"}');
INSERT INTO events VALUES (170, 9, 5, 1796076196.725445, 'status', '{"from": "failed", "to": "pending"}');
INSERT INTO events VALUES (171, 9, 5, 1796076196.7273548, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (172, 9, 5, 1796076196.730677, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (173, 9, 5, 1796076196.7313144, 'system', '{"text": "agent: slow (mock)", "agent": {"name": "slow", "harness": "mock", "model": null, "profile_id": 5}}');
INSERT INTO events VALUES (174, 9, 5, 1796076196.7364764, 'system', '{"text": "mock session started", "session_id": "mock-9-5", "cwd": "/tmp/clearbox-original/api"}');
INSERT INTO events VALUES (175, 10, 1, 1796076196.7376845, 'tool_use', '{"id": "toolu_10_1_0", "name": "Bash", "input": {"command": "ls -la"}}');
INSERT INTO events VALUES (176, 10, 1, 1796076196.7620041, 'tool_result', '{"tool_use_id": "toolu_10_1_0", "content": "(mock output of Bash)", "is_error": false}');
INSERT INTO events VALUES (177, 10, 1, 1796076196.7838793, 'tool_use', '{"id": "toolu_10_1_1", "name": "Grep", "input": {"pattern": "TODO"}}');
INSERT INTO events VALUES (178, 10, 1, 1796076196.8044677, 'tool_result', '{"tool_use_id": "toolu_10_1_1", "content": "(mock output of Grep)", "is_error": false}');
INSERT INTO events VALUES (179, 10, 1, 1796076196.8395064, 'tool_use', '{"id": "toolu_10_1_2", "name": "Write", "input": {"file_path": "out_1.txt", "content": "..."}}');
INSERT INTO events VALUES (180, 10, 1, 1796076196.8715572, 'tool_result', '{"tool_use_id": "toolu_10_1_2", "content": "(mock output of Write)", "is_error": false}');
INSERT INTO events VALUES (181, 10, 1, 1796076196.8962438, 'text', '{"text": "Did one."}');
INSERT INTO events VALUES (182, 10, 1, 1796076196.8974817, 'result', '{"text": "Did one.", "is_error": false, "num_turns": 3, "cost_usd": 0.0}');
INSERT INTO events VALUES (183, 10, 1, 1796076196.901153, 'status', '{"from": "running", "to": "done"}');
INSERT INTO events VALUES (184, 10, 2, 1796076196.9030232, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (185, 10, 2, 1796076196.906732, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (186, 10, 2, 1796076196.9073088, 'system', '{"text": "agent: slow (mock)", "agent": {"name": "slow", "harness": "mock", "model": null, "profile_id": 5}}');
INSERT INTO events VALUES (187, 10, 2, 1796076196.9129057, 'system', '{"text": "mock session started", "session_id": "mock-10-2", "cwd": "/tmp/clearbox-original/api"}');
INSERT INTO events VALUES (188, 9, 8, 1796076197.9518836, 'result', '{"text": "", "is_error": true, "subtype": "error_api", "num_turns": 1, "duration_ms": 1395, "cost_usd": null, "session_id": "d5b62e6b-129b-460f-8b30-f878035baf59", "errors": ["could not connect to http://127.0.0.1:9/v1 (ConnectError: All connection attempts failed). Is the server running and the base_url right (e.g. http://localhost:11434/v1 for Ollama, http://localhost:1234/v1 for LM Studio)?"], "model": "made-up", "tokens_in": null, "tokens_out": null}');
INSERT INTO events VALUES (189, 9, 8, 1796076197.9640348, 'status', '{"from": "running", "to": "failed"}');
INSERT INTO events VALUES (190, 9, 4, 1796076200.4252083, 'system', '{"text": "agent interrupted by service restart; node re-queued"}');
INSERT INTO events VALUES (191, 9, 4, 1796076200.535321, 'status', '{"from": "running", "to": "pending"}');
INSERT INTO events VALUES (192, 9, 5, 1796076200.5362997, 'system', '{"text": "agent interrupted by service restart; node re-queued"}');
INSERT INTO events VALUES (193, 9, 5, 1796076200.537477, 'status', '{"from": "running", "to": "pending"}');
INSERT INTO events VALUES (194, 10, 2, 1796076200.5381656, 'system', '{"text": "agent interrupted by service restart; node re-queued"}');
INSERT INTO events VALUES (195, 10, 2, 1796076200.5392563, 'status', '{"from": "running", "to": "pending"}');
INSERT INTO events VALUES (196, 9, 4, 1796076200.541703, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (197, 9, 5, 1796076200.5430775, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (198, 10, 2, 1796076200.5444367, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (199, 9, 4, 1796076200.5478032, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (200, 9, 4, 1796076200.54858, 'system', '{"text": "agent: slow (mock)", "agent": {"name": "slow", "harness": "mock", "model": null, "profile_id": 5}}');
INSERT INTO events VALUES (201, 9, 5, 1796076200.5515366, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (202, 9, 5, 1796076200.5523283, 'system', '{"text": "agent: slow (mock)", "agent": {"name": "slow", "harness": "mock", "model": null, "profile_id": 5}}');
INSERT INTO events VALUES (203, 10, 2, 1796076200.5555224, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (204, 10, 2, 1796076200.5563288, 'system', '{"text": "agent: slow (mock)", "agent": {"name": "slow", "harness": "mock", "model": null, "profile_id": 5}}');
INSERT INTO events VALUES (205, 9, 4, 1796076200.5609927, 'system', '{"text": "mock session started", "session_id": "mock-9-4", "cwd": "/tmp/clearbox-original/api"}');
INSERT INTO events VALUES (206, 9, 5, 1796076200.562664, 'system', '{"text": "mock session started", "session_id": "mock-9-5", "cwd": "/tmp/clearbox-original/api"}');
INSERT INTO events VALUES (207, 10, 2, 1796076200.5639396, 'system', '{"text": "mock session started", "session_id": "mock-10-2", "cwd": "/tmp/clearbox-original/api"}');
INSERT INTO events VALUES (208, 11, 1, 1796076200.8800745, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (209, 11, 3, 1796076200.8880832, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (210, 11, 5, 1796076200.8960793, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (211, 11, 6, 1796076200.90408, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (212, 11, 1, 1796076200.9481096, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (213, 11, 1, 1796076200.9491138, 'system', '{"text": "claimed by external agent ''\u5916\u90e8 agent''"}');
INSERT INTO events VALUES (214, 11, 1, 1796076200.9599066, 'text', '{"text": "text \u9032\u6357"}');
INSERT INTO events VALUES (215, 11, 1, 1796076200.9763649, 'thinking', '{"text": "thinking \u9032\u6357"}');
INSERT INTO events VALUES (216, 11, 1, 1796076200.9962113, 'tool_use', '{"text": "tool_use \u9032\u6357"}');
INSERT INTO events VALUES (217, 11, 1, 1796076201.0122366, 'tool_result', '{"text": "tool_result \u9032\u6357"}');
INSERT INTO events VALUES (218, 11, 1, 1796076201.0340874, 'log', '{"text": "log \u9032\u6357"}');
INSERT INTO events VALUES (219, 11, 1, 1796076201.0448575, 'result', '{"text": "Made the page \u9801", "is_error": false}');
INSERT INTO events VALUES (220, 11, 1, 1796076201.0480504, 'status', '{"from": "running", "to": "done"}');
INSERT INTO events VALUES (221, 11, 2, 1796076201.0542471, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (222, 11, 2, 1796076201.0659285, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (223, 11, 2, 1796076201.067916, 'system', '{"text": "claimed by external agent ''\u5916\u90e8 agent''"}');
INSERT INTO events VALUES (224, 11, 2, 1796076201.097465, 'result', '{"text": "Split it up", "is_error": false}');
INSERT INTO events VALUES (225, 11, 2, 1796076201.0985653, 'system', '{"text": "agent finished; now executing the subplan it created"}');
INSERT INTO events VALUES (226, 12, 1, 1796076201.103388, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (227, 11, 3, 1796076201.1223187, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (228, 11, 3, 1796076201.1234062, 'system', '{"text": "claimed by external agent ''\u5916\u90e8 agent''"}');
INSERT INTO events VALUES (229, 11, 3, 1796076201.133513, 'error', '{"text": "no network \ud83d\uded1"}');
INSERT INTO events VALUES (230, 11, 3, 1796076201.1367364, 'status', '{"from": "running", "to": "failed"}');
INSERT INTO events VALUES (231, 11, 5, 1796076201.1523137, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (232, 11, 5, 1796076201.154169, 'system', '{"text": "claimed by external agent ''\u5916\u90e8 agent''"}');
INSERT INTO events VALUES (233, 11, 5, 1796076201.1758325, 'text', '{"text": "half done"}');
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
INSERT INTO node_files VALUES (9, 1, 'first.txt', 'first.txt');
INSERT INTO node_files VALUES (9, 4, 'slow/', 'slow');
INSERT INTO node_files VALUES (11, 1, 'index.html', 'index.html');
INSERT INTO node_files VALUES (11, 2, 'pages/', 'pages');
CREATE TABLE node_results_from (
  plan_id INTEGER NOT NULL,
  node_id INTEGER NOT NULL,
  from_node_id INTEGER NOT NULL,
  PRIMARY KEY (plan_id, node_id, from_node_id));
INSERT INTO node_results_from VALUES (1, 2, 1);
INSERT INTO node_results_from VALUES (2, 2, 1);
INSERT INTO node_results_from VALUES (11, 2, 1);
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
  kind TEXT,
  PRIMARY KEY (plan_id, node_id));
INSERT INTO nodes VALUES (1, 1, 'Entwurf 設計', 'Write docs/Plan.md', 'done', 'builtin', '秘书 🤖', '64fb8ce1-b65b-447f-b02c-7c4b64bdd22f', 1, 'Wrote the plan 📝.', NULL, 1796076194.8686638, 1796076195.1601193, 1796076191.2447166, 3, 200, 14, 'Give it a heading.', NULL);
INSERT INTO nodes VALUES (1, 2, 'Check it', '', 'done', 'builtin', 'mock', 'mock-1-2', 1, 'Did Check it.', NULL, 1796076193.6130388, 1796076193.9728153, 1796076191.2793949, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (1, 3, '部署 to production', 'Push it, then say so.', 'done', NULL, NULL, NULL, 1, 'Deployed 完了 ✅', NULL, NULL, 1796076194.0641828, 1796076191.3564618, NULL, NULL, NULL, NULL, 'user');
INSERT INTO nodes VALUES (1, 4, 'A big one', '', 'done', NULL, NULL, NULL, 0, 'Subplan 2 completed. Final steps:
- [inner b] Subplan 3 completed. Final steps:
- [innermost 🐢] Did innermost 🐢.', NULL, 1796076193.979538, 1796076194.4421108, 1796076191.4680934, 2, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (1, 5, 'Close', '', 'done', 'builtin', 'mock', 'mock-1-5', 1, 'Did Close.', NULL, 1796076194.4530463, 1796076194.6138387, 1796076191.5180097, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (2, 1, 'inner a', '', 'done', 'builtin', 'mock', 'mock-2-1', 1, 'Did inner a.', NULL, 1796076193.9931977, 1796076194.1576707, 1796076191.640117, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (2, 2, 'inner b', '', 'done', NULL, NULL, NULL, 0, 'Subplan 3 completed. Final steps:
- [innermost 🐢] Did innermost 🐢.', NULL, 1796076194.160599, 1796076194.4395983, 1796076191.665749, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (3, 1, 'innermost 🐢', '', 'done', 'builtin', 'mock', 'mock-3-1', 1, 'Did innermost 🐢.', NULL, 1796076194.1762137, 1796076194.4361444, 1796076191.7435064, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (5, 1, 'a', '', 'pending', NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, 1796076195.7572682, 6, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (5, 2, 'b', '', 'pending', NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, 1796076195.767686, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (6, 1, 'done first', '', 'done', 'builtin', 'mock', 'mock-6-1', 1, 'Did done first.', NULL, 1796076195.9609795, 1796076196.0838745, 1796076195.8650138, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (6, 2, 'container', '', 'running', NULL, NULL, NULL, 0, NULL, NULL, 1796076196.0858073, NULL, 1796076195.8815255, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (7, 1, 'slow one', '', 'pending', NULL, 'slow', 'mock-7-1', 0, NULL, NULL, NULL, NULL, 1796076195.937754, 5, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (9, 1, 'First', '', 'done', 'builtin', 'mock', 'mock-9-1', 1, 'Did First.', NULL, 1796076196.3641784, 1796076196.5141828, 1796076196.1482852, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (9, 2, 'Stopped by hand', '', 'failed', 'builtin', 'slow', 'mock-9-2', 1, NULL, 'stopped by user', 1796076196.526092, 1796076196.7055614, 1796076196.1578631, 5, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (9, 3, 'Waits for the stopped one', '', 'pending', NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, 1796076196.177513, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (9, 4, 'Runs on and on', '', 'running', 'builtin', 'slow', 'mock-9-4', 0, NULL, NULL, 1796076200.5469565, NULL, 1796076196.1946752, 5, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (9, 5, 'Stopped, then retried', '', 'running', 'builtin', 'slow', 'mock-9-5', 0, NULL, NULL, 1796076200.5506895, NULL, 1796076196.2129505, 5, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (9, 6, 'Container', '', 'running', NULL, NULL, NULL, 0, NULL, NULL, 1796076196.5189857, NULL, 1796076196.2338939, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (9, 7, 'Yours', '', 'ready', NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, 1796076196.2512946, NULL, NULL, NULL, NULL, 'user');
INSERT INTO nodes VALUES (9, 8, 'Has no key', '', 'failed', 'builtin', 'by-env', 'd5b62e6b-129b-460f-8b30-f878035baf59', 1, NULL, 'could not connect to http://127.0.0.1:9/v1 (ConnectError: All connection attempts failed). Is the server running and the base_url right (e.g. http://localhost:11434/v1 for Ollama, http://localhost:1234/v1 for LM Studio)?', 1796076196.535883, 1796076197.9615157, 1796076196.273413, 4, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (10, 1, 'one', '', 'done', 'builtin', 'mock', 'mock-10-1', 1, 'Did one.', NULL, 1796076196.5432515, 1796076196.9006612, 1796076196.3020873, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (10, 2, 'two', '', 'running', 'builtin', 'slow', 'mock-10-2', 0, NULL, NULL, 1796076200.5546184, NULL, 1796076196.313059, 5, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (10, 3, 'three', '', 'pending', NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, 1796076196.3328133, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (11, 1, 'Page', '', 'done', 'external', '外部 agent', NULL, 1, 'Made the page 頁', NULL, 1796076200.942484, 1796076201.0462735, 1796076200.6840894, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (11, 2, 'More pages', '', 'running', 'external', '外部 agent', NULL, 1, 'Split it up', NULL, 1796076201.0653343, NULL, 1796076200.708386, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (11, 3, 'Broken', '', 'failed', 'external', '外部 agent', NULL, 1, NULL, 'no network 🛑', 1796076201.119904, 1796076201.1356, 1796076200.7684948, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (11, 4, 'After broken', '', 'pending', NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, 1796076200.800068, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (11, 5, 'Claimed', '', 'running', 'external', '外部 agent', NULL, 0, NULL, NULL, 1796076201.1514916, NULL, 1796076200.8320494, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (11, 6, 'Nobody''s yet', '', 'ready', NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, 1796076200.8520937, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (12, 1, 'About', '', 'ready', NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, 1796076201.087216, NULL, NULL, NULL, NULL, NULL);
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
  review_agent_profile_id INTEGER,
  test_instructions TEXT);
INSERT INTO plans VALUES (1, '翻訳サービス 🚀 Übersicht', 'Ziel: 翻訳

zweite Zeile', NULL, NULL, 'builtin', 1, '/tmp/clearbox-original/app', 6, 1796076191.2124343, NULL, NULL, 3, NULL);
INSERT INTO plans VALUES (2, 'Inside: 中', '', 1, 4, NULL, 0, NULL, 3, 1796076191.6073596, NULL, NULL, NULL, NULL);
INSERT INTO plans VALUES (3, 'Deeper', '', 2, 2, NULL, 0, NULL, 2, 1796076191.7299268, NULL, NULL, NULL, NULL);
INSERT INTO plans VALUES (5, 'Not started', '', NULL, NULL, NULL, 0, '/tmp/clearbox-original/later', 3, 1796076195.7482357, 4, 2, NULL, NULL);
INSERT INTO plans VALUES (6, 'Stopped half way', '', NULL, NULL, 'builtin', 0, '/tmp/clearbox-original/stopped', 3, 1796076195.8369935, NULL, NULL, NULL, NULL);
INSERT INTO plans VALUES (7, 'stopped inside', '', 6, 2, NULL, 0, NULL, 2, 1796076195.925803, NULL, NULL, NULL, NULL);
INSERT INTO plans VALUES (8, 'Empty', '', NULL, NULL, NULL, 0, '/tmp/clearbox-original/empty', 1, 1796076196.1280098, NULL, NULL, NULL, NULL);
INSERT INTO plans VALUES (9, 'Half way', '', NULL, NULL, 'builtin', 1, '/tmp/clearbox-original/api', 9, 1796076196.1400714, NULL, 8, NULL, 'make test  # 試験');
INSERT INTO plans VALUES (10, 'In the container', '', 9, 6, NULL, 0, NULL, 4, 1796076196.2924724, 2, NULL, NULL, NULL);
INSERT INTO plans VALUES (11, 'Site 🌐', 'Someone else does it', NULL, NULL, 'external', 1, '/tmp/clearbox-original/site', 7, 1796076200.6664922, NULL, NULL, NULL, NULL);
INSERT INTO plans VALUES (12, 'Pages', '', 11, 2, NULL, 0, NULL, 2, 1796076201.0750527, NULL, NULL, NULL, NULL);
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
INSERT INTO reviews VALUES (1, 1, 'concerns', '見出し is missing ⚠️', '- docs/Plan.md has no heading', '秘书 🤖', 100, 7, 1796076195.399832);
INSERT INTO reviews VALUES (1, NULL, 'concerns', '見出し is missing ⚠️', '- docs/Plan.md has no heading', '秘书 🤖', 100, 7, 1796076195.4101396);
INSERT INTO reviews VALUES (1, 2, 'error', 'Did node.', NULL, 'mock', NULL, NULL, 1796076195.6481707);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES ('agent_profiles', 6);
INSERT INTO sqlite_sequence VALUES ('plans', 12);
INSERT INTO sqlite_sequence VALUES ('events', 233);
