PRAGMA application_id = 0x436c6278;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE changes (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  ts         REAL    NOT NULL,
  root_id    INTEGER NOT NULL,
  plan_id    INTEGER NOT NULL,
  node_id    INTEGER NOT NULL,
  kind       TEXT    NOT NULL,
  shape      INTEGER NOT NULL DEFAULT 0,
  deleted    INTEGER NOT NULL DEFAULT 0,
  tokens_in  INTEGER,
  tokens_out INTEGER
) STRICT;
INSERT INTO "changes" VALUES(1,1.79607538669489407538e+09,0,0,0,'agents',0,0,NULL,NULL);
INSERT INTO "changes" VALUES(2,1.7960753881689510346e+09,1,1,0,'plan',1,0,NULL,NULL);
INSERT INTO "changes" VALUES(3,1.79607538822062611579e+09,1,2,0,'plan',1,0,NULL,NULL);
INSERT INTO "changes" VALUES(4,1.79607538822062611579e+09,1,1,1,'node',0,0,NULL,NULL);
INSERT INTO "changes" VALUES(5,1.79607538825872898105e+09,1,1,0,'plan',0,0,NULL,NULL);
INSERT INTO "changes" VALUES(6,1.79607538825872898105e+09,1,1,1,'node',0,0,NULL,NULL);
INSERT INTO "changes" VALUES(9,1.79607538825872898105e+09,1,2,1,'node',0,0,NULL,NULL);
INSERT INTO "changes" VALUES(11,1.79607538825872898105e+09,1,1,2,'node',0,0,NULL,NULL);
INSERT INTO "changes" VALUES(13,1.79607538825872898105e+09,1,1,4,'node',0,0,NULL,NULL);
INSERT INTO "changes" VALUES(16,1.79607538828586792947e+09,1,2,1,'node',0,0,NULL,NULL);
INSERT INTO "changes" VALUES(19,1.79607538829552197453e+09,1,1,2,'node',0,0,NULL,NULL);
INSERT INTO "changes" VALUES(26,1.79607538840729188921e+09,1,2,1,'tokens',0,0,3675,363);
INSERT INTO "changes" VALUES(29,1.79607538841392707826e+09,1,2,1,'tokens',0,0,5282,666);
INSERT INTO "changes" VALUES(31,1.79607538842070293431e+09,1,2,1,'tokens',0,0,10195,1115);
INSERT INTO "changes" VALUES(35,1.79607538842845392227e+09,1,2,1,'tokens',0,0,13486,1641);
INSERT INTO "changes" VALUES(37,1.79607538842979907989e+09,1,2,1,'node',0,0,NULL,NULL);
INSERT INTO "changes" VALUES(39,1.79607538842979907989e+09,1,1,1,'node',0,0,NULL,NULL);
INSERT INTO "changes" VALUES(43,1.79607538846078896525e+09,1,1,2,'node',0,0,NULL,NULL);
INSERT INTO "changes" VALUES(45,1.79607538846078896525e+09,1,1,3,'node',0,0,NULL,NULL);
CREATE TABLE diffs (
  run_id  TEXT    NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  path    TEXT    NOT NULL,
  change  TEXT    NOT NULL, -- added changed deleted mode
  added   INTEGER NOT NULL DEFAULT 0,
  removed INTEGER NOT NULL DEFAULT 0,
  declared INTEGER NOT NULL DEFAULT 1,
  diff    TEXT    NOT NULL,
  PRIMARY KEY (run_id, path)
) STRICT;
CREATE TABLE edges (
  plan_id   INTEGER NOT NULL,
  from_node INTEGER NOT NULL,
  to_node   INTEGER NOT NULL,
  PRIMARY KEY (plan_id, from_node, to_node),
  FOREIGN KEY (plan_id, from_node) REFERENCES nodes (plan_id, node_id) ON DELETE CASCADE,
  FOREIGN KEY (plan_id, to_node) REFERENCES nodes (plan_id, node_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
INSERT INTO "edges" VALUES(1,2,3);
INSERT INTO "edges" VALUES(1,1,5);
INSERT INTO "edges" VALUES(1,4,5);
CREATE TABLE events (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  plan_id INTEGER NOT NULL,
  node_id INTEGER NOT NULL,
  run_id  TEXT    NOT NULL DEFAULT '',
  run_seq INTEGER NOT NULL DEFAULT 0, -- 0: the engine's own
  ts      REAL    NOT NULL,
  kind    TEXT    NOT NULL,
  data    TEXT    NOT NULL
) STRICT;
INSERT INTO "events" VALUES(7,1,1,'',0,1.79607538825872898105e+09,'status','{"from":"pending","to":"running"}');
INSERT INTO "events" VALUES(8,1,1,'',0,1.79607538825872898105e+09,'system','{"text":"working through subplan 2"}');
INSERT INTO "events" VALUES(10,2,1,'',0,1.79607538825872898105e+09,'status','{"from":"pending","to":"ready"}');
INSERT INTO "events" VALUES(12,1,2,'',0,1.79607538825872898105e+09,'status','{"from":"pending","to":"ready"}');
INSERT INTO "events" VALUES(14,1,4,'',0,1.79607538825872898105e+09,'status','{"from":"pending","to":"ready"}');
INSERT INTO "events" VALUES(15,1,4,'',0,1.79607538825872898105e+09,'system','{"text":"waiting for you: this step is yours; mark it done when it is"}');
INSERT INTO "events" VALUES(17,2,1,'cd01eaf486213048c1a08985',0,1.79607538828586792947e+09,'status','{"from":"ready","to":"running"}');
INSERT INTO "events" VALUES(18,2,1,'cd01eaf486213048c1a08985',0,1.79607538828586792947e+09,'system','{"text":"agent: mock (mock)","agent":{"name":"mock","harness":"mock","model":null,"profile_id":2,"capability":"full","capability_source":"default"}}');
INSERT INTO "events" VALUES(20,1,2,'8bddb06db198985ae1a402fb',0,1.79607538829552197453e+09,'status','{"from":"ready","to":"running"}');
INSERT INTO "events" VALUES(21,1,2,'8bddb06db198985ae1a402fb',0,1.79607538829552197453e+09,'system','{"text":"agent: mock (mock)","agent":{"name":"mock","harness":"mock","model":null,"profile_id":2,"capability":"full","capability_source":"default"}}');
INSERT INTO "events" VALUES(22,2,1,'cd01eaf486213048c1a08985',1,1.79607538839173603052e+09,'system','{"text":"session started","session_id":"1dac212b-7e1f-41a5-e0bb-5b6c6181d89a","model":"mock","cwd":"/srv/project"}');
INSERT INTO "events" VALUES(23,2,1,'cd01eaf486213048c1a08985',2,1.79607538839859199523e+09,'thinking','{"text":"“Inner”: I need the current state first, then the smallest change that does it.","parent_tool_use_id":null}');
INSERT INTO "events" VALUES(24,2,1,'cd01eaf486213048c1a08985',3,1.79607538839863204956e+09,'text','{"text":"Let me have a look at what “Inner” touches.","parent_tool_use_id":null}');
INSERT INTO "events" VALUES(25,2,1,'cd01eaf486213048c1a08985',5,1.79607538840144395826e+09,'tool_use','{"id":"mock-1","name":"Glob","input":{"pattern":"**/*.md"},"parent_tool_use_id":null}');
INSERT INTO "events" VALUES(27,2,1,'cd01eaf486213048c1a08985',6,1.79607538840824604037e+09,'tool_result','{"tool_use_id":"mock-1","content":"README.md\ndocs/guide.md","is_error":false,"parent_tool_use_id":null}');
INSERT INTO "events" VALUES(28,2,1,'cd01eaf486213048c1a08985',8,1.79607538841358494756e+09,'tool_use','{"id":"mock-2","name":"Read","input":{"file_path":"README.md"},"parent_tool_use_id":null}');
INSERT INTO "events" VALUES(30,2,1,'cd01eaf486213048c1a08985',9,1.79607538841757202142e+09,'tool_result','{"tool_use_id":"mock-2","content":"     1\t# Inner\n     2\t\n     3\tThis is what the mock pretends to read.","is_error":false,"parent_tool_use_id":null}');
INSERT INTO "events" VALUES(32,2,1,'cd01eaf486213048c1a08985',11,1.79607538842037796973e+09,'tool_use','{"id":"mock-3","name":"Edit","input":{"file_path":"README.md","new_string":"after","old_string":"before"},"parent_tool_use_id":null}');
INSERT INTO "events" VALUES(33,2,1,'cd01eaf486213048c1a08985',12,1796075388.4242,'tool_result','{"tool_use_id":"mock-3","content":"The mock pretends that it changed README.md.","is_error":false,"parent_tool_use_id":null}');
INSERT INTO "events" VALUES(34,2,1,'cd01eaf486213048c1a08985',13,1.79607538842772793772e+09,'text','{"text":"“Inner” is done. I kept the change small and the checks pass.","parent_tool_use_id":null}');
INSERT INTO "events" VALUES(36,2,1,'cd01eaf486213048c1a08985',0,1.79607538842979907989e+09,'result','{"text":"“Inner” is done. I kept the change small and the checks pass.","is_error":false,"errors":[],"subtype":"success","num_turns":4,"duration_ms":36,"cost_usd":0,"tokens_in":13486,"tokens_out":1641,"session_id":"1dac212b-7e1f-41a5-e0bb-5b6c6181d89a","model":"mock"}');
INSERT INTO "events" VALUES(38,2,1,'cd01eaf486213048c1a08985',0,1.79607538842979907989e+09,'status','{"from":"running","to":"done"}');
INSERT INTO "events" VALUES(40,1,1,'',0,1.79607538842979907989e+09,'status','{"from":"running","to":"done"}');
INSERT INTO "events" VALUES(41,1,2,'8bddb06db198985ae1a402fb',1,1.79607538845520591733e+09,'system','{"text":"session started","session_id":"9f9ee07d-0654-74bb-6fb0-cc390285344a","model":"mock","cwd":"/srv/project"}');
INSERT INTO "events" VALUES(42,1,2,'8bddb06db198985ae1a402fb',0,1.79607538846078896525e+09,'result','{"text":"mock block: line 1: \"{\\\"result\\\":\" is no directive; there are append, ask, big, cost, die, error, fail, flood, hang, kill, limit, line, log, mcp, orphan, overload, panic, read, result, run, sleep, sleep!, spawn, stderr, system, text, thinking, tool, usage, write","is_error":true,"errors":["mock block: line 1: \"{\\\"result\\\":\" is no directive; there are append, ask, big, cost, die, error, fail, flood, hang, kill, limit, line, log, mcp, orphan, overload, panic, read, result, run, sleep, sleep!, spawn, stderr, system, text, thinking, tool, usage, write"],"subtype":"error","num_turns":0,"duration_ms":0,"cost_usd":null,"tokens_in":null,"tokens_out":null,"session_id":"9f9ee07d-0654-74bb-6fb0-cc390285344a","model":"mock"}');
INSERT INTO "events" VALUES(44,1,2,'8bddb06db198985ae1a402fb',0,1.79607538846078896525e+09,'status','{"from":"running","to":"failed"}');
INSERT INTO "events" VALUES(46,1,3,'',0,1.79607538846078896525e+09,'status','{"from":"pending","to":"skipped"}');
CREATE TABLE goals (
  plan_id      INTEGER PRIMARY KEY REFERENCES plans (id) ON DELETE CASCADE,
  goal         TEXT NOT NULL,
  constraints  TEXT NOT NULL DEFAULT '',
  problems     TEXT NOT NULL DEFAULT '[]', -- why the last proposal was refused
  summary      TEXT NOT NULL DEFAULT '',
  tech_stack   TEXT NOT NULL DEFAULT '[]',
  risks        TEXT NOT NULL DEFAULT '[]',
  assumptions  TEXT NOT NULL DEFAULT '[]'
) STRICT;
CREATE TABLE node_files (
  plan_id INTEGER NOT NULL,
  node_id INTEGER NOT NULL,
  key     TEXT    NOT NULL,
  path    TEXT    NOT NULL,
  PRIMARY KEY (plan_id, node_id, key),
  FOREIGN KEY (plan_id, node_id) REFERENCES nodes (plan_id, node_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
INSERT INTO "node_files" VALUES(1,1,'a.txt','a.txt');
INSERT INTO "node_files" VALUES(1,1,'src','src/');
CREATE TABLE nodes (
  plan_id           INTEGER NOT NULL REFERENCES plans (id) ON DELETE CASCADE,
  node_id           INTEGER NOT NULL,
  title             TEXT    NOT NULL,
  description       TEXT    NOT NULL DEFAULT '',
  kind              TEXT    NOT NULL DEFAULT 'agent',
  state             TEXT    NOT NULL DEFAULT 'pending',
  phase             TEXT    NOT NULL DEFAULT '',
  profile_id        INTEGER NOT NULL DEFAULT 0,
  subplan_id        INTEGER NOT NULL DEFAULT 0,
  blockers          INTEGER NOT NULL DEFAULT 0, -- unsatisfied prerequisites; kept by triggers
  task_type         TEXT    NOT NULL DEFAULT '',
  isolation         TEXT    NOT NULL DEFAULT '',
  check_command     TEXT    NOT NULL DEFAULT '',
  max_attempts      INTEGER NOT NULL DEFAULT 0,
  estimate_minutes  REAL    NOT NULL DEFAULT 0,
  criteria          TEXT    NOT NULL DEFAULT '[]',
  result            TEXT,
  error             TEXT,
  rework_brief      TEXT,
  agent_kind        TEXT    NOT NULL DEFAULT '',
  agent_name        TEXT    NOT NULL DEFAULT '',
  agent_done        INTEGER NOT NULL DEFAULT 0,
  session_id        TEXT    NOT NULL DEFAULT '',
  run_id            TEXT    NOT NULL DEFAULT '',
  tokens_in         INTEGER,
  tokens_out        INTEGER,
  cost_usd          REAL,
  attempts          INTEGER NOT NULL DEFAULT 0,
  interruptions     INTEGER NOT NULL DEFAULT 0,
  not_before        REAL    NOT NULL DEFAULT 0,
  skipped_by        TEXT    NOT NULL DEFAULT '',
  skipped_cause     INTEGER NOT NULL DEFAULT 0,
  skip_note         TEXT    NOT NULL DEFAULT '',
  undeclared        TEXT    NOT NULL DEFAULT '[]',
  undeclared_more   INTEGER NOT NULL DEFAULT 0,
  undeclared_shared INTEGER NOT NULL DEFAULT 0,
  created_at        REAL    NOT NULL,
  phase_since       REAL    NOT NULL DEFAULT 0, -- when state or phase changed last
  started_at        REAL    NOT NULL DEFAULT 0,
  finished_at       REAL    NOT NULL DEFAULT 0,
  PRIMARY KEY (plan_id, node_id)
) STRICT;
INSERT INTO "nodes" VALUES(1,1,'First','','agent','done','',0,2,0,'','','',0,0.0,'["it exists"]','Results of the last steps of its subplan:

## 2.1: Inner

“Inner” is done. I kept the change small and the checks pass.',NULL,NULL,'','',0,'','',NULL,NULL,NULL,0,0,0.0,'',0,'','[]',0,0,1.7960753881689510346e+09,1.79607538842979907989e+09,1.79607538825872898105e+09,1.79607538842979907989e+09);
INSERT INTO "nodes" VALUES(1,2,'Fails','```mock
{"result": {"text": "no", "is_error": true}}
```','agent','failed','',0,0,0,'','','',0,0.0,'[]',NULL,'mock block: line 1: "{\"result\":" is no directive; there are append, ask, big, cost, die, error, fail, flood, hang, kill, limit, line, log, mcp, orphan, overload, panic, read, result, run, sleep, sleep!, spawn, stderr, system, text, thinking, tool, usage, write',NULL,'builtin','mock',1,'9f9ee07d-0654-74bb-6fb0-cc390285344a','8bddb06db198985ae1a402fb',NULL,NULL,NULL,1,0,0.0,'',0,'','[]',0,0,1.7960753881689510346e+09,1.79607538846078896525e+09,1.79607538829552197453e+09,1.79607538846078896525e+09);
INSERT INTO "nodes" VALUES(1,3,'After the failure','','agent','skipped','',0,0,1,'','','',0,0.0,'[]',NULL,NULL,NULL,'','',0,'','',NULL,NULL,NULL,0,0,0.0,'failure',2,'','[]',0,0,1.7960753881689510346e+09,1.79607538846078896525e+09,0.0,1.79607538846078896525e+09);
INSERT INTO "nodes" VALUES(1,4,'Yours','','user','ready','',0,0,0,'','','',0,0.0,'[]',NULL,NULL,NULL,'','',0,'','',NULL,NULL,NULL,0,0,0.0,'',0,'','[]',0,0,1.7960753881689510346e+09,1.79607538825872898105e+09,0.0,0.0);
INSERT INTO "nodes" VALUES(1,5,'Last','','agent','pending','',0,0,1,'implement','','',0,0.0,'[]',NULL,NULL,NULL,'','',0,'','',NULL,NULL,NULL,0,0,0.0,'',0,'','[]',0,0,1.7960753881689510346e+09,0.0,0.0,0.0);
INSERT INTO "nodes" VALUES(2,1,'Inner','','agent','done','',0,0,0,'','','',0,0.0,'[]','“Inner” is done. I kept the change small and the checks pass.',NULL,NULL,'builtin','mock',1,'1dac212b-7e1f-41a5-e0bb-5b6c6181d89a','cd01eaf486213048c1a08985',13486,1641,0.0,1,0,0.0,'',0,'','[]',0,0,1.79607538822062611579e+09,1.79607538842979907989e+09,1.79607538828586792947e+09,1.79607538842979907989e+09);
CREATE TABLE phases (
  id      INTEGER PRIMARY KEY,
  plan_id INTEGER NOT NULL,
  node_id INTEGER NOT NULL,
  run_id  TEXT    NOT NULL DEFAULT '',
  state   TEXT    NOT NULL,
  phase   TEXT    NOT NULL DEFAULT '',
  since   REAL    NOT NULL,
  until   REAL    NOT NULL,
  FOREIGN KEY (plan_id, node_id) REFERENCES nodes (plan_id, node_id) ON DELETE CASCADE
) STRICT;
INSERT INTO "phases" VALUES(1,2,1,'','ready','',1.79607538825872898105e+09,1.79607538828586792947e+09);
INSERT INTO "phases" VALUES(2,1,2,'','ready','',1.79607538825872898105e+09,1.79607538829552197453e+09);
INSERT INTO "phases" VALUES(3,2,1,'cd01eaf486213048c1a08985','running','working',1.79607538828586792947e+09,1.79607538842979907989e+09);
INSERT INTO "phases" VALUES(4,1,1,'','running','subplan',1.79607538825872898105e+09,1.79607538842979907989e+09);
INSERT INTO "phases" VALUES(5,1,2,'8bddb06db198985ae1a402fb','running','working',1.79607538829552197453e+09,1.79607538846078896525e+09);
CREATE TABLE plans (
  id                 INTEGER PRIMARY KEY AUTOINCREMENT,
  root_id            INTEGER NOT NULL,
  parent_plan_id     INTEGER NOT NULL DEFAULT 0,
  parent_node_id     INTEGER NOT NULL DEFAULT 0,
  title              TEXT    NOT NULL,
  description        TEXT    NOT NULL DEFAULT '',
  working_directory  TEXT    NOT NULL DEFAULT '',
  folder_key         TEXT    NOT NULL DEFAULT '', -- resolved and case-folded, to find plans in one folder
  default_profile_id INTEGER NOT NULL DEFAULT 0,
  review_profile_id  INTEGER NOT NULL DEFAULT 0,
  executor           TEXT    NOT NULL DEFAULT '',
  started            INTEGER NOT NULL DEFAULT 0,
  started_at         REAL    NOT NULL DEFAULT 0,
  first_started_at   REAL    NOT NULL DEFAULT 0,
  finished_at        REAL    NOT NULL DEFAULT 0,
  approval           TEXT    NOT NULL DEFAULT 'none',
  revision           INTEGER NOT NULL DEFAULT 0,
  next_node_id       INTEGER NOT NULL DEFAULT 1,
  created_at         REAL    NOT NULL,
  -- policies; of top-level plans only
  max_parallel       INTEGER NOT NULL DEFAULT 0,
  test_instructions  TEXT    NOT NULL DEFAULT '',
  isolation          TEXT    NOT NULL DEFAULT '',
  on_failure         TEXT    NOT NULL DEFAULT '',
  review_policy      TEXT    NOT NULL DEFAULT '',
  max_attempts       INTEGER NOT NULL DEFAULT 0,
  max_tokens         INTEGER NOT NULL DEFAULT 0,
  max_cost_usd       REAL    NOT NULL DEFAULT 0,
  check_command      TEXT    NOT NULL DEFAULT '',
  deliver            TEXT    NOT NULL DEFAULT '',
  stall_after        INTEGER NOT NULL DEFAULT 0  -- seconds
) STRICT;
INSERT INTO "plans" VALUES(1,1,0,0,'Upgrade sample 修复','A plan kept from schema 1.','/srv/project','/srv/project',0,0,'builtin',1,1.79607538825872898105e+09,1.79607538825872898105e+09,0.0,'none',0,6,1.7960753881689510346e+09,2,'','','skip','',0,0,0.0,'','',0);
INSERT INTO "plans" VALUES(2,1,1,1,'sub','','','',0,0,'',0,0.0,0.0,0.0,'none',0,2,1.79607538822062611579e+09,0,'','','','',0,0,0.0,'','',0);
CREATE TABLE profile_keys (
  profile_id INTEGER PRIMARY KEY REFERENCES profiles (id) ON DELETE CASCADE,
  api_key    TEXT NOT NULL
) STRICT;
CREATE TABLE profiles (
  id                   INTEGER PRIMARY KEY AUTOINCREMENT,
  name                 TEXT    NOT NULL UNIQUE,
  harness              TEXT    NOT NULL,
  model                TEXT    NOT NULL DEFAULT '',
  base_url             TEXT    NOT NULL DEFAULT '',
  api_key_env          TEXT    NOT NULL DEFAULT '',
  params               TEXT    NOT NULL DEFAULT '{}',
  tools                TEXT    NOT NULL DEFAULT '{}',
  permission_mode      TEXT    NOT NULL DEFAULT '',
  system_append        TEXT    NOT NULL DEFAULT '',
  max_parallel         INTEGER NOT NULL DEFAULT 0,
  description          TEXT    NOT NULL DEFAULT '',
  capability           TEXT    NOT NULL DEFAULT '',
  test_level           TEXT    NOT NULL DEFAULT '',
  isolation            TEXT    NOT NULL DEFAULT '',
  max_tokens_per_run   INTEGER NOT NULL DEFAULT 0,
  max_cost_per_run_usd REAL    NOT NULL DEFAULT 0,
  created_at           REAL    NOT NULL,
  updated_at           REAL    NOT NULL
) STRICT;
INSERT INTO "profiles" VALUES(1,'claude','claude','','','','{}','{}','','',0,'Claude Code with the login of this user','','','',0,0.0,1.79607538669489407538e+09,1.79607538669489407538e+09);
INSERT INTO "profiles" VALUES(2,'mock','mock','','','','{}','{}','','',0,'Plays a run without a model; costs nothing','','','',0,0.0,1.79607538669489407538e+09,1.79607538669489407538e+09);
CREATE TABLE questions (
  id          TEXT    NOT NULL,
  run_id      TEXT    NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  plan_id     INTEGER NOT NULL,
  node_id     INTEGER NOT NULL,
  tool        TEXT    NOT NULL DEFAULT '',
  text        TEXT    NOT NULL DEFAULT '',
  input       TEXT    NOT NULL DEFAULT 'null',
  asked_at    REAL    NOT NULL,
  until       REAL    NOT NULL DEFAULT 0,
  answer      TEXT    NOT NULL DEFAULT '',
  message     TEXT    NOT NULL DEFAULT '',
  answered_at REAL    NOT NULL DEFAULT 0,
  PRIMARY KEY (run_id, id)
) STRICT;
CREATE TABLE results_from (
  plan_id   INTEGER NOT NULL,
  node_id   INTEGER NOT NULL,
  from_node INTEGER NOT NULL,
  PRIMARY KEY (plan_id, node_id, from_node),
  FOREIGN KEY (plan_id, node_id) REFERENCES nodes (plan_id, node_id) ON DELETE CASCADE,
  FOREIGN KEY (plan_id, from_node) REFERENCES nodes (plan_id, node_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
INSERT INTO "results_from" VALUES(1,5,1);
CREATE TABLE reviews (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  plan_id    INTEGER NOT NULL REFERENCES plans (id) ON DELETE CASCADE,
  node_id    INTEGER NOT NULL, -- 0: of the plan
  run_id     TEXT    NOT NULL DEFAULT '',
  judged_run TEXT    NOT NULL DEFAULT '',
  verdict    TEXT    NOT NULL,
  summary    TEXT    NOT NULL DEFAULT '',
  findings   TEXT,
  criteria   TEXT    NOT NULL DEFAULT '[]', -- a judge's verdict on each
  check_exit INTEGER,
  check_text TEXT    NOT NULL DEFAULT '',
  agent_name TEXT    NOT NULL DEFAULT '',
  tokens_in  INTEGER,
  tokens_out INTEGER,
  dropped    INTEGER NOT NULL DEFAULT 0, -- its node ran again
  created_at REAL    NOT NULL
) STRICT;
CREATE TABLE revisions (
  plan_id    INTEGER NOT NULL REFERENCES plans (id) ON DELETE CASCADE,
  revision   INTEGER NOT NULL,
  proposal   TEXT    NOT NULL, -- the whole plan as it stood, JSON
  author     TEXT    NOT NULL, -- planner, person
  feedback   TEXT    NOT NULL DEFAULT '', -- what was asked for before it
  created_at REAL    NOT NULL,
  decided    TEXT    NOT NULL DEFAULT '', -- approved rejected
  decided_at REAL    NOT NULL DEFAULT 0,
  reason     TEXT    NOT NULL DEFAULT '',
  PRIMARY KEY (plan_id, revision)
) STRICT;
CREATE TABLE runs (
  id          TEXT    PRIMARY KEY NOT NULL,
  plan_id     INTEGER NOT NULL REFERENCES plans (id) ON DELETE CASCADE,
  node_id     INTEGER NOT NULL, -- 0: about the whole plan
  number      INTEGER NOT NULL,
  kind        TEXT    NOT NULL,
  outcome     TEXT    NOT NULL DEFAULT '', -- empty: open
  cause       TEXT    NOT NULL DEFAULT '',
  profile_id  INTEGER NOT NULL DEFAULT 0,
  agent_name  TEXT    NOT NULL DEFAULT '',
  harness     TEXT    NOT NULL DEFAULT '',
  model       TEXT    NOT NULL DEFAULT '',
  capability  TEXT    NOT NULL DEFAULT '',
  session_id  TEXT    NOT NULL DEFAULT '',
  prompt      TEXT    NOT NULL DEFAULT '',
  system_id   INTEGER NOT NULL DEFAULT 0, -- of its system text
  token_hash  BLOB,
  token_role  TEXT    NOT NULL DEFAULT '',
  isolation   TEXT    NOT NULL DEFAULT '',
  worktree    TEXT    NOT NULL DEFAULT '',
  base_tree   TEXT    NOT NULL DEFAULT '',
  end_tree    TEXT    NOT NULL DEFAULT '',
  attach      BLOB,
  acked       INTEGER NOT NULL DEFAULT 0,
  tokens_in   INTEGER,
  tokens_out  INTEGER,
  cost_usd    REAL,
  num_turns   INTEGER NOT NULL DEFAULT 0,
  result      TEXT,
  stopping    INTEGER NOT NULL DEFAULT 0,
  started_at  REAL    NOT NULL,
  finished_at REAL    NOT NULL DEFAULT 0,
  UNIQUE (plan_id, node_id, number)
) STRICT;
INSERT INTO "runs" VALUES('cd01eaf486213048c1a08985',2,1,1,'step','done','',2,'mock','mock','mock','full','1dac212b-7e1f-41a5-e0bb-5b6c6181d89a','# The overall goal: Upgrade sample 修复

A plan kept from schema 1.

# Where your step lies

The goal is split into steps, and some of those into smaller ones. This is the way down to yours:

## Step 1.1: First

## The subplan with your step, plan 2: sub

# Your step, 2.1: Inner

plan_id 2, node_id 1

## Task

There is no description: the title says it all.

## Files

No files are declared for this step, so nothing keeps other steps from writing where you write. Change only what the task names or plainly needs. You may read all files.
',7089778014606678322,NULL,'worker','','','','',NULL,14,13486,1641,0.0,4,'“Inner” is done. I kept the change small and the checks pass.',0,1.79607538828586792947e+09,1.79607538842979907989e+09);
INSERT INTO "runs" VALUES('8bddb06db198985ae1a402fb',1,2,1,'step','failed','mock block: line 1: "{\"result\":" is no directive; there are append, ask, big, cost, die, error, fail, flood, hang, kill, limit, line, log, mcp, orphan, overload, panic, read, result, run, sleep, sleep!, spawn, stderr, system, text, thinking, tool, usage, write',2,'mock','mock','mock','full','9f9ee07d-0654-74bb-6fb0-cc390285344a','# The overall goal: Upgrade sample 修复

A plan kept from schema 1.

# The other steps of this plan

For orientation only: they are not yours to do.

- 1 [running] First (split into plan 2)
- 3 [pending] After the failure
- 4 [waits for a person] Yours (a person does it)
- 5 [pending] Last

# Your step, 1.2: Fails

plan_id 1, node_id 2

## Task

```mock
{"result": {"text": "no", "is_error": true}}
```

## Files

No files are declared for this step, so nothing keeps other steps from writing where you write. Change only what the task names or plainly needs. You may read all files.
',7089778014606678322,NULL,'worker','','','','',NULL,1,NULL,NULL,NULL,0,'mock block: line 1: "{\"result\":" is no directive; there are append, ask, big, cost, die, error, fail, flood, hang, kill, limit, line, log, mcp, orphan, overload, panic, read, result, run, sleep, sleep!, spawn, stderr, system, text, thinking, tool, usage, write',0,1.79607538829552197453e+09,1.79607538846078896525e+09);
CREATE TABLE settings (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL -- JSON
) STRICT, WITHOUT ROWID;
CREATE TABLE spend (
  id         INTEGER PRIMARY KEY,
  root_id    INTEGER NOT NULL,
  plan_id    INTEGER NOT NULL,
  node_id    INTEGER NOT NULL,
  run_id     TEXT    NOT NULL UNIQUE,
  kind       TEXT    NOT NULL,
  profile_id INTEGER NOT NULL DEFAULT 0,
  tokens_in  INTEGER NOT NULL DEFAULT 0,
  tokens_out INTEGER NOT NULL DEFAULT 0,
  cost_usd   REAL,   -- NULL: not known
  ts         REAL    NOT NULL
) STRICT;
INSERT INTO "spend" VALUES(1,1,2,1,'cd01eaf486213048c1a08985','step',2,13486,1641,0.0,1.79607538842979907989e+09);
CREATE TABLE system_texts (
  id   INTEGER PRIMARY KEY, -- from a hash of the text
  text TEXT NOT NULL
) STRICT;
INSERT INTO "system_texts" VALUES(7089778014606678322,'You are a worker of Clearbox. Clearbox carries out a plan whose steps are done by separate sessions; you are the session of one step, which the prompt names. You work alone: nobody reads along to answer questions, so decide what the step leaves open.

## How to work

- Do this one step. The other steps have sessions of their own, and some may be at work right now in the same folder.
- Trust the plan. What it says of files, decisions and finished steps holds: do not check it.
- Do not explore. Read what the step needs, and start.
- Change only the files that the step is allowed to write. If it needs another one, leave that alone and say so at the end.
- What your own change makes wrong in those files, you put right: callers, tests, comments, documents. Faults that were there before are not yours; mention them.
- Keep it simple: the least code that does the job well, in the style that is there. Add nothing that was not asked for.
- Leave version control alone (no commit, branch, stash or reset) unless the step asks for it.

## Tests

Run the tests that cover what you changed, and put right what fails because of it. Add a test only for new behaviour that none covers yet.

How tests are run here, you work out from the repository: its documents, build files, CI and the tests that exist. Use what you find there and set up nothing new.

A server that you start takes a free port, never 18931: Clearbox itself listens there. Stop it when you are done with it.

## How to end

Your last message is the result of the step. Make it a short summary in plain words: what you did, which files changed, what you decided that others must follow, what is left open. Later steps may be given this text and nothing else of your session.

If the step cannot be done as described, do no other work in its place: say what stands in the way.

## When the step is too big

You have tools of Clearbox (your tool list may show their names with a prefix). With submit_plan, and the plan_id and node_id of your step as parent_plan_id and parent_node_id, you give it a subplan: nodes with descriptions, the files that each will write, and edges for their order. Do this only when the step really falls into parts that are better done apart; most steps do not. Each part is done by a new session that knows its own description and the titles around it, so a description must say everything that the part needs.

The subplan starts when your session has ended. So do your own share, submit the rest, and end: do not do the parts yourself and do not wait for them. Your step is done when they are, and its result is your last message followed by theirs.

These tools reach the subplan of your own step and what is nested in it, nothing else, and they take no agent: the parts run on the same one as you. report_progress tells those who watch what you are doing.
');
CREATE TABLE tallies (
  plan_id INTEGER NOT NULL,
  state   TEXT    NOT NULL,
  leaf    INTEGER NOT NULL, -- has no subplan
  mark    INTEGER NOT NULL, -- ready: waits for a person; skipped: by a failure
  n       INTEGER NOT NULL,
  PRIMARY KEY (plan_id, state, leaf, mark)
) STRICT, WITHOUT ROWID;
INSERT INTO "tallies" VALUES(1,'done',0,0,1);
INSERT INTO "tallies" VALUES(1,'failed',1,0,1);
INSERT INTO "tallies" VALUES(1,'pending',0,0,0);
INSERT INTO "tallies" VALUES(1,'pending',1,0,1);
INSERT INTO "tallies" VALUES(1,'ready',1,0,0);
INSERT INTO "tallies" VALUES(1,'ready',1,1,1);
INSERT INTO "tallies" VALUES(1,'running',0,0,0);
INSERT INTO "tallies" VALUES(1,'running',1,0,0);
INSERT INTO "tallies" VALUES(1,'skipped',1,1,1);
INSERT INTO "tallies" VALUES(2,'done',1,0,1);
INSERT INTO "tallies" VALUES(2,'pending',1,0,0);
INSERT INTO "tallies" VALUES(2,'ready',1,0,0);
INSERT INTO "tallies" VALUES(2,'running',1,0,0);
CREATE UNIQUE INDEX plans_parent ON plans (parent_plan_id, parent_node_id) WHERE parent_plan_id > 0;
CREATE INDEX plans_root ON plans (root_id);
CREATE INDEX plans_agent ON plans (default_profile_id) WHERE default_profile_id > 0;
CREATE INDEX plans_reviewer ON plans (review_profile_id) WHERE review_profile_id > 0;
CREATE INDEX plans_started ON plans (started) WHERE started = 1;
CREATE INDEX nodes_state ON nodes (plan_id, state, node_id);
CREATE INDEX nodes_startable ON nodes (plan_id, node_id) WHERE state = 'pending' AND blockers = 0;
CREATE INDEX nodes_profile ON nodes (profile_id) WHERE profile_id > 0;
CREATE INDEX edges_to ON edges (plan_id, to_node);
CREATE INDEX results_from_source ON results_from (plan_id, from_node);
CREATE TRIGGER nodes_added AFTER INSERT ON nodes BEGIN
  INSERT INTO tallies VALUES (new.plan_id, new.state, new.subplan_id = 0,
    (new.state = 'ready' AND new.kind = 'user') OR (new.state = 'skipped' AND new.skipped_by = 'failure'), 1)
  ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER nodes_removed AFTER DELETE ON nodes BEGIN
  UPDATE tallies SET n = n - 1 WHERE plan_id = old.plan_id AND state = old.state AND leaf = (old.subplan_id = 0)
    AND mark = ((old.state = 'ready' AND old.kind = 'user') OR (old.state = 'skipped' AND old.skipped_by = 'failure'));
END;
CREATE TRIGGER nodes_moved AFTER UPDATE OF state, kind, skipped_by, subplan_id ON nodes
WHEN old.state <> new.state OR old.kind <> new.kind OR old.skipped_by <> new.skipped_by
  OR (old.subplan_id = 0) <> (new.subplan_id = 0) BEGIN
  UPDATE tallies SET n = n - 1 WHERE plan_id = old.plan_id AND state = old.state AND leaf = (old.subplan_id = 0)
    AND mark = ((old.state = 'ready' AND old.kind = 'user') OR (old.state = 'skipped' AND old.skipped_by = 'failure'));
  INSERT INTO tallies VALUES (new.plan_id, new.state, new.subplan_id = 0,
    (new.state = 'ready' AND new.kind = 'user') OR (new.state = 'skipped' AND new.skipped_by = 'failure'), 1)
  ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER nodes_satisfied AFTER UPDATE OF state, skipped_by ON nodes
WHEN (old.state = 'done' OR (old.state = 'skipped' AND old.skipped_by = 'person'))
  <> (new.state = 'done' OR (new.state = 'skipped' AND new.skipped_by = 'person')) BEGIN
  UPDATE nodes SET blockers = blockers
    + CASE WHEN new.state = 'done' OR (new.state = 'skipped' AND new.skipped_by = 'person') THEN -1 ELSE 1 END
  WHERE plan_id = new.plan_id
    AND node_id IN (SELECT to_node FROM edges WHERE plan_id = new.plan_id AND from_node = new.node_id);
END;
CREATE TRIGGER edges_added AFTER INSERT ON edges BEGIN
  UPDATE nodes SET blockers = blockers + 1 WHERE plan_id = new.plan_id AND node_id = new.to_node
    AND EXISTS (SELECT 1 FROM nodes WHERE plan_id = new.plan_id AND node_id = new.from_node
      AND NOT (state = 'done' OR (state = 'skipped' AND skipped_by = 'person')));
END;
CREATE TRIGGER edges_removed AFTER DELETE ON edges BEGIN
  UPDATE nodes SET blockers = blockers - 1 WHERE plan_id = old.plan_id AND node_id = old.to_node
    AND EXISTS (SELECT 1 FROM nodes WHERE plan_id = old.plan_id AND node_id = old.from_node
      AND NOT (state = 'done' OR (state = 'skipped' AND skipped_by = 'person')));
END;
CREATE INDEX runs_open ON runs (outcome) WHERE outcome = '';
CREATE UNIQUE INDEX runs_token ON runs (token_hash) WHERE token_hash IS NOT NULL;
CREATE INDEX events_node ON events (plan_id, node_id, id);
CREATE UNIQUE INDEX events_run ON events (run_id, run_seq) WHERE run_seq > 0;
CREATE INDEX phases_node ON phases (plan_id, node_id, since);
CREATE TRIGGER nodes_phase_left AFTER UPDATE OF state, phase ON nodes
WHEN old.state IN ('ready', 'running') AND (old.state <> new.state OR old.phase <> new.phase) BEGIN
  INSERT INTO phases (plan_id, node_id, run_id, state, phase, since, until)
  VALUES (old.plan_id, old.node_id, old.run_id, old.state, old.phase, old.phase_since, new.phase_since);
END;
CREATE INDEX questions_open ON questions (answered_at) WHERE answered_at = 0;
CREATE INDEX reviews_node ON reviews (plan_id, node_id);
CREATE INDEX spend_root ON spend (root_id);
CREATE INDEX spend_profile ON spend (profile_id);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('profiles',2);
INSERT INTO "sqlite_sequence" VALUES('changes',45);
INSERT INTO "sqlite_sequence" VALUES('plans',2);
INSERT INTO "sqlite_sequence" VALUES('events',46);
COMMIT;
