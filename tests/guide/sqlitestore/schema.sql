CREATE TABLE IF NOT EXISTS habeas_consents (
	number         INTEGER PRIMARY KEY AUTOINCREMENT,
	subject        TEXT NOT NULL,
	purpose        TEXT NOT NULL,
	policy_version TEXT NOT NULL,
	granted        INTEGER NOT NULL,
	recorded_at    TEXT NOT NULL,
	source         TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS habeas_consents_in_force ON habeas_consents (subject, purpose, number);
CREATE TRIGGER IF NOT EXISTS habeas_consents_no_update BEFORE UPDATE ON habeas_consents
	BEGIN SELECT RAISE(ABORT, 'the ledgers are append-only'); END;
CREATE TRIGGER IF NOT EXISTS habeas_consents_no_delete BEFORE DELETE ON habeas_consents
	BEGIN SELECT RAISE(ABORT, 'the ledgers are append-only'); END;

CREATE TABLE IF NOT EXISTS habeas_restrictions (
	number      INTEGER PRIMARY KEY AUTOINCREMENT,
	subject     TEXT NOT NULL,
	purpose     TEXT,
	restricted  INTEGER NOT NULL,
	reason      TEXT,
	recorded_at TEXT NOT NULL,
	source      TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS habeas_restrictions_in_force ON habeas_restrictions (subject, purpose, number);
CREATE TRIGGER IF NOT EXISTS habeas_restrictions_no_update BEFORE UPDATE ON habeas_restrictions
	WHEN NEW.reason IS NOT NULL OR NEW.number IS NOT OLD.number OR NEW.subject IS NOT OLD.subject
		OR NEW.purpose IS NOT OLD.purpose OR NEW.restricted IS NOT OLD.restricted
		OR NEW.recorded_at IS NOT OLD.recorded_at OR NEW.source IS NOT OLD.source
	BEGIN SELECT RAISE(ABORT, 'the ledgers are append-only'); END;
CREATE TRIGGER IF NOT EXISTS habeas_restrictions_no_delete BEFORE DELETE ON habeas_restrictions
	BEGIN SELECT RAISE(ABORT, 'the ledgers are append-only'); END;

CREATE TABLE IF NOT EXISTS habeas_events (
	number      INTEGER PRIMARY KEY AUTOINCREMENT,
	event_id    TEXT NOT NULL UNIQUE,
	event_type  TEXT NOT NULL,
	subject     TEXT NOT NULL,
	occurred_at TEXT NOT NULL,
	payload     TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS habeas_events_of_subject ON habeas_events (subject, number);
CREATE TRIGGER IF NOT EXISTS habeas_events_no_update BEFORE UPDATE ON habeas_events
	BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;
CREATE TRIGGER IF NOT EXISTS habeas_events_no_delete BEFORE DELETE ON habeas_events
	BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;

CREATE TABLE IF NOT EXISTS habeas_outbox (
	entry_id        TEXT NOT NULL PRIMARY KEY,
	subject         TEXT NOT NULL,
	resolver        TEXT NOT NULL,
	ref             TEXT NOT NULL,
	operation       TEXT NOT NULL,
	corrections     TEXT NOT NULL,
	status          TEXT NOT NULL,
	attempts        INTEGER NOT NULL,
	enqueued_at     TEXT NOT NULL,
	last_attempt_at TEXT,
	next_attempt_at TEXT,
	last_error      TEXT,
	lease_token     TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS habeas_outbox_open ON habeas_outbox (enqueued_at, entry_id)
	WHERE status IN ('pending', 'failed', 'in_flight');
CREATE INDEX IF NOT EXISTS habeas_outbox_of_subject ON habeas_outbox (subject, operation);

CREATE TABLE IF NOT EXISTS habeas_erasures (
	subject   TEXT NOT NULL PRIMARY KEY,
	erased_at TEXT NOT NULL,
	times     INTEGER NOT NULL
) STRICT;
