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

CREATE INDEX habeas_consent_records_in_force
    ON habeas_consent_records (subject_id, purpose, recorded_at DESC, granted, seq DESC);

CREATE TABLE habeas_restriction_records (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    subject_id  TEXT NOT NULL,
    purpose     TEXT,
    restricted  BOOLEAN NOT NULL,
    reason      TEXT,
    recorded_at TEXT NOT NULL,
    source      TEXT NOT NULL
);

CREATE INDEX habeas_restriction_records_in_force
    ON habeas_restriction_records (subject_id, purpose, recorded_at DESC, restricted DESC, seq DESC);

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

-- The stage says how far an entry has got: 0 is open, 1 abandoned, 2 succeeded. Indexes hold no column that a claim
-- changes.
CREATE TABLE habeas_outbox (
    entry_id        TEXT PRIMARY KEY,
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
    stage           INTEGER
        GENERATED ALWAYS AS (CASE status WHEN 'succeeded' THEN 2 WHEN 'abandoned' THEN 1 ELSE 0 END) VIRTUAL
);

CREATE INDEX habeas_outbox_open ON habeas_outbox (enqueued_at, entry_id) WHERE stage = 0;

CREATE INDEX habeas_outbox_unfinished ON habeas_outbox (subject_id, operation) WHERE stage < 2;

CREATE INDEX habeas_outbox_settled ON habeas_outbox (stage, enqueued_at, entry_id) WHERE stage > 0;

CREATE TABLE habeas_subject_erasures (
    subject_id TEXT PRIMARY KEY,
    erased_at  TEXT NOT NULL,
    erasures   INTEGER NOT NULL
);
