-- How far an entry of the outbox has got: 0 is open, 1 abandoned, 2 succeeded. No index holds anything that a claim
-- changes, and each page has room for the entries as they are when claimed: a claim then writes nothing but its rows.
ALTER TABLE habeas_outbox SET (fillfactor = 50);

ALTER TABLE habeas_outbox ADD COLUMN stage SMALLINT NOT NULL
    GENERATED ALWAYS AS (CASE status WHEN 'succeeded' THEN 2 WHEN 'abandoned' THEN 1 ELSE 0 END) STORED;

DROP INDEX habeas_outbox_claimable;

DROP INDEX habeas_outbox_subject;

DROP INDEX habeas_outbox_status;

CREATE INDEX habeas_outbox_open ON habeas_outbox (enqueued_at, entry_id) WHERE stage = 0;

CREATE INDEX habeas_outbox_unfinished ON habeas_outbox (subject_id, operation) WHERE stage < 2;

CREATE INDEX habeas_outbox_settled ON habeas_outbox (stage, enqueued_at, entry_id) WHERE stage > 0;
