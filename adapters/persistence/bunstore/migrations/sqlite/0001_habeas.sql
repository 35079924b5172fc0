-- The ledgers, the audit trail, the outbox and the marks of erasure. Instants are UTC, as text of fixed width, so
-- that they sort as they should.
CREATE TABLE habeas_consent_records (
    seq            INTEGER PRIMARY KEY AUTOINCREMENT,
    subject_id     TEXT NOT NULL,
    purpose        TEXT NOT NULL,
    policy_version TEXT NOT NULL,
    granted        BOOLEAN NOT NULL,
    recorded_at    TEXT NOT NULL,
    source         TEXT NOT NULL
);

CREATE INDEX habeas_consent_records_in_force ON habeas_consent_records (subject_id, purpose, seq DESC);

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

CREATE TABLE habeas_restriction_records (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    subject_id  TEXT NOT NULL,
    purpose     TEXT,
    restricted  BOOLEAN NOT NULL,
    reason      TEXT,
    recorded_at TEXT NOT NULL,
    source      TEXT NOT NULL
);

CREATE INDEX habeas_restriction_records_in_force ON habeas_restriction_records (subject_id, purpose, seq DESC);

-- An erasure makes the reason of a restriction NULL, which is free text; nothing else changes.
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

CREATE TABLE habeas_audit_events (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id    TEXT NOT NULL UNIQUE,
    event_type  TEXT NOT NULL,
    subject_ref TEXT NOT NULL,
    occurred_at TEXT NOT NULL,
    payload     TEXT NOT NULL
);

CREATE INDEX habeas_audit_events_trail ON habeas_audit_events (subject_ref, seq);

CREATE TRIGGER habeas_audit_events_no_update BEFORE UPDATE ON habeas_audit_events
BEGIN
    SELECT RAISE(ABORT, 'habeas_audit_events is append-only');
END;

CREATE TRIGGER habeas_audit_events_no_delete BEFORE DELETE ON habeas_audit_events
BEGIN
    SELECT RAISE(ABORT, 'habeas_audit_events is append-only');
END;

CREATE TRIGGER habeas_audit_events_no_replace BEFORE INSERT ON habeas_audit_events
WHEN EXISTS (SELECT 1 FROM habeas_audit_events WHERE event_id = NEW.event_id OR seq = NEW.seq)
BEGIN
    SELECT RAISE(ABORT, 'habeas_audit_events is append-only');
END;

-- The stage says how far an entry has got: 0 is open, 1 abandoned, 2 succeeded. A claim finds open entries by system and
-- operation: those that are new, in the order of their age, and those that wait for their next attempt or are leased, in the
-- order in which they are due. So it passes over none that is not due, and over none of a system that it is not for. Where
-- an entry was requeued, tried_since is the instant of the first claim after that, or before any other instant until then.
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

CREATE INDEX habeas_outbox_open ON habeas_outbox
    (resolver, operation, COALESCE(next_attempt_at, ''), enqueued_at, entry_id, status, next_attempt_at)
    WHERE stage = 0;

CREATE INDEX habeas_outbox_tried ON habeas_outbox (last_attempt_at) WHERE stage = 0 AND last_attempt_at IS NOT NULL;

CREATE INDEX habeas_outbox_unfinished ON habeas_outbox (subject_id, operation) WHERE status <> 'succeeded';

CREATE INDEX habeas_outbox_settled ON habeas_outbox (stage, enqueued_at, entry_id, resolver, operation) WHERE stage > 0;

-- The mark of the erasures of a subject. Each erasure takes the next number of intake. A rectification holds a mark without
-- erasures while it lasts. The last sweep that overwrote retained cells of the subject was at swept_at.
CREATE TABLE habeas_subject_erasures (
    subject_id TEXT PRIMARY KEY,
    erased_at  TEXT NOT NULL,
    erasures   INTEGER NOT NULL,
    intake     INTEGER NOT NULL DEFAULT 0,
    swept_at   TEXT
);

CREATE INDEX habeas_subject_erasures_intake ON habeas_subject_erasures (intake) WHERE erasures > 0;

-- How far the readers of the marks have come, by intake.
CREATE TABLE habeas_positions (
    reader   TEXT PRIMARY KEY NOT NULL,
    position INTEGER NOT NULL
);
