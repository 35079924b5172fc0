-- The ledgers, the audit trail, the outbox and the marks of erasures. Instants are in UTC.
--
-- The column seq orders the records of a ledger. It does not depend on a clock. Its sequence has no cache: if one
-- connection takes a number after another connection has committed, its number is higher.
CREATE TABLE habeas_consent_records (
    seq            BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    subject_id     TEXT NOT NULL,
    purpose        TEXT NOT NULL,
    policy_version TEXT NOT NULL,
    granted        BOOLEAN NOT NULL,
    recorded_at    TIMESTAMPTZ NOT NULL,
    source         TEXT NOT NULL
);

CREATE INDEX habeas_consent_records_in_force ON habeas_consent_records (subject_id, purpose, seq DESC);

CREATE TABLE habeas_restriction_records (
    seq         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    subject_id  TEXT NOT NULL,
    purpose     TEXT,
    restricted  BOOLEAN NOT NULL,
    reason      TEXT,
    recorded_at TIMESTAMPTZ NOT NULL,
    source      TEXT NOT NULL
);

CREATE INDEX habeas_restriction_records_in_force ON habeas_restriction_records (subject_id, purpose, seq DESC);

-- Both ledgers are append-only. There is one exception: an erasure sets the reason of a restriction, which is free
-- text, to NULL.
CREATE FUNCTION habeas_ledger_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the ledgers of habeas are append-only' USING ERRCODE = 'restrict_violation';
END
$$;

CREATE TRIGGER habeas_consent_records_no_change
    BEFORE UPDATE OR DELETE ON habeas_consent_records
    FOR EACH ROW EXECUTE FUNCTION habeas_ledger_append_only();

CREATE TRIGGER habeas_consent_records_no_truncate
    BEFORE TRUNCATE ON habeas_consent_records
    FOR EACH STATEMENT EXECUTE FUNCTION habeas_ledger_append_only();

-- The triggers also fire in a session that applies changes of another server (session_replication_role).
ALTER TABLE habeas_consent_records
    ENABLE ALWAYS TRIGGER habeas_consent_records_no_change,
    ENABLE ALWAYS TRIGGER habeas_consent_records_no_truncate;

CREATE TRIGGER habeas_restriction_records_no_change
    BEFORE UPDATE ON habeas_restriction_records
    FOR EACH ROW WHEN (NEW.reason IS NOT NULL
        OR (NEW.seq, NEW.subject_id, NEW.purpose, NEW.restricted, NEW.recorded_at, NEW.source)
            IS DISTINCT FROM (OLD.seq, OLD.subject_id, OLD.purpose, OLD.restricted, OLD.recorded_at, OLD.source))
    EXECUTE FUNCTION habeas_ledger_append_only();

CREATE TRIGGER habeas_restriction_records_no_removal
    BEFORE DELETE ON habeas_restriction_records
    FOR EACH ROW EXECUTE FUNCTION habeas_ledger_append_only();

CREATE TRIGGER habeas_restriction_records_no_truncate
    BEFORE TRUNCATE ON habeas_restriction_records
    FOR EACH STATEMENT EXECUTE FUNCTION habeas_ledger_append_only();

ALTER TABLE habeas_restriction_records
    ENABLE ALWAYS TRIGGER habeas_restriction_records_no_change,
    ENABLE ALWAYS TRIGGER habeas_restriction_records_no_removal,
    ENABLE ALWAYS TRIGGER habeas_restriction_records_no_truncate;

CREATE TABLE habeas_audit_events (
    event_id    TEXT PRIMARY KEY,
    seq         BIGINT GENERATED ALWAYS AS IDENTITY,
    event_type  TEXT NOT NULL,
    subject_ref TEXT NOT NULL,
    occurred_at TIMESTAMPTZ NOT NULL,
    payload     JSONB NOT NULL
);

CREATE INDEX habeas_audit_events_trail ON habeas_audit_events (subject_ref, seq);

-- Finds events above a sequence number without an entry for each event.
CREATE INDEX habeas_audit_events_intake ON habeas_audit_events USING brin (seq);

CREATE FUNCTION habeas_audit_events_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'habeas_audit_events is append-only' USING ERRCODE = 'restrict_violation';
END
$$;

CREATE TRIGGER habeas_audit_events_no_change
    BEFORE UPDATE OR DELETE ON habeas_audit_events
    FOR EACH ROW EXECUTE FUNCTION habeas_audit_events_append_only();

CREATE TRIGGER habeas_audit_events_no_truncate
    BEFORE TRUNCATE ON habeas_audit_events
    FOR EACH STATEMENT EXECUTE FUNCTION habeas_audit_events_append_only();

ALTER TABLE habeas_audit_events
    ENABLE ALWAYS TRIGGER habeas_audit_events_no_change,
    ENABLE ALWAYS TRIGGER habeas_audit_events_no_truncate;

-- The stage of an entry is 0 for open, 1 for abandoned or spared (an operator must act) and 2 for succeeded.
--
-- The index habeas_outbox_open serves claims. It orders the open entries by resolver and operation. Within an
-- operation, new entries come first, ordered by turn_at (NULL means enqueued_at). Entries that have a lease or wait for a
-- retry follow, ordered by next_attempt_at. A claim therefore reads no entries that are not due, and no entries of other resolvers.
--
-- The column requested_at holds the instant of the erasure or the rectification; NULL means enqueued_at. The column
-- tried_since holds the instant of the first claim, or of the first claim after the last requeue.
CREATE TABLE habeas_outbox (
    entry_id        TEXT PRIMARY KEY,
    subject_id      TEXT NOT NULL,
    resolver        TEXT NOT NULL,
    ref             JSONB,
    operation       TEXT NOT NULL,
    corrections     JSONB,
    status          TEXT NOT NULL,
    attempts        INTEGER NOT NULL,
    enqueued_at     TIMESTAMPTZ NOT NULL,
    requested_at    TIMESTAMPTZ,
    turn_at         TIMESTAMPTZ,
    last_attempt_at TIMESTAMPTZ,
    next_attempt_at TIMESTAMPTZ,
    last_error      TEXT,
    lease_token     TEXT,
    operation_id    TEXT,
    tried_since     TIMESTAMPTZ,
    stage           SMALLINT NOT NULL
        GENERATED ALWAYS AS (CASE WHEN status = 'succeeded' THEN 2 WHEN status IN ('abandoned', 'spared') THEN 1 ELSE 0 END) STORED
);

CREATE INDEX habeas_outbox_open ON habeas_outbox
    (resolver, operation, (COALESCE(next_attempt_at, '-infinity')), (COALESCE(turn_at, enqueued_at)), entry_id) INCLUDE (status, next_attempt_at)
    WHERE stage = 0;

CREATE INDEX habeas_outbox_tried ON habeas_outbox (last_attempt_at) WHERE stage = 0 AND last_attempt_at IS NOT NULL;

CREATE INDEX habeas_outbox_unfinished ON habeas_outbox (subject_id, operation) WHERE status <> 'succeeded';

CREATE INDEX habeas_outbox_settled ON habeas_outbox (stage, enqueued_at, entry_id) INCLUDE (resolver, status)
    WHERE stage > 0;

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
    erased_at           TIMESTAMPTZ NOT NULL,
    erasures            BIGINT NOT NULL,
    intake              BIGINT GENERATED BY DEFAULT AS IDENTITY,
    swept_at            TIMESTAMPTZ,
    added_at            TIMESTAMPTZ,
    registered_at       TIMESTAMPTZ,
    registered_added_at TIMESTAMPTZ,
    consents_until      BIGINT NOT NULL DEFAULT 0,
    restrictions_until  BIGINT NOT NULL DEFAULT 0,
    requests_until      BIGINT NOT NULL DEFAULT 0
);

CREATE INDEX habeas_subject_erasures_intake ON habeas_subject_erasures (intake) WHERE erasures > 0;

-- The requests of data subjects. The column seq orders them as they came in. A request is closed if its state is
-- fulfilled, refused, withdrawn or lapsed. Days, such as due_on, are texts like 2026-03-05. due_at is empty while the
-- clock is suspended. The column asked lists the questions, separated by commas. The subject_id is NULL until the person
-- is known.
--
-- A subject has at most one open request of a kind (habeas_requests_open). The conditions of the other indexes are those
-- of the lists of the operators. The included columns let PostgreSQL count without reading the table.
CREATE TABLE habeas_requests (
    number           TEXT PRIMARY KEY,
    seq              BIGINT GENERATED ALWAYS AS IDENTITY,
    subject_id       TEXT,
    kind             TEXT NOT NULL,
    purpose          TEXT,
    state            TEXT NOT NULL,
    state_reason     TEXT,
    channel          TEXT NOT NULL,
    language         TEXT,
    reference        TEXT,
    refers_to        TEXT,
    received_at      TIMESTAMPTZ NOT NULL,
    entered_at       TIMESTAMPTZ NOT NULL,
    due_on           TEXT,
    due_at           TIMESTAMPTZ,
    strict_due_on    TEXT,
    suspended_at     TIMESTAMPTZ,
    suspended_days   INTEGER NOT NULL,
    lapses_at        TIMESTAMPTZ,
    asked            TEXT,
    extended_at      TIMESTAMPTZ,
    extension_reason TEXT,
    execute_after    TIMESTAMPTZ,
    verified_by      TEXT,
    decided_by       TEXT,
    refusal_ground   TEXT,
    done_by_hand     TEXT,
    partly           BOOLEAN NOT NULL,
    attempts         INTEGER NOT NULL,
    next_attempt_at  TIMESTAMPTZ,
    last_error       TEXT,
    closed_at        TIMESTAMPTZ,
    version          BIGINT NOT NULL
);

CREATE UNIQUE INDEX habeas_requests_open ON habeas_requests (subject_id, kind)
    WHERE state IN ('received', 'awaiting_subject', 'scheduled', 'on_hold') AND subject_id IS NOT NULL;

CREATE INDEX habeas_requests_due ON habeas_requests ((COALESCE(due_at, 'infinity')), number) INCLUDE (due_at, suspended_at)
    WHERE state NOT IN ('fulfilled', 'refused', 'withdrawn', 'lapsed');

CREATE INDEX habeas_requests_on_hold ON habeas_requests ((COALESCE(due_at, 'infinity')), number) INCLUDE (due_at)
    WHERE state = 'on_hold';

CREATE INDEX habeas_requests_closed ON habeas_requests ((COALESCE(closed_at, '-infinity')), number)
    WHERE state IN ('fulfilled', 'refused', 'withdrawn', 'lapsed');

CREATE INDEX habeas_requests_of_subject ON habeas_requests (subject_id, seq);

CREATE INDEX habeas_requests_reference ON habeas_requests (reference, seq) WHERE reference IS NOT NULL;

-- Finds requests above a sequence number, as for the audit trail.
CREATE INDEX habeas_requests_intake ON habeas_requests USING brin (seq);

-- The legal holds. A hold stands until lifted_at is set.
CREATE TABLE habeas_holds (
    hold_id    TEXT PRIMARY KEY,
    seq        BIGINT GENERATED ALWAYS AS IDENTITY,
    subject_id TEXT NOT NULL,
    ground     TEXT NOT NULL,
    reference  TEXT,
    placed_by  TEXT NOT NULL,
    placed_at  TIMESTAMPTZ NOT NULL,
    review_at  TIMESTAMPTZ NOT NULL,
    lifted_by  TEXT,
    lifted_at  TIMESTAMPTZ
);

CREATE INDEX habeas_holds_of_subject ON habeas_holds (subject_id, seq);

CREATE INDEX habeas_holds_review ON habeas_holds (review_at, seq) WHERE lifted_at IS NULL;

-- The background duties. Every is the pause of a duty in nanoseconds, or 0 if no worker has it. A pass is a run of the
-- sweep over all erased subjects.
CREATE TABLE habeas_duties (
    duty           TEXT PRIMARY KEY,
    every          BIGINT NOT NULL DEFAULT 0,
    began_at       TIMESTAMPTZ,
    succeeded_at   TIMESTAMPTZ,
    failed_at      TIMESTAMPTZ,
    failed_as      TEXT,
    left_over      BIGINT NOT NULL DEFAULT 0,
    pass_began_at  TIMESTAMPTZ,
    pass_left_over BIGINT NOT NULL DEFAULT 0
);

-- The intake number up to which each reader has read the marks.
CREATE TABLE habeas_positions (
    reader   TEXT PRIMARY KEY,
    position BIGINT NOT NULL
);

-- The installation: one row with the random id of this set of tables, and the data map to which the tables belong. The
-- first session that writes sets subject_table and key_columns. The column resolvers and hooks describe the worker that
-- started last. The column registers says whether the application has ever called Registered. A sweep first saw the
-- retention duties with the hash retention_hash at retention_since.
CREATE TABLE habeas_installation (
    only_row        BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK (only_row),
    installation    TEXT NOT NULL,
    subject_table   TEXT,
    key_columns     JSONB,
    resolvers       JSONB,
    hooks           BOOLEAN,
    registers       BOOLEAN NOT NULL DEFAULT FALSE,
    retention_hash  BIGINT,
    retention_since TIMESTAMPTZ
);

INSERT INTO habeas_installation (installation) VALUES (CAST(gen_random_uuid() AS text));

-- The earlier ids of the installation, each with the highest intake number of a mark at its end.
CREATE TABLE habeas_ancestors (
    installation TEXT PRIMARY KEY,
    until_intake BIGINT NOT NULL,
    place        BIGINT GENERATED ALWAYS AS IDENTITY
);

-- Reports whether the subject was erased. The function is VOLATILE, so that it sees each mark that was committed before
-- its call. A statement that appends records may begin before an erasure ends, and then waits for it. PL/pgSQL keeps the
-- plan of the query between calls. The function names the schemas, because a setting of the search path would cost more
-- than the query.
DO $do$
BEGIN
    EXECUTE format('CREATE FUNCTION habeas_is_erased(subject TEXT) RETURNS BOOLEAN LANGUAGE plpgsql VOLATILE AS %L',
        format($body$
        BEGIN
            RETURN EXISTS (SELECT 1 FROM %I.habeas_subject_erasures AS e
                WHERE e.erasures OPERATOR(pg_catalog.>) 0 AND e.subject_id OPERATOR(pg_catalog.=) subject);
        END
        $body$, current_schema()));
END
$do$;

-- Returns the text of a value in a key. The text is exact, and the settings of the session have no effect on it.
CREATE FUNCTION habeas_key_text(value ANYELEMENT) RETURNS TEXT LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1
    SET extra_float_digits = 3 SET DateStyle = 'ISO, MDY' SET TimeZone = 'UTC' SET IntervalStyle = 'iso_8601'
    SET bytea_output = 'hex' SET search_path = pg_catalog AS $$
BEGIN
    RETURN CAST(value AS text);
END
$$;
