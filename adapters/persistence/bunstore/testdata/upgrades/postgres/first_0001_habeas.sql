-- The ledgers, the audit trail, the outbox and the marks of erasure. Instants are UTC.
CREATE TABLE habeas_consent_records (
    seq            BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    subject_id     TEXT NOT NULL,
    purpose        TEXT NOT NULL,
    policy_version TEXT NOT NULL,
    granted        BOOLEAN NOT NULL,
    recorded_at    TIMESTAMPTZ NOT NULL,
    source         TEXT NOT NULL
);

CREATE INDEX habeas_consent_records_in_force
    ON habeas_consent_records (subject_id, purpose, recorded_at DESC, granted, seq DESC);

CREATE TABLE habeas_restriction_records (
    seq         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    subject_id  TEXT NOT NULL,
    purpose     TEXT,
    restricted  BOOLEAN NOT NULL,
    reason      TEXT,
    recorded_at TIMESTAMPTZ NOT NULL,
    source      TEXT NOT NULL
);

CREATE INDEX habeas_restriction_records_in_force
    ON habeas_restriction_records (subject_id, purpose, recorded_at DESC, restricted DESC, seq DESC);

CREATE TABLE habeas_audit_events (
    event_id    TEXT PRIMARY KEY,
    seq         BIGINT GENERATED ALWAYS AS IDENTITY,
    event_type  TEXT NOT NULL,
    subject_ref TEXT NOT NULL,
    occurred_at TIMESTAMPTZ NOT NULL,
    payload     JSONB NOT NULL
);

CREATE INDEX habeas_audit_events_trail ON habeas_audit_events (subject_ref, seq);

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

-- The stage says how far an entry has got: 0 is open, 1 abandoned, 2 succeeded. Indexes hold no column that a claim
-- changes, and each page has room for the entries as they are when claimed: a claim writes its rows and no index.
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
    last_attempt_at TIMESTAMPTZ,
    next_attempt_at TIMESTAMPTZ,
    last_error      TEXT,
    lease_token     TEXT,
    stage           SMALLINT NOT NULL
        GENERATED ALWAYS AS (CASE status WHEN 'succeeded' THEN 2 WHEN 'abandoned' THEN 1 ELSE 0 END) STORED
) WITH (fillfactor = 50);

CREATE INDEX habeas_outbox_open ON habeas_outbox (enqueued_at, entry_id) WHERE stage = 0;

CREATE INDEX habeas_outbox_unfinished ON habeas_outbox (subject_id, operation) WHERE stage < 2;

CREATE INDEX habeas_outbox_settled ON habeas_outbox (stage, enqueued_at, entry_id) WHERE stage > 0;

CREATE TABLE habeas_subject_erasures (
    subject_id TEXT PRIMARY KEY,
    erased_at  TIMESTAMPTZ NOT NULL,
    erasures   BIGINT NOT NULL
);
