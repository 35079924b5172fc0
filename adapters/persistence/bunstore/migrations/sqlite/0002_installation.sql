-- The installation: one row with the random id of this set of tables, and the data map to which the tables belong. The
-- first session that writes sets subject_table and key_columns. The column resolvers and hooks describe the worker that
-- started last. The next mark of an erasure gets a higher intake number than intake_floor.
CREATE TABLE habeas_installation (
    only_row      INTEGER PRIMARY KEY DEFAULT 1 CHECK (only_row = 1),
    installation  TEXT NOT NULL,
    subject_table TEXT,
    key_columns   TEXT,
    resolvers     TEXT,
    hooks         BOOLEAN,
    intake_floor  INTEGER NOT NULL DEFAULT 0
);

INSERT INTO habeas_installation (installation) VALUES (lower(hex(randomblob(16))));

-- The earlier ids of the installation, each with the highest intake number of a mark at its end.
CREATE TABLE habeas_ancestors (
    place        INTEGER PRIMARY KEY AUTOINCREMENT,
    installation TEXT NOT NULL UNIQUE,
    until_intake INTEGER NOT NULL
);

-- The creation time of the subject's row that the erasure found, in UTC.
ALTER TABLE habeas_subject_erasures ADD COLUMN added_at TEXT;

-- An id may be given to another person after an erasure. registered_at is the instant at which the application has
-- registered a person since the last erasure, and registered_added_at is the creation time of that person's row. The
-- records of the subject in the ledgers up to consents_until and restrictions_until belong to an earlier person. A mark
-- with 0 erasures and a registered_at only divides the ledgers.
ALTER TABLE habeas_subject_erasures ADD COLUMN registered_at TEXT;
ALTER TABLE habeas_subject_erasures ADD COLUMN registered_added_at TEXT;
ALTER TABLE habeas_subject_erasures ADD COLUMN consents_until INTEGER NOT NULL DEFAULT 0;
ALTER TABLE habeas_subject_erasures ADD COLUMN restrictions_until INTEGER NOT NULL DEFAULT 0;

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
