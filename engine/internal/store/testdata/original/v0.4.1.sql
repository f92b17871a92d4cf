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
INSERT INTO agent_profiles VALUES (1, 'claude', 'claude-sdk', NULL, NULL, NULL, NULL, '{}', '{}', NULL, NULL, NULL, 'made at the first start', 1796076203.970664, 1796076203.970664, NULL, NULL);
INSERT INTO agent_profiles VALUES (2, 'mock', 'mock', NULL, NULL, NULL, NULL, '{}', '{}', NULL, NULL, NULL, 'made at the first start', 1796076203.9734068, 1796076203.9734068, NULL, NULL);
INSERT INTO agent_profiles VALUES (3, '秘书 🤖', 'openai', 'made-up', 'http://127.0.0.1:38361/v1', NULL, 'sk-made-up-literal-key', '{"max_turns": 5, "stream": false}', '{}', NULL, NULL, NULL, 'Writes plans — cheaply', 1796076204.9083316, 1796076204.9083316, NULL, NULL);
INSERT INTO agent_profiles VALUES (4, 'by-env', 'openai', 'made-up', 'http://127.0.0.1:9/v1', 'MADE_UP_KEY', NULL, '{}', '{"preset": "readonly", "deny": ["bash"]}', NULL, 'Be brief.', 2, '', 1796076204.9193912, 1796076204.9193912, 'edit', 'light');
INSERT INTO agent_profiles VALUES (5, 'slow', 'mock', NULL, NULL, NULL, NULL, '{"speed": 0.0001}', '{}', NULL, NULL, NULL, '', 1796076204.9429367, 1796076204.9429367, NULL, NULL);
INSERT INTO agent_profiles VALUES (6, 'careful', 'claude-sdk', 'opus', NULL, NULL, NULL, '{}', '{}', 'plan', NULL, NULL, '', 1796076204.9497101, 1796076204.9497101, NULL, NULL);
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
INSERT INTO events VALUES (1, 1, 1, 1796076205.4432757, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (2, 1, 1, 1796076205.4508016, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (3, 1, 1, 1796076205.452606, 'system', '{"text": "agent: \u79d8\u4e66 \ud83e\udd16 (openai / made-up)", "agent": {"name": "\u79d8\u4e66 \ud83e\udd16", "harness": "openai", "model": "made-up", "profile_id": 3, "capability": "full", "capability_source": "default"}}');
INSERT INTO events VALUES (4, 1, 1, 1796076205.5169659, 'system', '{"text": "session started", "session_id": "ec03b5e5-b0ae-452a-8346-a2a24a9b3599", "model": "made-up", "base_url": "http://127.0.0.1:38361", "cwd": "/tmp/clearbox-original/app"}');
INSERT INTO events VALUES (5, 1, 1, 1796076207.0962458, 'tool_use', '{"id": "call_1", "name": "bash", "input": {"command": "mkdir -p docs && echo ''first \u884c'' >> docs/Plan.md && echo x > notes.tmp"}, "parent_tool_use_id": null}');
INSERT INTO events VALUES (6, 1, 1, 1796076207.1157448, 'tool_result', '{"tool_use_id": "call_1", "content": "[exit code 0]", "is_error": false, "parent_tool_use_id": null}');
INSERT INTO events VALUES (7, 1, 1, 1796076207.145646, 'text', '{"text": "Wrote the plan \ud83d\udcdd.", "parent_tool_use_id": null}');
INSERT INTO events VALUES (8, 1, 1, 1796076207.1467144, 'result', '{"text": "Wrote the plan \ud83d\udcdd.", "is_error": false, "subtype": "success", "num_turns": 2, "duration_ms": 1630, "cost_usd": null, "session_id": "ec03b5e5-b0ae-452a-8346-a2a24a9b3599", "errors": [], "model": "made-up", "tokens_in": 200, "tokens_out": 14}');
INSERT INTO events VALUES (9, 1, 1, 1796076207.2561402, 'status', '{"from": "running", "to": "done"}');
INSERT INTO events VALUES (10, 1, 2, 1796076207.2668831, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (11, 1, 2, 1796076207.2753654, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (12, 1, 2, 1796076207.2802732, 'system', '{"text": "agent: mock (mock)", "agent": {"name": "mock", "harness": "mock", "model": null, "profile_id": 2, "capability": "full", "capability_source": "default"}}');
INSERT INTO events VALUES (13, 1, 1, 1796076207.3012633, 'system', '{"text": "review: agent: \u79d8\u4e66 \ud83e\udd16 (openai / made-up)", "review": true}');
INSERT INTO events VALUES (14, 1, 1, 1796076207.3082886, 'system', '{"text": "session started", "session_id": "17bc84af-a6e5-4bd9-9656-68e11893244e", "model": "made-up", "base_url": "http://127.0.0.1:38361", "cwd": "/tmp/clearbox-original/app", "review": true}');
INSERT INTO events VALUES (15, 1, 2, 1796076207.4960704, 'system', '{"text": "mock session started", "session_id": "mock-1-2", "cwd": "/tmp/clearbox-original/app"}');
INSERT INTO events VALUES (16, 1, 1, 1796076207.5511267, 'text', '{"text": "VERDICT: concerns\nSUMMARY: \u898b\u51fa\u3057 is missing \u26a0\ufe0f\nFINDINGS:\n- docs/Plan.md has no heading", "parent_tool_use_id": null, "review": true}');
INSERT INTO events VALUES (17, 1, 1, 1796076207.5533907, 'result', '{"text": "VERDICT: concerns\nSUMMARY: \u898b\u51fa\u3057 is missing \u26a0\ufe0f\nFINDINGS:\n- docs/Plan.md has no heading", "is_error": false, "subtype": "success", "num_turns": 1, "duration_ms": 245, "cost_usd": null, "session_id": "17bc84af-a6e5-4bd9-9656-68e11893244e", "errors": [], "model": "made-up", "tokens_in": 100, "tokens_out": 7, "review": true}');
INSERT INTO events VALUES (18, 1, 2, 1796076207.577177, 'thinking', '{"text": "Thinking."}');
INSERT INTO events VALUES (19, 1, 2, 1796076207.6045506, 'text', '{"text": "Looking around."}');
INSERT INTO events VALUES (20, 1, 2, 1796076207.6386695, 'tool_use', '{"id": "toolu_1_2_0", "name": "Read", "input": {"file_path": "README.md"}}');
INSERT INTO events VALUES (21, 1, 2, 1796076207.6725705, 'tool_result', '{"tool_use_id": "toolu_1_2_0", "content": "(mock output of Read)", "is_error": false}');
INSERT INTO events VALUES (22, 1, 2, 1796076207.7146163, 'tool_use', '{"id": "toolu_1_2_1", "name": "Read", "input": {"file_path": "README.md"}}');
INSERT INTO events VALUES (23, 1, 2, 1796076207.7325094, 'tool_result', '{"tool_use_id": "toolu_1_2_1", "content": "(mock output of Read)", "is_error": false}');
INSERT INTO events VALUES (24, 1, 2, 1796076207.762864, 'tool_use', '{"id": "toolu_1_2_2", "name": "Bash", "input": {"command": "ls -la"}}');
INSERT INTO events VALUES (25, 1, 2, 1796076207.792223, 'tool_result', '{"tool_use_id": "toolu_1_2_2", "content": "(mock output of Bash)", "is_error": false}');
INSERT INTO events VALUES (26, 1, 2, 1796076207.82018, 'text', '{"text": "Did Check it."}');
INSERT INTO events VALUES (27, 1, 2, 1796076207.8262637, 'result', '{"text": "Did Check it.", "is_error": false, "num_turns": 3, "cost_usd": 0.0}');
INSERT INTO events VALUES (28, 1, 2, 1796076207.9629178, 'status', '{"from": "running", "to": "done"}');
INSERT INTO events VALUES (29, 1, 3, 1796076207.9760818, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (30, 1, 3, 1796076207.9868546, 'system', '{"text": "waiting for you: this is your job, mark it done when it is"}');
INSERT INTO events VALUES (31, 1, 4, 1796076208.0041366, 'status', '{"from": "pending", "to": "running"}');
INSERT INTO events VALUES (32, 1, 4, 1796076208.0077152, 'system', '{"text": "executing subplan 2"}');
INSERT INTO events VALUES (33, 2, 1, 1796076208.0327063, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (34, 2, 1, 1796076208.0559313, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (35, 2, 1, 1796076208.0593617, 'system', '{"text": "agent: mock (mock)", "agent": {"name": "mock", "harness": "mock", "model": null, "profile_id": 2, "capability": "full", "capability_source": "default"}}');
INSERT INTO events VALUES (36, 1, 3, 1796076208.0983067, 'system', '{"text": "marked done by user"}');
INSERT INTO events VALUES (37, 1, 3, 1796076208.132123, 'status', '{"from": "ready", "to": "done"}');
INSERT INTO events VALUES (38, 2, 1, 1796076208.16812, 'system', '{"text": "mock session started", "session_id": "mock-2-1", "cwd": "/tmp/clearbox-original/app"}');
INSERT INTO events VALUES (39, 2, 1, 1796076208.2019696, 'thinking', '{"text": "Thinking."}');
INSERT INTO events VALUES (40, 2, 1, 1796076208.224178, 'text', '{"text": "Looking around."}');
INSERT INTO events VALUES (41, 2, 1, 1796076208.2695994, 'tool_use', '{"id": "toolu_2_1_0", "name": "Grep", "input": {"pattern": "TODO"}}');
INSERT INTO events VALUES (42, 2, 1, 1796076208.2891383, 'tool_result', '{"tool_use_id": "toolu_2_1_0", "content": "(mock output of Grep)", "is_error": false}');
INSERT INTO events VALUES (43, 2, 1, 1796076208.327418, 'tool_use', '{"id": "toolu_2_1_1", "name": "Grep", "input": {"pattern": "TODO"}}');
INSERT INTO events VALUES (44, 2, 1, 1796076208.3635614, 'tool_result', '{"tool_use_id": "toolu_2_1_1", "content": "(mock output of Grep)", "is_error": false}');
INSERT INTO events VALUES (45, 2, 1, 1796076208.4054282, 'tool_use', '{"id": "toolu_2_1_2", "name": "Grep", "input": {"pattern": "TODO"}}');
INSERT INTO events VALUES (46, 2, 1, 1796076208.4241183, 'tool_result', '{"tool_use_id": "toolu_2_1_2", "content": "(mock output of Grep)", "is_error": false}');
INSERT INTO events VALUES (47, 2, 1, 1796076208.4605849, 'text', '{"text": "Did inner a."}');
INSERT INTO events VALUES (48, 2, 1, 1796076208.4681404, 'result', '{"text": "Did inner a.", "is_error": false, "num_turns": 3, "cost_usd": 0.0}');
INSERT INTO events VALUES (49, 2, 1, 1796076208.5293717, 'status', '{"from": "running", "to": "done"}');
INSERT INTO events VALUES (50, 2, 2, 1796076208.5521328, 'status', '{"from": "pending", "to": "running"}');
INSERT INTO events VALUES (51, 2, 2, 1796076208.5683103, 'system', '{"text": "executing subplan 3"}');
INSERT INTO events VALUES (52, 3, 1, 1796076208.5961032, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (53, 3, 1, 1796076208.6161337, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (54, 3, 1, 1796076208.6243114, 'system', '{"text": "agent: mock (mock)", "agent": {"name": "mock", "harness": "mock", "model": null, "profile_id": 2, "capability": "full", "capability_source": "default"}}');
INSERT INTO events VALUES (55, 3, 1, 1796076208.672896, 'system', '{"text": "mock session started", "session_id": "mock-3-1", "cwd": "/tmp/clearbox-original/app"}');
INSERT INTO events VALUES (56, 3, 1, 1796076208.700235, 'thinking', '{"text": "Thinking."}');
INSERT INTO events VALUES (57, 3, 1, 1796076208.73824, 'text', '{"text": "Looking around."}');
INSERT INTO events VALUES (58, 3, 1, 1796076208.7748597, 'tool_use', '{"id": "toolu_3_1_0", "name": "Grep", "input": {"pattern": "TODO"}}');
INSERT INTO events VALUES (59, 3, 1, 1796076208.8015506, 'tool_result', '{"tool_use_id": "toolu_3_1_0", "content": "(mock output of Grep)", "is_error": false}');
INSERT INTO events VALUES (60, 3, 1, 1796076208.844224, 'tool_use', '{"id": "toolu_3_1_1", "name": "Grep", "input": {"pattern": "TODO"}}');
INSERT INTO events VALUES (61, 3, 1, 1796076208.8795455, 'tool_result', '{"tool_use_id": "toolu_3_1_1", "content": "(mock output of Grep)", "is_error": false}');
INSERT INTO events VALUES (62, 3, 1, 1796076208.9242144, 'tool_use', '{"id": "toolu_3_1_2", "name": "Bash", "input": {"command": "ls -la"}}');
INSERT INTO events VALUES (63, 3, 1, 1796076208.95255, 'tool_result', '{"tool_use_id": "toolu_3_1_2", "content": "(mock output of Bash)", "is_error": false}');
INSERT INTO events VALUES (64, 3, 1, 1796076208.9759116, 'text', '{"text": "Did innermost \ud83d\udc22."}');
INSERT INTO events VALUES (65, 3, 1, 1796076208.9841478, 'result', '{"text": "Did innermost \ud83d\udc22.", "is_error": false, "num_turns": 3, "cost_usd": 0.0}');
INSERT INTO events VALUES (66, 3, 1, 1796076209.032114, 'status', '{"from": "running", "to": "done"}');
INSERT INTO events VALUES (67, 2, 2, 1796076209.0565422, 'status', '{"from": "running", "to": "done"}');
INSERT INTO events VALUES (68, 1, 4, 1796076209.0801044, 'status', '{"from": "running", "to": "done"}');
INSERT INTO events VALUES (69, 1, 5, 1796076209.1001017, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (70, 1, 5, 1796076209.1241028, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (71, 1, 5, 1796076209.1288002, 'system', '{"text": "agent: mock (mock)", "agent": {"name": "mock", "harness": "mock", "model": null, "profile_id": 2, "capability": "full", "capability_source": "default"}}');
INSERT INTO events VALUES (72, 1, 5, 1796076209.2001245, 'system', '{"text": "mock session started", "session_id": "mock-1-5", "cwd": "/tmp/clearbox-original/app"}');
INSERT INTO events VALUES (73, 1, 5, 1796076209.2335005, 'thinking', '{"text": "Thinking."}');
INSERT INTO events VALUES (74, 1, 5, 1796076209.2661119, 'text', '{"text": "Looking around."}');
INSERT INTO events VALUES (75, 1, 5, 1796076209.3067086, 'tool_use', '{"id": "toolu_1_5_0", "name": "Read", "input": {"file_path": "README.md"}}');
INSERT INTO events VALUES (76, 1, 5, 1796076209.3323586, 'tool_result', '{"tool_use_id": "toolu_1_5_0", "content": "(mock output of Read)", "is_error": false}');
INSERT INTO events VALUES (77, 1, 5, 1796076209.3844907, 'tool_use', '{"id": "toolu_1_5_1", "name": "Read", "input": {"file_path": "README.md"}}');
INSERT INTO events VALUES (78, 1, 5, 1796076209.4165134, 'tool_result', '{"tool_use_id": "toolu_1_5_1", "content": "(mock output of Read)", "is_error": false}');
INSERT INTO events VALUES (79, 1, 5, 1796076209.4522278, 'tool_use', '{"id": "toolu_1_5_2", "name": "Write", "input": {"file_path": "out_5.txt", "content": "..."}}');
INSERT INTO events VALUES (80, 1, 5, 1796076209.4771593, 'tool_result', '{"tool_use_id": "toolu_1_5_2", "content": "(mock output of Write)", "is_error": false}');
INSERT INTO events VALUES (81, 1, 5, 1796076209.5243974, 'text', '{"text": "Did Close."}');
INSERT INTO events VALUES (82, 1, 5, 1796076209.5420206, 'result', '{"text": "Did Close.", "is_error": false, "num_turns": 3, "cost_usd": 0.0}');
INSERT INTO events VALUES (83, 1, 5, 1796076209.6601284, 'status', '{"from": "running", "to": "done"}');
INSERT INTO events VALUES (84, 1, 0, 1796076209.6806338, 'system', '{"text": "plan review: agent: \u79d8\u4e66 \ud83e\udd16 (openai / made-up)", "review": true}');
INSERT INTO events VALUES (85, 1, 0, 1796076209.744339, 'system', '{"text": "session started", "session_id": "764a51a8-2dfe-4de0-aa79-ab4b6a583f93", "model": "made-up", "base_url": "http://127.0.0.1:38361", "cwd": "/tmp/clearbox-original/app", "review": true}');
INSERT INTO events VALUES (86, 1, 0, 1796076209.8836586, 'text', '{"text": "VERDICT: concerns\nSUMMARY: \u898b\u51fa\u3057 is missing \u26a0\ufe0f\nFINDINGS:\n- docs/Plan.md has no heading", "parent_tool_use_id": null, "review": true}');
INSERT INTO events VALUES (87, 1, 0, 1796076209.8851056, 'result', '{"text": "VERDICT: concerns\nSUMMARY: \u898b\u51fa\u3057 is missing \u26a0\ufe0f\nFINDINGS:\n- docs/Plan.md has no heading", "is_error": false, "subtype": "success", "num_turns": 1, "duration_ms": 140, "cost_usd": null, "session_id": "764a51a8-2dfe-4de0-aa79-ab4b6a583f93", "errors": [], "model": "made-up", "tokens_in": 100, "tokens_out": 7, "review": true}');
INSERT INTO events VALUES (88, 1, 1, 1796076209.9207299, 'system', '{"text": "rework requested"}');
INSERT INTO events VALUES (89, 1, 1, 1796076209.936121, 'status', '{"from": "done", "to": "pending"}');
INSERT INTO events VALUES (90, 1, 1, 1796076209.952661, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (91, 1, 1, 1796076209.9881222, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (92, 1, 1, 1796076209.9920013, 'system', '{"text": "agent: \u79d8\u4e66 \ud83e\udd16 (openai / made-up)", "agent": {"name": "\u79d8\u4e66 \ud83e\udd16", "harness": "openai", "model": "made-up", "profile_id": 3, "capability": "full", "capability_source": "default"}}');
INSERT INTO events VALUES (93, 1, 1, 1796076210.0761104, 'system', '{"text": "session started", "session_id": "6bbf7f78-6e81-4be7-8a8b-044ee502a939", "model": "made-up", "base_url": "http://127.0.0.1:38361", "cwd": "/tmp/clearbox-original/app"}');
INSERT INTO events VALUES (94, 1, 1, 1796076210.4320047, 'tool_use', '{"id": "call_1", "name": "bash", "input": {"command": "mkdir -p docs && echo ''second \u884c'' >> docs/Plan.md && echo x > notes.tmp"}, "parent_tool_use_id": null}');
INSERT INTO events VALUES (95, 1, 1, 1796076210.4576232, 'tool_result', '{"tool_use_id": "call_1", "content": "[exit code 0]", "is_error": false, "parent_tool_use_id": null}');
INSERT INTO events VALUES (96, 1, 1, 1796076210.492174, 'text', '{"text": "Wrote the plan \ud83d\udcdd.", "parent_tool_use_id": null}');
INSERT INTO events VALUES (97, 1, 1, 1796076210.4987688, 'result', '{"text": "Wrote the plan \ud83d\udcdd.", "is_error": false, "subtype": "success", "num_turns": 2, "duration_ms": 428, "cost_usd": null, "session_id": "6bbf7f78-6e81-4be7-8a8b-044ee502a939", "errors": [], "model": "made-up", "tokens_in": 200, "tokens_out": 14}');
INSERT INTO events VALUES (98, 1, 1, 1796076210.5996084, 'status', '{"from": "running", "to": "done"}');
INSERT INTO events VALUES (99, 1, 1, 1796076210.6094542, 'system', '{"text": "review: agent: \u79d8\u4e66 \ud83e\udd16 (openai / made-up)", "review": true}');
INSERT INTO events VALUES (100, 1, 1, 1796076210.6200843, 'system', '{"text": "session started", "session_id": "f098ae14-3c09-403d-afdb-b7b7030af698", "model": "made-up", "base_url": "http://127.0.0.1:38361", "cwd": "/tmp/clearbox-original/app", "review": true}');
INSERT INTO events VALUES (101, 1, 0, 1796076210.749423, 'system', '{"text": "plan review: agent: \u79d8\u4e66 \ud83e\udd16 (openai / made-up)", "review": true}');
INSERT INTO events VALUES (102, 1, 0, 1796076210.7521853, 'system', '{"text": "session started", "session_id": "2f9035e5-7a76-4b7e-919a-86abc8a861f7", "model": "made-up", "base_url": "http://127.0.0.1:38361", "cwd": "/tmp/clearbox-original/app", "review": true}');
INSERT INTO events VALUES (103, 1, 1, 1796076210.909971, 'text', '{"text": "VERDICT: concerns\nSUMMARY: \u898b\u51fa\u3057 is missing \u26a0\ufe0f\nFINDINGS:\n- docs/Plan.md has no heading", "parent_tool_use_id": null, "review": true}');
INSERT INTO events VALUES (104, 1, 1, 1796076210.9127455, 'result', '{"text": "VERDICT: concerns\nSUMMARY: \u898b\u51fa\u3057 is missing \u26a0\ufe0f\nFINDINGS:\n- docs/Plan.md has no heading", "is_error": false, "subtype": "success", "num_turns": 1, "duration_ms": 292, "cost_usd": null, "session_id": "f098ae14-3c09-403d-afdb-b7b7030af698", "errors": [], "model": "made-up", "tokens_in": 100, "tokens_out": 7, "review": true}');
INSERT INTO events VALUES (105, 1, 0, 1796076210.9220133, 'text', '{"text": "VERDICT: concerns\nSUMMARY: \u898b\u51fa\u3057 is missing \u26a0\ufe0f\nFINDINGS:\n- docs/Plan.md has no heading", "parent_tool_use_id": null, "review": true}');
INSERT INTO events VALUES (106, 1, 0, 1796076210.9285004, 'result', '{"text": "VERDICT: concerns\nSUMMARY: \u898b\u51fa\u3057 is missing \u26a0\ufe0f\nFINDINGS:\n- docs/Plan.md has no heading", "is_error": false, "subtype": "success", "num_turns": 1, "duration_ms": 176, "cost_usd": null, "session_id": "2f9035e5-7a76-4b7e-919a-86abc8a861f7", "errors": [], "model": "made-up", "tokens_in": 100, "tokens_out": 7, "review": true}');
INSERT INTO events VALUES (107, 1, 2, 1796076211.0716405, 'system', '{"text": "review: agent: mock (mock)", "review": true}');
INSERT INTO events VALUES (108, 1, 2, 1796076211.0922072, 'system', '{"text": "mock session started", "session_id": "mock-1-2", "cwd": "/tmp/clearbox-original/app", "review": true}');
INSERT INTO events VALUES (109, 1, 2, 1796076211.1151817, 'thinking', '{"text": "Thinking.", "review": true}');
INSERT INTO events VALUES (110, 1, 2, 1796076211.1481953, 'text', '{"text": "Looking around.", "review": true}');
INSERT INTO events VALUES (111, 1, 2, 1796076211.2002053, 'tool_use', '{"id": "toolu_1_2_0", "name": "Write", "input": {"file_path": "out_2.txt", "content": "..."}, "review": true}');
INSERT INTO events VALUES (112, 1, 2, 1796076211.2296314, 'tool_result', '{"tool_use_id": "toolu_1_2_0", "content": "(mock output of Write)", "is_error": false, "review": true}');
INSERT INTO events VALUES (113, 1, 2, 1796076211.259611, 'text', '{"text": "Did node.", "review": true}');
INSERT INTO events VALUES (114, 1, 2, 1796076211.268149, 'result', '{"text": "Did node.", "is_error": false, "num_turns": 3, "cost_usd": 0.0, "review": true}');
INSERT INTO events VALUES (115, 6, 1, 1796076212.133597, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (116, 6, 1, 1796076212.1562715, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (117, 6, 1, 1796076212.164423, 'system', '{"text": "agent: mock (mock)", "agent": {"name": "mock", "harness": "mock", "model": null, "profile_id": 2, "capability": "full", "capability_source": "default"}}');
INSERT INTO events VALUES (118, 6, 1, 1796076212.276334, 'system', '{"text": "mock session started", "session_id": "mock-6-1", "cwd": "/tmp/clearbox-original/stopped"}');
INSERT INTO events VALUES (119, 6, 1, 1796076212.3261204, 'thinking', '{"text": "Thinking."}');
INSERT INTO events VALUES (120, 6, 1, 1796076212.3858926, 'text', '{"text": "Looking around."}');
INSERT INTO events VALUES (121, 6, 1, 1796076212.4483073, 'tool_use', '{"id": "toolu_6_1_0", "name": "Read", "input": {"file_path": "README.md"}}');
INSERT INTO events VALUES (122, 6, 1, 1796076212.476766, 'tool_result', '{"tool_use_id": "toolu_6_1_0", "content": "(mock output of Read)", "is_error": false}');
INSERT INTO events VALUES (123, 6, 1, 1796076212.5149446, 'tool_use', '{"id": "toolu_6_1_1", "name": "Bash", "input": {"command": "ls -la"}}');
INSERT INTO events VALUES (124, 6, 1, 1796076212.55195, 'tool_result', '{"tool_use_id": "toolu_6_1_1", "content": "(mock output of Bash)", "is_error": false}');
INSERT INTO events VALUES (125, 6, 1, 1796076212.611746, 'text', '{"text": "Did done first."}');
INSERT INTO events VALUES (126, 6, 1, 1796076212.6207898, 'result', '{"text": "Did done first.", "is_error": false, "num_turns": 3, "cost_usd": 0.0}');
INSERT INTO events VALUES (127, 6, 1, 1796076212.7621439, 'status', '{"from": "running", "to": "done"}');
INSERT INTO events VALUES (128, 6, 2, 1796076212.7783105, 'status', '{"from": "pending", "to": "running"}');
INSERT INTO events VALUES (129, 6, 2, 1796076212.78823, 'system', '{"text": "executing subplan 7"}');
INSERT INTO events VALUES (130, 7, 1, 1796076212.8118546, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (131, 7, 1, 1796076212.852131, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (132, 7, 1, 1796076212.8630893, 'system', '{"text": "agent: slow (mock)", "agent": {"name": "slow", "harness": "mock", "model": null, "profile_id": 5, "capability": "full", "capability_source": "default"}}');
INSERT INTO events VALUES (133, 7, 1, 1796076212.9102352, 'system', '{"text": "plan stopped; node re-queued"}');
INSERT INTO events VALUES (134, 7, 1, 1796076212.928111, 'status', '{"from": "running", "to": "pending"}');
INSERT INTO events VALUES (135, 9, 1, 1796076213.6601155, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (136, 9, 1, 1796076213.6766107, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (137, 9, 1, 1796076213.6777763, 'system', '{"text": "agent: mock (mock)", "agent": {"name": "mock", "harness": "mock", "model": null, "profile_id": 2, "capability": "full", "capability_source": "default"}}');
INSERT INTO events VALUES (138, 9, 1, 1796076213.7801034, 'system', '{"text": "mock session started", "session_id": "mock-9-1", "cwd": "/tmp/clearbox-original/api"}');
INSERT INTO events VALUES (139, 9, 1, 1796076213.7986584, 'thinking', '{"text": "Thinking."}');
INSERT INTO events VALUES (140, 9, 1, 1796076213.8487258, 'text', '{"text": "Looking around."}');
INSERT INTO events VALUES (141, 9, 1, 1796076213.8744814, 'tool_use', '{"id": "toolu_9_1_0", "name": "Read", "input": {"file_path": "README.md"}}');
INSERT INTO events VALUES (142, 9, 1, 1796076213.912175, 'tool_result', '{"tool_use_id": "toolu_9_1_0", "content": "(mock output of Read)", "is_error": false}');
INSERT INTO events VALUES (143, 9, 1, 1796076213.9485767, 'tool_use', '{"id": "toolu_9_1_1", "name": "Bash", "input": {"command": "ls -la"}}');
INSERT INTO events VALUES (144, 9, 1, 1796076213.964476, 'tool_result', '{"tool_use_id": "toolu_9_1_1", "content": "(mock output of Bash)", "is_error": false}');
INSERT INTO events VALUES (145, 9, 1, 1796076214.0115225, 'tool_use', '{"id": "toolu_9_1_2", "name": "Bash", "input": {"command": "ls -la"}}');
INSERT INTO events VALUES (146, 9, 1, 1796076214.0356178, 'tool_result', '{"tool_use_id": "toolu_9_1_2", "content": "(mock output of Bash)", "is_error": false}');
INSERT INTO events VALUES (147, 9, 1, 1796076214.0726888, 'text', '{"text": "Did First."}');
INSERT INTO events VALUES (148, 9, 1, 1796076214.0810618, 'result', '{"text": "Did First.", "is_error": false, "num_turns": 3, "cost_usd": 0.0}');
INSERT INTO events VALUES (149, 9, 1, 1796076214.1687539, 'status', '{"from": "running", "to": "done"}');
INSERT INTO events VALUES (150, 9, 2, 1796076214.1840894, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (151, 9, 4, 1796076214.2001226, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (152, 9, 5, 1796076214.220104, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (153, 9, 6, 1796076214.2378292, 'status', '{"from": "pending", "to": "running"}');
INSERT INTO events VALUES (154, 9, 6, 1796076214.2454128, 'system', '{"text": "executing subplan 10"}');
INSERT INTO events VALUES (155, 9, 7, 1796076214.2626622, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (156, 9, 7, 1796076214.2658389, 'system', '{"text": "waiting for you: this is your job, mark it done when it is"}');
INSERT INTO events VALUES (157, 9, 8, 1796076214.2837014, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (158, 9, 2, 1796076214.3086574, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (159, 9, 2, 1796076214.3138716, 'system', '{"text": "agent: slow (mock)", "agent": {"name": "slow", "harness": "mock", "model": null, "profile_id": 5, "capability": "full", "capability_source": "default"}}');
INSERT INTO events VALUES (160, 9, 4, 1796076214.3315008, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (161, 9, 4, 1796076214.3443356, 'system', '{"text": "agent: slow (mock)", "agent": {"name": "slow", "harness": "mock", "model": null, "profile_id": 5, "capability": "full", "capability_source": "default"}}');
INSERT INTO events VALUES (162, 9, 5, 1796076214.3600872, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (163, 9, 5, 1796076214.3689415, 'system', '{"text": "agent: slow (mock)", "agent": {"name": "slow", "harness": "mock", "model": null, "profile_id": 5, "capability": "full", "capability_source": "default"}}');
INSERT INTO events VALUES (164, 9, 8, 1796076214.3881264, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (165, 9, 8, 1796076214.3951468, 'system', '{"text": "agent: by-env (openai / made-up)", "agent": {"name": "by-env", "harness": "openai", "model": "made-up", "profile_id": 4, "capability": "edit", "capability_source": "profile"}}');
INSERT INTO events VALUES (166, 10, 1, 1796076214.4168668, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (167, 10, 1, 1796076214.4345424, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (168, 10, 1, 1796076214.4448476, 'system', '{"text": "agent: mock (mock)", "agent": {"name": "mock", "harness": "mock", "model": null, "profile_id": 2, "capability": "full", "capability_source": "default"}}');
INSERT INTO events VALUES (169, 9, 2, 1796076214.4912097, 'system', '{"text": "mock session started", "session_id": "mock-9-2", "cwd": "/tmp/clearbox-original/api"}');
INSERT INTO events VALUES (170, 9, 5, 1796076214.5240908, 'system', '{"text": "mock session started", "session_id": "mock-9-5", "cwd": "/tmp/clearbox-original/api"}');
INSERT INTO events VALUES (171, 9, 8, 1796076214.5441723, 'system', '{"text": "session started", "session_id": "9fa508b7-d438-423b-9a79-f51886de6227", "model": "made-up", "base_url": "http://127.0.0.1:9", "cwd": "/tmp/clearbox-original/api"}');
INSERT INTO events VALUES (172, 10, 1, 1796076214.682261, 'system', '{"text": "mock session started", "session_id": "mock-10-1", "cwd": "/tmp/clearbox-original/api"}');
INSERT INTO events VALUES (173, 9, 4, 1796076214.7003279, 'system', '{"text": "mock session started", "session_id": "mock-9-4", "cwd": "/tmp/clearbox-original/api"}');
INSERT INTO events VALUES (174, 10, 1, 1796076214.7223015, 'thinking', '{"text": "Thinking."}');
INSERT INTO events VALUES (175, 9, 2, 1796076214.742478, 'system', '{"text": "stopped by user"}');
INSERT INTO events VALUES (176, 9, 2, 1796076214.7527072, 'status', '{"from": "running", "to": "failed"}');
INSERT INTO events VALUES (177, 10, 1, 1796076214.769766, 'text', '{"text": "Looking around."}');
INSERT INTO events VALUES (178, 9, 5, 1796076214.8253086, 'system', '{"text": "stopped by user"}');
INSERT INTO events VALUES (179, 9, 5, 1796076214.832102, 'status', '{"from": "running", "to": "failed"}');
INSERT INTO events VALUES (180, 10, 1, 1796076214.8473175, 'tool_use', '{"id": "toolu_10_1_0", "name": "Grep", "input": {"pattern": "TODO"}}');
INSERT INTO events VALUES (181, 9, 5, 1796076214.8643625, 'system', '{"text": "retry requested"}');
INSERT INTO events VALUES (182, 9, 5, 1796076214.8841164, 'status', '{"from": "failed", "to": "pending"}');
INSERT INTO events VALUES (183, 9, 5, 1796076214.9902132, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (184, 9, 5, 1796076215.0125875, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (185, 9, 5, 1796076215.0203214, 'system', '{"text": "agent: slow (mock)", "agent": {"name": "slow", "harness": "mock", "model": null, "profile_id": 5, "capability": "full", "capability_source": "default"}}');
INSERT INTO events VALUES (186, 10, 1, 1796076215.0425606, 'tool_result', '{"tool_use_id": "toolu_10_1_0", "content": "(mock output of Grep)", "is_error": false}');
INSERT INTO events VALUES (187, 9, 5, 1796076215.060846, 'system', '{"text": "mock session started", "session_id": "mock-9-5", "cwd": "/tmp/clearbox-original/api"}');
INSERT INTO events VALUES (188, 10, 1, 1796076215.0945752, 'tool_use', '{"id": "toolu_10_1_1", "name": "Grep", "input": {"pattern": "TODO"}}');
INSERT INTO events VALUES (189, 10, 1, 1796076215.1162393, 'tool_result', '{"tool_use_id": "toolu_10_1_1", "content": "(mock output of Grep)", "is_error": false}');
INSERT INTO events VALUES (190, 10, 1, 1796076215.1418474, 'text', '{"text": "Did one."}');
INSERT INTO events VALUES (191, 10, 1, 1796076215.148154, 'result', '{"text": "Did one.", "is_error": false, "num_turns": 3, "cost_usd": 0.0}');
INSERT INTO events VALUES (192, 10, 1, 1796076215.2005672, 'status', '{"from": "running", "to": "done"}');
INSERT INTO events VALUES (193, 10, 2, 1796076215.2158222, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (194, 10, 2, 1796076215.2361188, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (195, 10, 2, 1796076215.244172, 'system', '{"text": "agent: slow (mock)", "agent": {"name": "slow", "harness": "mock", "model": null, "profile_id": 5, "capability": "full", "capability_source": "default"}}');
INSERT INTO events VALUES (196, 10, 2, 1796076215.304143, 'system', '{"text": "mock session started", "session_id": "mock-10-2", "cwd": "/tmp/clearbox-original/api"}');
INSERT INTO events VALUES (197, 9, 8, 1796076216.3646364, 'result', '{"text": "", "is_error": true, "subtype": "error_api", "num_turns": 1, "duration_ms": 1826, "cost_usd": null, "session_id": "9fa508b7-d438-423b-9a79-f51886de6227", "errors": ["could not connect to http://127.0.0.1:9/v1 (ConnectError: All connection attempts failed). Is the server running and the base_url right (e.g. http://localhost:11434/v1 for Ollama, http://localhost:1234/v1 for LM Studio)?"], "model": "made-up", "tokens_in": null, "tokens_out": null}');
INSERT INTO events VALUES (198, 9, 8, 1796076216.3933728, 'status', '{"from": "running", "to": "failed"}');
INSERT INTO events VALUES (199, 9, 4, 1796076220.8167832, 'system', '{"text": "agent interrupted by service restart; node re-queued"}');
INSERT INTO events VALUES (200, 9, 4, 1796076220.828738, 'status', '{"from": "running", "to": "pending"}');
INSERT INTO events VALUES (201, 9, 5, 1796076220.8363585, 'system', '{"text": "agent interrupted by service restart; node re-queued"}');
INSERT INTO events VALUES (202, 9, 5, 1796076220.8491642, 'status', '{"from": "running", "to": "pending"}');
INSERT INTO events VALUES (203, 10, 2, 1796076220.8528118, 'system', '{"text": "agent interrupted by service restart; node re-queued"}');
INSERT INTO events VALUES (204, 10, 2, 1796076220.8578188, 'status', '{"from": "running", "to": "pending"}');
INSERT INTO events VALUES (205, 9, 4, 1796076220.8647158, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (206, 9, 5, 1796076220.8761137, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (207, 10, 2, 1796076220.8926513, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (208, 9, 4, 1796076220.9159102, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (209, 9, 4, 1796076220.9168355, 'system', '{"text": "agent: slow (mock)", "agent": {"name": "slow", "harness": "mock", "model": null, "profile_id": 5, "capability": "full", "capability_source": "default"}}');
INSERT INTO events VALUES (210, 9, 5, 1796076220.9212523, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (211, 9, 5, 1796076220.924165, 'system', '{"text": "agent: slow (mock)", "agent": {"name": "slow", "harness": "mock", "model": null, "profile_id": 5, "capability": "full", "capability_source": "default"}}');
INSERT INTO events VALUES (212, 10, 2, 1796076220.9320574, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (213, 10, 2, 1796076220.9362376, 'system', '{"text": "agent: slow (mock)", "agent": {"name": "slow", "harness": "mock", "model": null, "profile_id": 5, "capability": "full", "capability_source": "default"}}');
INSERT INTO events VALUES (214, 9, 5, 1796076220.9870412, 'system', '{"text": "mock session started", "session_id": "mock-9-5", "cwd": "/tmp/clearbox-original/api"}');
INSERT INTO events VALUES (215, 10, 2, 1796076221.017965, 'system', '{"text": "mock session started", "session_id": "mock-10-2", "cwd": "/tmp/clearbox-original/api"}');
INSERT INTO events VALUES (216, 9, 4, 1796076221.0364933, 'system', '{"text": "mock session started", "session_id": "mock-9-4", "cwd": "/tmp/clearbox-original/api"}');
INSERT INTO events VALUES (217, 11, 1, 1796076221.364019, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (218, 11, 3, 1796076221.3661945, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (219, 11, 5, 1796076221.3677275, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (220, 11, 6, 1796076221.3720021, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (221, 11, 1, 1796076221.4222608, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (222, 11, 1, 1796076221.4226701, 'system', '{"text": "claimed by external agent ''\u5916\u90e8 agent''"}');
INSERT INTO events VALUES (223, 11, 1, 1796076221.4915035, 'text', '{"text": "text \u9032\u6357"}');
INSERT INTO events VALUES (224, 11, 1, 1796076221.501567, 'thinking', '{"text": "thinking \u9032\u6357"}');
INSERT INTO events VALUES (225, 11, 1, 1796076221.5121334, 'tool_use', '{"text": "tool_use \u9032\u6357"}');
INSERT INTO events VALUES (226, 11, 1, 1796076221.5221615, 'tool_result', '{"text": "tool_result \u9032\u6357"}');
INSERT INTO events VALUES (227, 11, 1, 1796076221.5335746, 'log', '{"text": "log \u9032\u6357"}');
INSERT INTO events VALUES (228, 11, 1, 1796076221.5543058, 'result', '{"text": "Made the page \u9801", "is_error": false}');
INSERT INTO events VALUES (229, 11, 1, 1796076221.6316245, 'status', '{"from": "running", "to": "done"}');
INSERT INTO events VALUES (230, 11, 2, 1796076221.6340935, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (231, 11, 2, 1796076221.7010145, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (232, 11, 2, 1796076221.7025797, 'system', '{"text": "claimed by external agent ''\u5916\u90e8 agent''"}');
INSERT INTO events VALUES (233, 11, 2, 1796076221.7671819, 'result', '{"text": "Split it up", "is_error": false}');
INSERT INTO events VALUES (234, 11, 2, 1796076221.8208938, 'system', '{"text": "agent finished; now executing the subplan it created"}');
INSERT INTO events VALUES (235, 12, 1, 1796076221.8280234, 'status', '{"from": "pending", "to": "ready"}');
INSERT INTO events VALUES (236, 11, 3, 1796076221.8578875, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (237, 11, 3, 1796076221.8642335, 'system', '{"text": "claimed by external agent ''\u5916\u90e8 agent''"}');
INSERT INTO events VALUES (238, 11, 3, 1796076221.8831813, 'error', '{"text": "no network \ud83d\uded1"}');
INSERT INTO events VALUES (239, 11, 3, 1796076221.9257607, 'status', '{"from": "running", "to": "failed"}');
INSERT INTO events VALUES (240, 11, 5, 1796076221.9688888, 'status', '{"from": "ready", "to": "running"}');
INSERT INTO events VALUES (241, 11, 5, 1796076221.9708207, 'system', '{"text": "claimed by external agent ''\u5916\u90e8 agent''"}');
INSERT INTO events VALUES (242, 11, 5, 1796076222.000382, 'text', '{"text": "half done"}');
CREATE TABLE node_diffs (
  plan_id INTEGER NOT NULL,
  node_id INTEGER NOT NULL,
  path TEXT NOT NULL,
  diff TEXT NOT NULL,
  PRIMARY KEY (plan_id, node_id, path));
INSERT INTO node_diffs VALUES (1, 1, 'docs/Plan.md', 'diff --git a/docs/Plan.md b/docs/Plan.md
index 098e181..0067adc 100644
--- a/docs/Plan.md
+++ b/docs/Plan.md
@@ -1 +1,2 @@
 first 行
+second 行
');
INSERT INTO node_diffs VALUES (11, 1, 'index.html', 'diff --git a/index.html b/index.html
new file mode 100644
index 0000000..f592a78
--- /dev/null
+++ b/index.html
@@ -0,0 +1,2 @@
+<h1>頁</h1>
+line
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
  undeclared_files TEXT,
  undeclared_more INTEGER,
  undeclared_shared INTEGER,
  PRIMARY KEY (plan_id, node_id));
INSERT INTO nodes VALUES (1, 1, 'Entwurf 設計', 'Write docs/Plan.md', 'done', 'builtin', '秘书 🤖', '6bbf7f78-6e81-4be7-8a8b-044ee502a939', 1, 'Wrote the plan 📝.', NULL, 1796076209.9803002, 1796076210.5911796, 1796076205.0621583, 3, 200, 14, 'Give it a heading.', NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (1, 2, 'Check it', '', 'done', 'builtin', 'mock', 'mock-1-2', 1, 'Did Check it.', NULL, 1796076207.2747042, 1796076207.9625437, 1796076205.0880864, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (1, 3, '部署 to production', 'Push it, then say so.', 'done', NULL, NULL, NULL, 1, 'Deployed 完了 ✅', NULL, NULL, 1796076208.1205246, 1796076205.1218925, NULL, NULL, NULL, NULL, 'user', NULL, NULL, NULL);
INSERT INTO nodes VALUES (1, 4, 'A big one', '', 'done', NULL, NULL, NULL, 0, 'Subplan 2 completed. Final steps:
- [inner b] Subplan 3 completed. Final steps:
- [innermost 🐢] Did innermost 🐢.', NULL, 1796076207.9893088, 1796076209.0680783, 1796076205.1661942, 2, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (1, 5, 'Close', '', 'done', 'builtin', 'mock', 'mock-1-5', 1, 'Did Close.', NULL, 1796076209.1094787, 1796076209.6523046, 1796076205.1930053, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (2, 1, 'inner a', '', 'done', 'builtin', 'mock', 'mock-2-1', 1, 'Did inner a.', NULL, 1796076208.042045, 1796076208.5287125, 1796076205.2852247, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (2, 2, 'inner b', '', 'done', NULL, NULL, NULL, 0, 'Subplan 3 completed. Final steps:
- [innermost 🐢] Did innermost 🐢.', NULL, 1796076208.5371106, 1796076209.04584, 1796076205.2975857, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (3, 1, 'innermost 🐢', '', 'done', 'builtin', 'mock', 'mock-3-1', 1, 'Did innermost 🐢.', NULL, 1796076208.6035802, 1796076209.021517, 1796076205.3769898, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (5, 1, 'a', '', 'pending', NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, 1796076211.6491098, 6, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (5, 2, 'b', '', 'pending', NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, 1796076211.7520833, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (6, 1, 'done first', '', 'done', 'builtin', 'mock', 'mock-6-1', 1, 'Did done first.', NULL, 1796076212.1456695, 1796076212.7595212, 1796076211.905159, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (6, 2, 'container', '', 'running', NULL, NULL, NULL, 0, NULL, NULL, 1796076212.7736363, NULL, 1796076211.9441493, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (7, 1, 'slow one', '', 'pending', NULL, 'slow', NULL, 0, NULL, NULL, NULL, NULL, 1796076212.0202346, 5, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (9, 1, 'First', '', 'done', 'builtin', 'mock', 'mock-9-1', 1, 'Did First.', NULL, 1796076213.6670809, 1796076214.1642115, 1796076213.0320966, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (9, 2, 'Stopped by hand', '', 'failed', 'builtin', 'slow', 'mock-9-2', 1, NULL, 'stopped by user', 1796076214.297929, 1796076214.7448957, 1796076213.072114, 5, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (9, 3, 'Waits for the stopped one', '', 'pending', NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, 1796076213.1321077, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (9, 4, 'Runs on and on', '', 'running', 'builtin', 'slow', 'mock-9-4', 0, NULL, NULL, 1796076220.9115534, NULL, 1796076213.1803713, 5, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (9, 5, 'Stopped, then retried', '', 'running', 'builtin', 'slow', 'mock-9-5', 0, NULL, NULL, 1796076220.9202774, NULL, 1796076213.243344, 5, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (9, 6, 'Container', '', 'running', NULL, NULL, NULL, 0, NULL, NULL, 1796076214.2283747, NULL, 1796076213.2881289, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (9, 7, 'Yours', '', 'ready', NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, 1796076213.3435166, NULL, NULL, NULL, NULL, 'user', NULL, NULL, NULL);
INSERT INTO nodes VALUES (9, 8, 'Has no key', '', 'failed', 'builtin', 'by-env', '9fa508b7-d438-423b-9a79-f51886de6227', 1, NULL, 'could not connect to http://127.0.0.1:9/v1 (ConnectError: All connection attempts failed). Is the server running and the base_url right (e.g. http://localhost:11434/v1 for Ollama, http://localhost:1234/v1 for LM Studio)?', 1796076214.381726, 1796076216.3901074, 1796076213.3908076, 4, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (10, 1, 'one', '', 'done', 'builtin', 'mock', 'mock-10-1', 1, 'Did one.', NULL, 1796076214.4199464, 1796076215.1869154, 1796076213.4684653, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (10, 2, 'two', '', 'running', 'builtin', 'slow', 'mock-10-2', 0, NULL, NULL, 1796076220.9281635, NULL, 1796076213.508092, 5, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (10, 3, 'three', '', 'pending', NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, 1796076213.5626051, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (11, 1, 'Page', '', 'done', 'external', '外部 agent', NULL, 1, 'Made the page 頁', NULL, 1796076221.4217403, 1796076221.630718, 1796076221.1160393, NULL, NULL, NULL, NULL, NULL, '["other.txt"]', NULL, NULL);
INSERT INTO nodes VALUES (11, 2, 'More pages', '', 'running', 'external', '外部 agent', NULL, 1, 'Split it up', NULL, 1796076221.695204, NULL, 1796076221.1508121, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (11, 3, 'Broken', '', 'failed', 'external', '外部 agent', NULL, 1, NULL, 'no network 🛑', 1796076221.8491824, 1796076221.9245608, 1796076221.2680855, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (11, 4, 'After broken', '', 'pending', NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, 1796076221.2948372, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (11, 5, 'Claimed', '', 'running', 'external', '外部 agent', NULL, 0, NULL, NULL, 1796076221.9682624, NULL, 1796076221.332029, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (11, 6, 'Nobody''s yet', '', 'ready', NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, 1796076221.3420002, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO nodes VALUES (12, 1, 'About', '', 'ready', NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, 1796076221.7545907, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
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
  test_instructions TEXT,
  isolate_steps INTEGER);
INSERT INTO plans VALUES (1, '翻訳サービス 🚀 Übersicht', 'Ziel: 翻訳

zweite Zeile', NULL, NULL, 'builtin', 1, '/tmp/clearbox-original/app', 6, 1796076205.0387363, NULL, NULL, 3, NULL, NULL);
INSERT INTO plans VALUES (2, 'Inside: 中', '', 1, 4, NULL, 0, NULL, 3, 1796076205.2647321, NULL, NULL, NULL, NULL, NULL);
INSERT INTO plans VALUES (3, 'Deeper', '', 2, 2, NULL, 0, NULL, 2, 1796076205.357828, NULL, NULL, NULL, NULL, NULL);
INSERT INTO plans VALUES (5, 'Not started', '', NULL, NULL, NULL, 0, '/tmp/clearbox-original/later', 3, 1796076211.6326072, 4, 2, NULL, NULL, 1);
INSERT INTO plans VALUES (6, 'Stopped half way', '', NULL, NULL, 'builtin', 0, '/tmp/clearbox-original/stopped', 3, 1796076211.8462858, NULL, NULL, NULL, NULL, NULL);
INSERT INTO plans VALUES (7, 'stopped inside', '', 6, 2, NULL, 0, NULL, 2, 1796076211.9739292, NULL, NULL, NULL, NULL, NULL);
INSERT INTO plans VALUES (8, 'Empty', '', NULL, NULL, NULL, 0, '/tmp/clearbox-original/empty', 1, 1796076212.9520187, NULL, NULL, NULL, NULL, NULL);
INSERT INTO plans VALUES (9, 'Half way', '', NULL, NULL, 'builtin', 1, '/tmp/clearbox-original/api', 9, 1796076213.0003216, NULL, 8, NULL, 'make test  # 試験', NULL);
INSERT INTO plans VALUES (10, 'In the container', '', 9, 6, NULL, 0, NULL, 4, 1796076213.437969, 2, NULL, NULL, NULL, NULL);
INSERT INTO plans VALUES (11, 'Site 🌐', 'Someone else does it', NULL, NULL, 'external', 1, '/tmp/clearbox-original/site', 7, 1796076221.100748, NULL, NULL, NULL, NULL, NULL);
INSERT INTO plans VALUES (12, 'Pages', '', 11, 2, NULL, 0, NULL, 2, 1796076221.7364414, NULL, NULL, NULL, NULL, NULL);
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
INSERT INTO reviews VALUES (1, 1, 'concerns', '見出し is missing ⚠️', '- docs/Plan.md has no heading', '秘书 🤖', 100, 7, 1796076210.9184706);
INSERT INTO reviews VALUES (1, NULL, 'concerns', '見出し is missing ⚠️', '- docs/Plan.md has no heading', '秘书 🤖', 100, 7, 1796076210.9328067);
INSERT INTO reviews VALUES (1, 2, 'error', 'Did node.', NULL, 'mock', NULL, NULL, 1796076211.276302);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES ('agent_profiles', 6);
INSERT INTO sqlite_sequence VALUES ('plans', 12);
INSERT INTO sqlite_sequence VALUES ('events', 242);
