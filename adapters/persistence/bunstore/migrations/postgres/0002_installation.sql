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

-- An id may be given to another person after an erasure. registered_at is the instant at which the application has
-- registered a person since the last erasure, and registered_added_at is the creation time of that person's row. The
-- records of the subject in the ledgers up to consents_until and restrictions_until belong to an earlier person. A mark
-- with 0 erasures and a registered_at only divides the ledgers.
ALTER TABLE habeas_subject_erasures ADD COLUMN registered_at TIMESTAMPTZ;
ALTER TABLE habeas_subject_erasures ADD COLUMN registered_added_at TIMESTAMPTZ;
ALTER TABLE habeas_subject_erasures ADD COLUMN consents_until BIGINT NOT NULL DEFAULT 0;
ALTER TABLE habeas_subject_erasures ADD COLUMN restrictions_until BIGINT NOT NULL DEFAULT 0;

-- Earlier versions have not stored the numbers. The records up to the withdrawals of the last erasure, and the records
-- up to its instant, count as records of the erased person.
UPDATE habeas_subject_erasures SET
    consents_until = COALESCE((SELECT max(c.seq) FROM habeas_consent_records AS c
        WHERE c.subject_id = habeas_subject_erasures.subject_id
            AND (c.source = 'erasure' OR c.recorded_at <= habeas_subject_erasures.erased_at)), 0),
    restrictions_until = COALESCE((SELECT max(r.seq) FROM habeas_restriction_records AS r
        WHERE r.subject_id = habeas_subject_erasures.subject_id
            AND r.recorded_at <= habeas_subject_erasures.erased_at), 0)
WHERE erasures > 0;

-- Reports whether the subject was erased. The function is VOLATILE, so that it sees each mark that was committed before
-- its call. A statement that appends records may begin before an erasure ends, and then waits for it. PL/pgSQL keeps the
-- plan of the query between calls. The function names the schema, because a setting of the search path would cost more
-- than the query.
DO $do$
BEGIN
    EXECUTE format($create$
        CREATE FUNCTION habeas_is_erased(subject TEXT) RETURNS BOOLEAN LANGUAGE plpgsql VOLATILE AS $$
        BEGIN
            RETURN EXISTS (SELECT 1 FROM %I.habeas_subject_erasures AS e
                WHERE e.erasures > 0 AND e.subject_id = subject);
        END
        $$
    $create$, current_schema());
END
$do$;
