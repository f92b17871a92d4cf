-- What keeps steps waiting: providers' limits, budgets, silence. Reviews that are
-- on their way, and what snapshots say.

ALTER TABLE nodes ADD COLUMN attempts_before INTEGER NOT NULL DEFAULT 0; -- made before a person asked for another
ALTER TABLE nodes ADD COLUMN stalled_at REAL NOT NULL DEFAULT 0;         -- its agent is silent; 0: it is not

ALTER TABLE plans ADD COLUMN spent_tokens INTEGER NOT NULL DEFAULT 0;    -- of top-level plans; kept by triggers
ALTER TABLE plans ADD COLUMN spent_cost_usd REAL NOT NULL DEFAULT 0;
ALTER TABLE plans ADD COLUMN spent_uncosted INTEGER NOT NULL DEFAULT 0;  -- ended runs whose cost nobody knows

-- A provider refuses the work of a profile until a moment, and until a run has
-- shown after it that work is taken again.
CREATE TABLE limits (
  profile_id INTEGER PRIMARY KEY REFERENCES profiles (id) ON DELETE CASCADE,
  until      REAL    NOT NULL,
  times      INTEGER NOT NULL DEFAULT 1, -- in a row
  text       TEXT    NOT NULL DEFAULT ''
) STRICT;

-- The ledger has runs that are still open from now on.
ALTER TABLE spend ADD COLUMN ended INTEGER NOT NULL DEFAULT 1;

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

UPDATE plans SET
  spent_tokens = (SELECT COALESCE(SUM(tokens_in + tokens_out), 0) FROM spend WHERE root_id = plans.id),
  spent_cost_usd = (SELECT COALESCE(SUM(cost_usd), 0) FROM spend WHERE root_id = plans.id),
  spent_uncosted = (SELECT COUNT(*) FROM spend WHERE root_id = plans.id AND cost_usd IS NULL)
WHERE parent_plan_id = 0;

-- No row for no time; and what a ready node waited for may be told when it starts.
DROP TRIGGER nodes_phase_left;
CREATE TRIGGER nodes_phase_left AFTER UPDATE OF state, phase ON nodes
WHEN old.state IN ('ready', 'running') AND (old.state <> new.state OR old.phase <> new.phase)
  AND new.phase_since > old.phase_since BEGIN
  INSERT INTO phases (plan_id, node_id, run_id, state, phase, since, until)
  VALUES (old.plan_id, old.node_id, old.run_id, old.state, old.phase, old.phase_since, new.phase_since);
END;

-- A review is asked for, runs, and has its verdict.
ALTER TABLE reviews ADD COLUMN state TEXT NOT NULL DEFAULT 'done';     -- checking queued running done
ALTER TABLE reviews ADD COLUMN profile_id INTEGER NOT NULL DEFAULT 0;  -- who is to do it
ALTER TABLE reviews ADD COLUMN urgent INTEGER NOT NULL DEFAULT 0;      -- a person asked for it
ALTER TABLE reviews ADD COLUMN tries INTEGER NOT NULL DEFAULT 0;       -- agents lost over it
ALTER TABLE reviews ADD COLUMN kind TEXT NOT NULL DEFAULT 'review';    -- review judge
ALTER TABLE reviews ADD COLUMN asked INTEGER NOT NULL DEFAULT 0;       -- replies of a judge that could not be used
ALTER TABLE reviews ADD COLUMN fault TEXT NOT NULL DEFAULT '';         -- what was wrong with the last one
CREATE INDEX reviews_open ON reviews (state) WHERE state <> 'done';

ALTER TABLE runs ADD COLUMN base_took REAL NOT NULL DEFAULT 0; -- seconds that its snapshots took
ALTER TABLE runs ADD COLUMN end_took REAL NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN left_out TEXT NOT NULL DEFAULT '[]'; -- what they could not take in: path and why

-- The exact prompts of runs, apart from what changes about a run.
CREATE TABLE prompts (
  run_id TEXT PRIMARY KEY NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  text   TEXT NOT NULL
) STRICT;
INSERT INTO prompts SELECT id, prompt FROM runs WHERE prompt <> '';
ALTER TABLE runs DROP COLUMN prompt;

ALTER TABLE diffs ADD COLUMN is_binary INTEGER NOT NULL DEFAULT 0;
ALTER TABLE diffs ADD COLUMN is_cut INTEGER NOT NULL DEFAULT 0; -- diff ends before the change does
ALTER TABLE diffs ADD COLUMN note TEXT NOT NULL DEFAULT '';     -- why there is no diff

-- Who ran at the same time as another.
CREATE INDEX runs_finished ON runs (finished_at) WHERE finished_at > 0;

-- Planning: by whom, how often a proposal was refused, what was asked for.
ALTER TABLE goals ADD COLUMN profile_id INTEGER NOT NULL DEFAULT 0;
ALTER TABLE goals ADD COLUMN rounds INTEGER NOT NULL DEFAULT 0;
ALTER TABLE goals ADD COLUMN feedback TEXT NOT NULL DEFAULT '';

-- Why a run began, and what it may use; runs keep what they were started with.
ALTER TABLE runs ADD COLUMN start_cause TEXT NOT NULL DEFAULT '';      -- first, rework, limit over …
ALTER TABLE runs ADD COLUMN max_tokens INTEGER NOT NULL DEFAULT 0;     -- that its agent may use; 0: no limit

-- Why a step will run again; and of its brief the part that a person wrote, once
-- failed attempts have added to it.
ALTER TABLE nodes ADD COLUMN start_cause TEXT NOT NULL DEFAULT '';
ALTER TABLE nodes ADD COLUMN own_brief TEXT NOT NULL DEFAULT '';
ALTER TABLE nodes ADD COLUMN brief_grown INTEGER NOT NULL DEFAULT 0;

-- A subplan that its step's agent puts together piece by piece: only that agent
-- knows when it is whole.
ALTER TABLE plans ADD COLUMN piecemeal INTEGER NOT NULL DEFAULT 0;

-- Running steps that wait for a person: for a verdict, or because they are silent.
CREATE INDEX nodes_asking ON nodes (plan_id) WHERE state = 'running' AND (phase = 'needs_person' OR stalled_at > 0);

-- What is on its way to a webhook, and how that went. The texts are those of the
-- moment: a plan may be gone when its end is told.
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

-- Plans whose transcripts and diffs were removed, up to which event.
CREATE TABLE trims (
  plan_id INTEGER PRIMARY KEY REFERENCES plans (id) ON DELETE CASCADE,
  at      REAL    NOT NULL,
  seq     INTEGER NOT NULL
) STRICT;
