-- The installation: one row with the random id of this set of tables, and the data map to which the tables belong. The
-- first session that writes sets subject_table and key_columns. The column resolvers and hooks describe the worker that
-- started last.
CREATE TABLE habeas_installation (
    only_row      BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK (only_row),
    installation  TEXT NOT NULL,
    subject_table TEXT,
    key_columns   JSONB,
    resolvers     JSONB,
    hooks         BOOLEAN
);

INSERT INTO habeas_installation (installation) VALUES (CAST(gen_random_uuid() AS text));

-- The earlier ids of the installation, each with the highest intake number of a mark at its end.
CREATE TABLE habeas_ancestors (
    installation TEXT PRIMARY KEY,
    until_intake BIGINT NOT NULL,
    place        BIGINT GENERATED ALWAYS AS IDENTITY
);

-- The creation time of the subject's row that the erasure found, in UTC.
ALTER TABLE habeas_subject_erasures ADD COLUMN added_at TIMESTAMPTZ;

-- Finds events above a sequence number without an entry for each event.
CREATE INDEX habeas_audit_events_intake ON habeas_audit_events USING brin (seq);
