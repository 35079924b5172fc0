package check_test

// annotated returns a further column of users in the manifest.
func annotated(name, surrogate string) string {
	return `, {"name": "` + name + `", "type": "text", "surrogate": "` + surrogate + `",
		"personal": {"category": "identity", "erasure": "anonymize"}}`
}

// onVisits creates a trigger on visits with the code.
func onVisits(events, code string) []string {
	return []string{
		`CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ` + code + ` END $$`,
		"CREATE TRIGGER keep " + events + " ON visits FOR EACH ROW EXECUTE FUNCTION f()",
	}
}

// judgedDangers are dangers that a judge of drafts found.
var judgedDangers = map[string]liveCase{
	"a trigger refuses each deletion": {
		statements: onVisits("BEFORE DELETE", "RAISE EXCEPTION 'no';"), want: []string{"trigger-refuses visits keep"},
	},
	"a trigger refuses some deletions": {
		statements: onVisits("BEFORE DELETE", "IF OLD.id > 5 THEN RAISE EXCEPTION 'no'; END IF; RETURN OLD;"),
		want:       []string{"trigger-refuses users keep of visits"},
	},
	"a trigger skips each deletion": {
		statements: onVisits("BEFORE DELETE", "RETURN NULL;"), want: []string{"trigger-replaces visits keep"},
	},
	"a view converts a surrogate to an enum": {
		statements: []string{
			`CREATE TYPE kind AS ENUM ('f', 'm')`, `ALTER TABLE users ADD COLUMN sex text`,
			`CREATE VIEW kinds AS SELECT id, u.sex::kind AS sex FROM users AS u`,
		},
		columns: annotated("sex", "gone"),
		want:    []string{"surrogate-cast users.sex kinds"},
	},
	"a materialized view converts a surrogate to a number": {
		statements: []string{
			`ALTER TABLE users ADD COLUMN code varchar(40)`,
			`CREATE MATERIALIZED VIEW codes AS SELECT count(*) AS n, sum(code::integer) AS s FROM users`,
		},
		columns: annotated("code", "{}"),
		want:    []string{"placeholder-alone users.code", "surrogate-cast users.code codes"},
	},
	"a generated column converts a surrogate": {
		statements: []string{
			`ALTER TABLE users ADD COLUMN code text, ADD COLUMN n integer GENERATED ALWAYS AS (CAST(code AS integer)) STORED`,
		},
		columns: annotated("code", "gone"),
		want:    []string{"surrogate-cast users.code n"},
	},
	"a generated column is too short": {
		statements: []string{`ALTER TABLE users ADD COLUMN part varchar(3) GENERATED ALWAYS AS (upper(email)) STORED`},
		want:       []string{"derived-length users.part"},
	},
	"a generated column is cut": {
		statements: []string{`ALTER TABLE users ADD COLUMN part varchar(3)
			GENERATED ALWAYS AS (upper(email)::varchar(3)) STORED`},
	},
	"a materialized view groups by a value": {
		statements: []string{
			`CREATE MATERIALIZED VIEW tops AS SELECT (email)::varchar AS top, count(*) AS n FROM users
				GROUP BY (email)::varchar`,
		},
		want: []string{"view-copies tops tops"},
	},
	"a trigger deletes rows of a thing outside the data map": {
		statements: append(onVisits("AFTER DELETE", "DELETE FROM rooms WHERE id = OLD.id; RETURN NULL;"),
			`CREATE TABLE rooms (id bigint PRIMARY KEY, size bigint)`,
			`CREATE TABLE seats (id bigint PRIMARY KEY, room_id bigint REFERENCES rooms)`),
		want: []string{"trigger-deletes visits keep"},
	},
	"a trigger deletes texts outside the data map": {
		statements: append(onVisits("AFTER DELETE", "DELETE FROM comments WHERE parent = OLD.id; RETURN NULL;"),
			`CREATE TABLE comments (id bigint PRIMARY KEY, parent bigint)`),
		want: []string{"trigger-deletes visits keep"},
	},
	"a trigger of deleted parts outside the data map": {
		statements: []string{
			`CREATE TABLE pages (id bigint PRIMARY KEY, visit_id bigint REFERENCES visits ON DELETE CASCADE)`,
			`CREATE INDEX ON pages (visit_id)`, `CREATE TABLE replies (id bigint PRIMARY KEY, parent bigint)`,
			`CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS
				$$ BEGIN DELETE FROM replies WHERE parent = OLD.id; RETURN NULL; END $$`,
			`CREATE TRIGGER keep AFTER DELETE ON pages FOR EACH ROW EXECUTE FUNCTION f()`,
		},
		want: []string{"delete-cascades pages.visit_id pages_visit_id_fkey", "trigger-deletes pages keep"},
	},
	"a trigger writes constants and a value into a history": {
		statements: append(onVisits("BEFORE DELETE", "UPDATE visit_log SET done = true, old = OLD.agent; RETURN OLD;"),
			`CREATE TABLE visit_log (id bigint PRIMARY KEY, old text, done boolean)`),
		want: []string{"trigger-copies visits keep"},
	},
	"a trigger calls a function that writes into a history": {
		statements: append([]string{
			`CREATE TABLE visit_log (id bigint PRIMARY KEY, old text, done boolean)`,
			`CREATE FUNCTION g(text) RETURNS void LANGUAGE sql AS $$ UPDATE visit_log SET old = $1 $$`,
		}, onVisits("BEFORE DELETE", "UPDATE visit_log SET done = true; PERFORM g(OLD.agent); RETURN OLD;")...),
		want: []string{"trigger-copies visits keep"},
	},
	"a materialized view lists the values of a group": {
		statements: []string{
			`CREATE TABLE teams (id bigint PRIMARY KEY, kind text)`,
			`CREATE MATERIALIZED VIEW tops AS SELECT t.kind, array_agg(u.nick ORDER BY u.id) AS people, count(*) AS n
				FROM users AS u JOIN teams AS t ON t.id = u.id GROUP BY t.kind`,
		},
		want: []string{"view-copies tops tops"},
	},
	"an account at a provider of payments": {
		statements: []string{`ALTER TABLE users ADD COLUMN customer_id text`},
		want:       []string{"personal-unannotated users.customer_id"},
	},
	"many materialized views": {
		statements: []string{
			`CREATE MATERIALIZED VIEW a AS SELECT id, email FROM users`,
			`CREATE MATERIALIZED VIEW b AS SELECT id, email FROM users`,
			`CREATE MATERIALIZED VIEW c AS SELECT id, email FROM users`,
			`CREATE MATERIALIZED VIEW d AS SELECT id, email FROM users`,
		},
		want: []string{"view-copies a all"},
	},
}

// judgedSafe are the twins of judgedDangers.
var judgedSafe = map[string]liveCase{
	"an heir with a foreign key on an inherited column": {
		statements: []string{
			`CREATE TABLE visits_old (FOREIGN KEY (user_id) REFERENCES users ON DELETE CASCADE) INHERITS (visits)`,
			`CREATE TABLE letters (id bigint PRIMARY KEY, visit_id bigint REFERENCES visits)`,
			`CREATE TABLE letters_old (FOREIGN KEY (visit_id) REFERENCES visits ON DELETE CASCADE) INHERITS (letters)`,
			`CREATE INDEX ON letters (visit_id)`, `CREATE INDEX ON letters_old (visit_id)`,
		},
		tables: lettersInManifest("visit_id:bigint", relationInManifest("visit_id", "visits")),
	},
	"a trigger warns": {statements: onVisits("BEFORE DELETE", "RAISE NOTICE 'yes'; RETURN OLD;")},
	"a trigger refuses an INSERT": {
		statements: onVisits("BEFORE INSERT", "RAISE EXCEPTION 'no';"),
	},
	"a trigger returns NULL after a deletion": {statements: onVisits("AFTER DELETE", "RETURN NULL;")},
	"a trigger sets a value after the row is written": {
		columns: `, {"name": "before", "type": "text"}`,
		statements: []string{
			addBefore, oldEmail, "CREATE TRIGGER keep AFTER UPDATE ON users FOR EACH ROW EXECUTE FUNCTION f()",
		},
	},
	"a trigger locks a table": {
		statements: onVisits("BEFORE UPDATE OR DELETE", "EXECUTE 'LOCK visits IN EXCLUSIVE MODE'; RETURN OLD;"),
	},
	"a trigger adds the count of a statement": {
		statements: []string{
			`CREATE TABLE sums (id bigint PRIMARY KEY, agent text, n bigint)`,
			`CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
				UPDATE sums AS s SET n = s.n + d.n FROM (SELECT count(*) AS n FROM gone) AS d; RETURN NULL; END $$`,
			`CREATE TRIGGER keep AFTER DELETE ON visits REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION f()`,
		},
	},
	"a trigger deletes rows of the same person": {
		statements: append(makeNotes, `DROP FUNCTION f()`, `CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS
			$$ BEGIN DELETE FROM notes AS n WHERE n.user_id = OLD.user_id; RETURN NULL; END $$`,
			`CREATE TRIGGER keep AFTER DELETE ON visits FOR EACH ROW EXECUTE FUNCTION f()`),
		tables: notesInManifest,
	},
	"a trigger deletes rows of nobody outside the data map": {
		statements: append(onVisits("AFTER DELETE", "DELETE FROM sums WHERE day = now(); RETURN NULL;"),
			`CREATE TABLE sums (id bigint PRIMARY KEY, day timestamptz)`),
	},
	"a trigger deletes rows with the key of the person outside the data map": {
		statements: append(onVisits("AFTER DELETE", "DELETE FROM comments WHERE user_id = OLD.user_id; RETURN NULL;"),
			`CREATE TABLE comments (id bigint PRIMARY KEY, user_id integer)`),
		want: []string{"table-unlinked comments.user_id"},
	},
	"a trigger writes constants into a history": {
		statements: append(onVisits("BEFORE DELETE",
			"UPDATE visit_log SET done = true, state = '{}'::jsonb, at = now(), n = -1 WHERE id = OLD.id; RETURN OLD;"),
			`CREATE TABLE visit_log (id bigint PRIMARY KEY, state jsonb, done boolean, at timestamptz, n integer)`),
	},
	"a materialized view lists the values of things": {
		statements: []string{
			`CREATE TABLE teams (id bigint PRIMARY KEY, kind text, nick text)`,
			`CREATE MATERIALIZED VIEW tops AS SELECT t.kind, array_agg(t.nick) AS names, count(u.nick) AS n
				FROM users AS u JOIN teams AS t ON t.id = u.id GROUP BY t.kind`,
		},
	},
	"a reference to customers": {
		statements: []string{
			`ALTER TABLE users ADD COLUMN customer_id text`, `CREATE TABLE customers (id text PRIMARY KEY, size bigint)`,
		},
	},
	"a view converts a surrogate to a type that accepts it": {
		statements: []string{
			`ALTER TABLE users ADD COLUMN code text`,
			`CREATE VIEW codes AS SELECT id, code::integer AS n, email::varchar(10) AS mail FROM users`,
		},
		columns: annotated("code", "0"),
	},
	"a generated column takes the begin of a value": {
		statements: []string{`ALTER TABLE users ADD COLUMN part varchar(3) GENERATED ALWAYS AS (left(email, 1)) STORED`},
	},
	"a partial unique index leaves out the surrogate": {
		statements: []string{
			`ALTER TABLE users ADD COLUMN code integer`, `CREATE UNIQUE INDEX one ON users (code) WHERE code > 0`,
			`CREATE UNIQUE INDEX two ON users (code) WHERE code <> -1`,
		},
		columns: `, {"name": "code", "type": "integer", "surrogate": "-1",
			"personal": {"category": "identity", "erasure": "anonymize"}}`,
	},
	"a short generated column of another column": {
		statements: []string{`ALTER TABLE users ADD COLUMN part varchar(3) GENERATED ALWAYS AS (upper(nick)) STORED`},
	},
	"a materialized view counts rows of each day": {
		statements: []string{
			`CREATE TABLE days (id bigint PRIMARY KEY, label text)`,
			`CREATE MATERIALIZED VIEW tops AS SELECT d.label AS day, count(u.email) AS n FROM users AS u
				JOIN days AS d ON d.id = u.id GROUP BY d.label`,
		},
	},
}
