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
