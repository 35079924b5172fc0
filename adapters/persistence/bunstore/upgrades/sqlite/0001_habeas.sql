-- Brings the tables of the first version of 0001_habeas.sql to its current version, with all rows. The ledgers keep the
-- numbers of their records. The marks get intake numbers in the order of their instants.
DROP INDEX habeas_consent_records_in_force;

CREATE INDEX habeas_consent_records_in_force ON habeas_consent_records (subject_id, purpose, seq DESC);

DROP INDEX habeas_restriction_records_in_force;

CREATE INDEX habeas_restriction_records_in_force ON habeas_restriction_records (subject_id, purpose, seq DESC);

CREATE TRIGGER habeas_consent_records_no_update BEFORE UPDATE ON habeas_consent_records
BEGIN
    SELECT RAISE(ABORT, 'habeas_consent_records is append-only');
END;

CREATE TRIGGER habeas_consent_records_no_delete BEFORE DELETE ON habeas_consent_records
BEGIN
    SELECT RAISE(ABORT, 'habeas_consent_records is append-only');
END;

CREATE TRIGGER habeas_consent_records_no_replace BEFORE INSERT ON habeas_consent_records
WHEN EXISTS (SELECT 1 FROM habeas_consent_records WHERE seq = NEW.seq)
BEGIN
    SELECT RAISE(ABORT, 'habeas_consent_records is append-only');
END;

CREATE TRIGGER habeas_restriction_records_no_update BEFORE UPDATE ON habeas_restriction_records
WHEN NEW.reason IS NOT NULL OR NEW.seq IS NOT OLD.seq OR NEW.subject_id IS NOT OLD.subject_id OR NEW.purpose IS NOT OLD.purpose
    OR NEW.restricted IS NOT OLD.restricted OR NEW.recorded_at IS NOT OLD.recorded_at OR NEW.source IS NOT OLD.source
BEGIN
    SELECT RAISE(ABORT, 'habeas_restriction_records is append-only');
END;

CREATE TRIGGER habeas_restriction_records_no_delete BEFORE DELETE ON habeas_restriction_records
BEGIN
    SELECT RAISE(ABORT, 'habeas_restriction_records is append-only');
END;

CREATE TRIGGER habeas_restriction_records_no_replace BEFORE INSERT ON habeas_restriction_records
WHEN EXISTS (SELECT 1 FROM habeas_restriction_records WHERE seq = NEW.seq)
BEGIN
    SELECT RAISE(ABORT, 'habeas_restriction_records is append-only');
END;

DROP INDEX habeas_outbox_open;

DROP INDEX habeas_outbox_unfinished;

DROP INDEX habeas_outbox_settled;

ALTER TABLE habeas_outbox RENAME TO habeas_outbox_before;

CREATE TABLE habeas_outbox (
    entry_id        TEXT PRIMARY KEY NOT NULL,
    subject_id      TEXT NOT NULL,
    resolver        TEXT NOT NULL,
    ref             TEXT,
    operation       TEXT NOT NULL,
    corrections     TEXT,
    status          TEXT NOT NULL,
    attempts        INTEGER NOT NULL,
    enqueued_at     TEXT NOT NULL,
    last_attempt_at TEXT,
    next_attempt_at TEXT,
    last_error      TEXT,
    lease_token     TEXT,
    operation_id    TEXT,
    tried_since     TEXT,
    stage           INTEGER
        GENERATED ALWAYS AS (CASE status WHEN 'succeeded' THEN 2 WHEN 'abandoned' THEN 1 ELSE 0 END) VIRTUAL
);

INSERT INTO habeas_outbox (
    entry_id, subject_id, resolver, ref, operation, corrections, status, attempts, enqueued_at,
    last_attempt_at, next_attempt_at, last_error, lease_token)
SELECT entry_id, subject_id, resolver, ref, operation, corrections, status, attempts, enqueued_at,
    last_attempt_at, next_attempt_at, last_error, lease_token
FROM habeas_outbox_before;

DROP TABLE habeas_outbox_before;

CREATE INDEX habeas_outbox_open ON habeas_outbox
    (resolver, operation, COALESCE(next_attempt_at, ''), enqueued_at, entry_id, status, next_attempt_at)
    WHERE stage = 0;

CREATE INDEX habeas_outbox_tried ON habeas_outbox (last_attempt_at) WHERE stage = 0 AND last_attempt_at IS NOT NULL;

CREATE INDEX habeas_outbox_unfinished ON habeas_outbox (subject_id, operation) WHERE status <> 'succeeded';

CREATE INDEX habeas_outbox_settled ON habeas_outbox (stage, enqueued_at, entry_id, resolver, operation) WHERE stage > 0;

ALTER TABLE habeas_subject_erasures RENAME TO habeas_subject_erasures_before;

CREATE TABLE habeas_subject_erasures (
    subject_id TEXT PRIMARY KEY,
    erased_at  TEXT NOT NULL,
    erasures   INTEGER NOT NULL,
    intake     INTEGER NOT NULL DEFAULT 0,
    swept_at   TEXT
);

INSERT INTO habeas_subject_erasures (subject_id, erased_at, erasures, intake)
SELECT subject_id, erased_at, erasures, row_number() OVER (ORDER BY erased_at, subject_id)
FROM habeas_subject_erasures_before;

DROP TABLE habeas_subject_erasures_before;

CREATE INDEX habeas_subject_erasures_intake ON habeas_subject_erasures (intake) WHERE erasures > 0;

CREATE TABLE habeas_positions (
    reader   TEXT PRIMARY KEY NOT NULL,
    position INTEGER NOT NULL
);
