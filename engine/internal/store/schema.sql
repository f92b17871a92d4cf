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

CREATE TABLE deliveries (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  key        TEXT    NOT NULL UNIQUE DEFAULT (lower(hex(randomblob(12)))), -- receivers know it by this
  hook_id    INTEGER NOT NULL,
  event      TEXT    NOT NULL,
  reason     TEXT    NOT NULL DEFAULT '', -- what is waited for
  root_id    INTEGER NOT NULL DEFAULT 0,
  plan_id    INTEGER NOT NULL DEFAULT 0,
  node_id    INTEGER NOT NULL DEFAULT 0,
  title      TEXT    NOT NULL DEFAULT '', -- of the plan
  step       TEXT    NOT NULL DEFAULT '', -- title of the step
  text       TEXT    NOT NULL DEFAULT '',
  created_at REAL    NOT NULL,
  next_at    REAL    NOT NULL,            -- when it is tried next; 0: it is over
  attempts   INTEGER NOT NULL DEFAULT 0,
  tried_at   REAL    NOT NULL DEFAULT 0,
  status     INTEGER NOT NULL DEFAULT 0,  -- of the last answer; 0: there was none
  fault      TEXT    NOT NULL DEFAULT ''  -- of the last attempt; empty and tried: it was taken
) STRICT;

CREATE INDEX deliveries_due ON deliveries (next_at) WHERE next_at > 0;

CREATE INDEX deliveries_hook ON deliveries (hook_id, id);

CREATE TABLE diffs (
  run_id  TEXT    NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  path    TEXT    NOT NULL,
  change  TEXT    NOT NULL, -- added changed deleted mode
  added   INTEGER NOT NULL DEFAULT 0,
  removed INTEGER NOT NULL DEFAULT 0,
  declared INTEGER NOT NULL DEFAULT 1,
  diff    TEXT    NOT NULL, is_binary INTEGER NOT NULL DEFAULT 0, is_cut INTEGER NOT NULL DEFAULT 0, note TEXT NOT NULL DEFAULT '',
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

CREATE INDEX edges_to ON edges (plan_id, to_node);

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

CREATE INDEX events_node ON events (plan_id, node_id, id);

CREATE UNIQUE INDEX events_run ON events (run_id, run_seq) WHERE run_seq > 0;

CREATE TABLE goals (
  plan_id      INTEGER PRIMARY KEY REFERENCES plans (id) ON DELETE CASCADE,
  goal         TEXT NOT NULL,
  constraints  TEXT NOT NULL DEFAULT '',
  problems     TEXT NOT NULL DEFAULT '[]', -- why the last proposal was refused
  summary      TEXT NOT NULL DEFAULT '',
  tech_stack   TEXT NOT NULL DEFAULT '[]',
  risks        TEXT NOT NULL DEFAULT '[]',
  assumptions  TEXT NOT NULL DEFAULT '[]'
, profile_id INTEGER NOT NULL DEFAULT 0, rounds INTEGER NOT NULL DEFAULT 0, feedback TEXT NOT NULL DEFAULT '') STRICT;

CREATE TABLE limits (
  profile_id INTEGER PRIMARY KEY REFERENCES profiles (id) ON DELETE CASCADE,
  until      REAL    NOT NULL,
  times      INTEGER NOT NULL DEFAULT 1, -- in a row
  text       TEXT    NOT NULL DEFAULT ''
) STRICT;

CREATE TABLE node_files (
  plan_id INTEGER NOT NULL,
  node_id INTEGER NOT NULL,
  key     TEXT    NOT NULL,
  path    TEXT    NOT NULL,
  PRIMARY KEY (plan_id, node_id, key),
  FOREIGN KEY (plan_id, node_id) REFERENCES nodes (plan_id, node_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

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
  finished_at       REAL    NOT NULL DEFAULT 0, attempts_before INTEGER NOT NULL DEFAULT 0, stalled_at REAL NOT NULL DEFAULT 0, start_cause TEXT NOT NULL DEFAULT '', own_brief TEXT NOT NULL DEFAULT '', brief_grown INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (plan_id, node_id)
) STRICT;

CREATE INDEX nodes_asking ON nodes (plan_id) WHERE state = 'running' AND (phase = 'needs_person' OR stalled_at > 0);

CREATE INDEX nodes_profile ON nodes (profile_id) WHERE profile_id > 0;

CREATE INDEX nodes_startable ON nodes (plan_id, node_id) WHERE state = 'pending' AND blockers = 0;

CREATE INDEX nodes_state ON nodes (plan_id, state, node_id);

CREATE TRIGGER nodes_added AFTER INSERT ON nodes BEGIN
  INSERT INTO tallies VALUES (new.plan_id, new.state, new.subplan_id = 0,
    (new.state = 'ready' AND new.kind = 'user') OR (new.state = 'skipped' AND new.skipped_by = 'failure'), 1)
  ON CONFLICT DO UPDATE SET n = n + 1;
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

CREATE TRIGGER nodes_phase_left AFTER UPDATE OF state, phase ON nodes
WHEN old.state IN ('ready', 'running') AND (old.state <> new.state OR old.phase <> new.phase)
  AND new.phase_since > old.phase_since BEGIN
  INSERT INTO phases (plan_id, node_id, run_id, state, phase, since, until)
  VALUES (old.plan_id, old.node_id, old.run_id, old.state, old.phase, old.phase_since, new.phase_since);
END;

CREATE TRIGGER nodes_removed AFTER DELETE ON nodes BEGIN
  UPDATE tallies SET n = n - 1 WHERE plan_id = old.plan_id AND state = old.state AND leaf = (old.subplan_id = 0)
    AND mark = ((old.state = 'ready' AND old.kind = 'user') OR (old.state = 'skipped' AND old.skipped_by = 'failure'));
END;

CREATE TRIGGER nodes_satisfied AFTER UPDATE OF state, skipped_by ON nodes
WHEN (old.state = 'done' OR (old.state = 'skipped' AND old.skipped_by = 'person'))
  <> (new.state = 'done' OR (new.state = 'skipped' AND new.skipped_by = 'person')) BEGIN
  UPDATE nodes SET blockers = blockers
    + CASE WHEN new.state = 'done' OR (new.state = 'skipped' AND new.skipped_by = 'person') THEN -1 ELSE 1 END
  WHERE plan_id = new.plan_id
    AND node_id IN (SELECT to_node FROM edges WHERE plan_id = new.plan_id AND from_node = new.node_id);
END;

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

CREATE INDEX phases_node ON phases (plan_id, node_id, since);

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
, spent_tokens INTEGER NOT NULL DEFAULT 0, spent_cost_usd REAL NOT NULL DEFAULT 0, spent_uncosted INTEGER NOT NULL DEFAULT 0, piecemeal INTEGER NOT NULL DEFAULT 0) STRICT;

CREATE INDEX plans_agent ON plans (default_profile_id) WHERE default_profile_id > 0;

CREATE UNIQUE INDEX plans_parent ON plans (parent_plan_id, parent_node_id) WHERE parent_plan_id > 0;

CREATE INDEX plans_reviewer ON plans (review_profile_id) WHERE review_profile_id > 0;

CREATE INDEX plans_root ON plans (root_id);

CREATE INDEX plans_started ON plans (started) WHERE started = 1;

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

CREATE TABLE prompts (
  run_id TEXT PRIMARY KEY NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  text   TEXT NOT NULL
) STRICT;

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

CREATE INDEX questions_open ON questions (answered_at) WHERE answered_at = 0;

CREATE TABLE results_from (
  plan_id   INTEGER NOT NULL,
  node_id   INTEGER NOT NULL,
  from_node INTEGER NOT NULL,
  PRIMARY KEY (plan_id, node_id, from_node),
  FOREIGN KEY (plan_id, node_id) REFERENCES nodes (plan_id, node_id) ON DELETE CASCADE,
  FOREIGN KEY (plan_id, from_node) REFERENCES nodes (plan_id, node_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE INDEX results_from_source ON results_from (plan_id, from_node);

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
, state TEXT NOT NULL DEFAULT 'done', profile_id INTEGER NOT NULL DEFAULT 0, urgent INTEGER NOT NULL DEFAULT 0, tries INTEGER NOT NULL DEFAULT 0, kind TEXT NOT NULL DEFAULT 'review', asked INTEGER NOT NULL DEFAULT 0, fault TEXT NOT NULL DEFAULT '') STRICT;

CREATE INDEX reviews_node ON reviews (plan_id, node_id);

CREATE INDEX reviews_open ON reviews (state) WHERE state <> 'done';

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
  finished_at REAL    NOT NULL DEFAULT 0, base_took REAL NOT NULL DEFAULT 0, end_took REAL NOT NULL DEFAULT 0, left_out TEXT NOT NULL DEFAULT '[]', start_cause TEXT NOT NULL DEFAULT '', max_tokens INTEGER NOT NULL DEFAULT 0,
  UNIQUE (plan_id, node_id, number)
) STRICT;

CREATE INDEX runs_finished ON runs (finished_at) WHERE finished_at > 0;

CREATE INDEX runs_open ON runs (outcome) WHERE outcome = '';

CREATE UNIQUE INDEX runs_token ON runs (token_hash) WHERE token_hash IS NOT NULL;

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
, ended INTEGER NOT NULL DEFAULT 1) STRICT;

CREATE INDEX spend_profile ON spend (profile_id);

CREATE INDEX spend_root ON spend (root_id);

CREATE TRIGGER spend_added AFTER INSERT ON spend BEGIN
  UPDATE plans SET spent_tokens = spent_tokens + new.tokens_in + new.tokens_out,
    spent_cost_usd = spent_cost_usd + COALESCE(new.cost_usd, 0),
    spent_uncosted = spent_uncosted + (new.ended = 1 AND new.cost_usd IS NULL)
  WHERE id = new.root_id;
END;

CREATE TRIGGER spend_grown AFTER UPDATE ON spend BEGIN
  UPDATE plans SET spent_tokens = spent_tokens + new.tokens_in + new.tokens_out - old.tokens_in - old.tokens_out,
    spent_cost_usd = spent_cost_usd + COALESCE(new.cost_usd, 0) - COALESCE(old.cost_usd, 0),
    spent_uncosted = spent_uncosted + (new.ended = 1 AND new.cost_usd IS NULL) - (old.ended = 1 AND old.cost_usd IS NULL)
  WHERE id = new.root_id;
END;

CREATE TABLE system_texts (
  id   INTEGER PRIMARY KEY, -- from a hash of the text
  text TEXT NOT NULL
) STRICT;

CREATE TABLE tallies (
  plan_id INTEGER NOT NULL,
  state   TEXT    NOT NULL,
  leaf    INTEGER NOT NULL, -- has no subplan
  mark    INTEGER NOT NULL, -- ready: waits for a person; skipped: by a failure
  n       INTEGER NOT NULL,
  PRIMARY KEY (plan_id, state, leaf, mark)
) STRICT, WITHOUT ROWID;

CREATE TABLE trims (
  plan_id INTEGER PRIMARY KEY REFERENCES plans (id) ON DELETE CASCADE,
  at      REAL    NOT NULL,
  seq     INTEGER NOT NULL
) STRICT;
