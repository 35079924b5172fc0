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
