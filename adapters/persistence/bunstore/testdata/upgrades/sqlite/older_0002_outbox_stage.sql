-- How far an entry of the outbox has got: 0 is open, 1 abandoned, 2 succeeded. No index holds anything that a claim
-- changes.
ALTER TABLE habeas_outbox ADD COLUMN stage INTEGER
    GENERATED ALWAYS AS (CASE status WHEN 'succeeded' THEN 2 WHEN 'abandoned' THEN 1 ELSE 0 END) VIRTUAL;

DROP INDEX habeas_outbox_claimable;

DROP INDEX habeas_outbox_subject;

DROP INDEX habeas_outbox_status;

CREATE INDEX habeas_outbox_open ON habeas_outbox (enqueued_at, entry_id) WHERE stage = 0;

CREATE INDEX habeas_outbox_unfinished ON habeas_outbox (subject_id, operation) WHERE stage < 2;

CREATE INDEX habeas_outbox_settled ON habeas_outbox (stage, enqueued_at, entry_id) WHERE stage > 0;
