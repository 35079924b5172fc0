-- The ledgers, the audit trail, the outbox and the marks of erasures. Instants are in UTC and stored as text of a fixed
-- width, so that texts sort in the order of the instants.
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

-- The ledger is append-only. There is one exception: an erasure sets the reason of a restriction, which is free text,
-- to NULL.
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

-- The stage of an entry is 0 for open, 1 for abandoned or spared (an operator must act) and 2 for succeeded.
--
-- The index habeas_outbox_open serves claims. It orders the open entries by resolver and operation. Within an
-- operation, new entries come first, ordered by turn_at (NULL means enqueued_at). Entries that have a lease or wait for a
-- retry follow, ordered by next_attempt_at. A claim therefore reads no entries that are not due, and no entries of other resolvers.
--
-- The column requested_at holds the instant of the erasure or the rectification; NULL means enqueued_at. The column
-- tried_since holds the instant of the first claim, or of the first claim after the last requeue.
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
    requested_at    TEXT,
    turn_at         TEXT,
    last_attempt_at TEXT,
    next_attempt_at TEXT,
    last_error      TEXT,
    lease_token     TEXT,
    operation_id    TEXT,
    tried_since     TEXT,
    stage           INTEGER
        GENERATED ALWAYS AS (CASE WHEN status = 'succeeded' THEN 2 WHEN status IN ('abandoned', 'spared') THEN 1 ELSE 0 END) VIRTUAL
);

CREATE INDEX habeas_outbox_open ON habeas_outbox
    (resolver, operation, COALESCE(next_attempt_at, ''), COALESCE(turn_at, enqueued_at), entry_id, status, next_attempt_at)
    WHERE stage = 0;

CREATE INDEX habeas_outbox_tried ON habeas_outbox (last_attempt_at) WHERE stage = 0 AND last_attempt_at IS NOT NULL;

CREATE INDEX habeas_outbox_unfinished ON habeas_outbox (subject_id, operation) WHERE status <> 'succeeded';

CREATE INDEX habeas_outbox_settled ON habeas_outbox (stage, enqueued_at, entry_id, resolver, status) WHERE stage > 0;

-- The marks of erasures, one row per subject. Each erasure of a subject sets intake to the next number. A rectification
-- of a subject without a mark inserts a row with 0 erasures as a lock, and deletes the row in the same transaction. The
-- column swept_at holds the instant of the last sweep that overwrote retained cells of the subject, and added_at the
-- creation time of the subject's row that the erasure found, in UTC.
--
-- An id may be given to another person after an erasure. registered_at is the instant at which the application has
-- registered a person since the last erasure, and registered_added_at is the creation time of that person's row. The
-- records of the subject in the ledgers up to consents_until and restrictions_until, and the requests up to
-- requests_until, belong to an earlier person. A mark with 0 erasures and a registered_at only divides the ledgers.
CREATE TABLE habeas_subject_erasures (
    subject_id          TEXT PRIMARY KEY,
    erased_at           TEXT NOT NULL,
    erasures            INTEGER NOT NULL,
    intake              INTEGER NOT NULL DEFAULT 0,
    swept_at            TEXT,
    added_at            TEXT,
    registered_at       TEXT,
    registered_added_at TEXT,
    consents_until      INTEGER NOT NULL DEFAULT 0,
    restrictions_until  INTEGER NOT NULL DEFAULT 0,
    requests_until      INTEGER NOT NULL DEFAULT 0
);

CREATE INDEX habeas_subject_erasures_intake ON habeas_subject_erasures (intake) WHERE erasures > 0;

-- The requests of data subjects. The column seq orders them as they came in. A request is closed if its state is
-- fulfilled, refused, withdrawn or lapsed. Days, such as due_on, are texts like 2026-03-05. due_at is empty while the
-- clock is suspended. The column asked lists the questions, separated by commas. The subject_id is NULL until the person
-- is known.
--
-- A subject has at most one open request of a kind (habeas_requests_open). The conditions of the other indexes are those
-- of the lists of the operators.
CREATE TABLE habeas_requests (
    seq              INTEGER PRIMARY KEY AUTOINCREMENT,
    number           TEXT NOT NULL UNIQUE,
    subject_id       TEXT,
    kind             TEXT NOT NULL,
    purpose          TEXT,
    state            TEXT NOT NULL,
    state_reason     TEXT,
    channel          TEXT NOT NULL,
    language         TEXT,
    reference        TEXT,
    refers_to        TEXT,
    received_at      TEXT NOT NULL,
    entered_at       TEXT NOT NULL,
    due_on           TEXT,
    due_at           TEXT,
    strict_due_on    TEXT,
    suspended_at     TEXT,
    suspended_days   INTEGER NOT NULL,
    lapses_at        TEXT,
    asked            TEXT,
    extended_at      TEXT,
    extension_reason TEXT,
    execute_after    TEXT,
    verified_by      TEXT,
    decided_by       TEXT,
    refusal_ground   TEXT,
    done_by_hand     TEXT,
    partly           BOOLEAN NOT NULL,
    attempts         INTEGER NOT NULL,
    next_attempt_at  TEXT,
    last_error       TEXT,
    closed_at        TEXT,
    version          INTEGER NOT NULL
);

CREATE UNIQUE INDEX habeas_requests_open ON habeas_requests (subject_id, kind)
    WHERE state IN ('received', 'awaiting_subject', 'scheduled', 'on_hold') AND subject_id IS NOT NULL;

CREATE INDEX habeas_requests_due ON habeas_requests (COALESCE(due_at, 'infinity'), number)
    WHERE state NOT IN ('fulfilled', 'refused', 'withdrawn', 'lapsed');

CREATE INDEX habeas_requests_on_hold ON habeas_requests (COALESCE(due_at, 'infinity'), number) WHERE state = 'on_hold';

CREATE INDEX habeas_requests_closed ON habeas_requests (COALESCE(closed_at, ''), number)
    WHERE state IN ('fulfilled', 'refused', 'withdrawn', 'lapsed');

CREATE INDEX habeas_requests_of_subject ON habeas_requests (subject_id, seq);

CREATE INDEX habeas_requests_reference ON habeas_requests (reference, seq) WHERE reference IS NOT NULL;

-- The legal holds. A hold stands until lifted_at is set.
CREATE TABLE habeas_holds (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    hold_id    TEXT NOT NULL UNIQUE,
    subject_id TEXT NOT NULL,
    ground     TEXT NOT NULL,
    reference  TEXT,
    placed_by  TEXT NOT NULL,
    placed_at  TEXT NOT NULL,
    review_at  TEXT NOT NULL,
    lifted_by  TEXT,
    lifted_at  TEXT
);

CREATE INDEX habeas_holds_of_subject ON habeas_holds (subject_id, seq);

CREATE INDEX habeas_holds_review ON habeas_holds (review_at, seq) WHERE lifted_at IS NULL;

-- The background duties. Every is the pause of a duty in nanoseconds, or 0 if no worker has it. A pass is a run of the
-- sweep over all erased subjects.
CREATE TABLE habeas_duties (
    duty           TEXT PRIMARY KEY NOT NULL,
    every          INTEGER NOT NULL DEFAULT 0,
    began_at       TEXT,
    succeeded_at   TEXT,
    failed_at      TEXT,
    failed_as      TEXT,
    left_over      INTEGER NOT NULL DEFAULT 0,
    pass_began_at  TEXT,
    pass_left_over INTEGER NOT NULL DEFAULT 0
);

-- The intake number up to which each reader has read the marks.
CREATE TABLE habeas_positions (
    reader   TEXT PRIMARY KEY NOT NULL,
    position INTEGER NOT NULL
);

-- The installation: one row with the random id of this set of tables, and the data map to which the tables belong. The
-- first session that writes sets subject_table and key_columns. The column resolvers and hooks describe the worker that
-- started last. The column registers says whether the application has ever called Registered. A sweep first saw the
-- retention duties with the hash retention_hash at retention_since. The next mark of an erasure gets a higher intake
-- number than intake_floor.
CREATE TABLE habeas_installation (
    only_row        INTEGER PRIMARY KEY DEFAULT 1 CHECK (only_row = 1),
    installation    TEXT NOT NULL,
    subject_table   TEXT,
    key_columns     TEXT,
    resolvers       TEXT,
    hooks           BOOLEAN,
    registers       BOOLEAN NOT NULL DEFAULT FALSE,
    retention_hash  INTEGER,
    retention_since TEXT,
    intake_floor    INTEGER NOT NULL DEFAULT 0
);

INSERT INTO habeas_installation (installation) VALUES (lower(hex(randomblob(16))));

-- The earlier ids of the installation, each with the highest intake number of a mark at its end.
CREATE TABLE habeas_ancestors (
    place        INTEGER PRIMARY KEY AUTOINCREMENT,
    installation TEXT NOT NULL UNIQUE,
    until_intake INTEGER NOT NULL
);
