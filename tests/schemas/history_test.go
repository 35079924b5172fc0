package schemas

import (
	"slices"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

// erasureLog executes statements that add a trigger, erases both clients, and returns the log.
func erasureLog(t *testing.T, db *bun.DB, statements ...string) string {
	t.Helper()
	a := open(t, db, app.Config{Models: clients}, slices.Concat(clientTables("clients"), letterTables(), []string{
		"CREATE TABLE history (id bigint PRIMARY KEY, email text)",
	}, statements)...)
	for _, id := range []string{"1", "2"} {
		if _, err := a.erase(t.Context(), id); err != nil {
			t.Errorf("erased: %v", err)
		}
	}
	return a.log.String()
}

func TestHistoryTablesOfSQLiteAreNamedHoweverTheyAreWritten(t *testing.T) {
	t.Parallel()
	for name, statement := range map[string]string{
		"insert":               "INSERT INTO history VALUES (OLD.id, OLD.email)",
		"quotes":               `INSERT INTO "history" VALUES (OLD.id, OLD.email)`,
		"brackets":             "INSERT INTO [history] VALUES (OLD.id, OLD.email)",
		"backquotes":           "INSERT INTO `history` VALUES (OLD.id, OLD.email)",
		"a text":               "INSERT INTO 'history' VALUES (OLD.id, OLD.email)",
		"a comment":            "INSERT /* ' */ INTO -- \" \n /* * */ history VALUES (OLD.id, OLD.email)",
		"a text before":        "SELECT 'it''s --'; INSERT INTO history VALUES (OLD.id, OLD.email)",
		"a quoted name before": "SELECT 1 AS \"/*\"; INSERT INTO history VALUES (OLD.id, OLD.email); SELECT 1 AS [*/]",
		"no blanks":            "INSERT INTO\"history\"(id,email)VALUES(OLD.id,OLD.email)",
		"replace":              "REPLACE INTO history VALUES (OLD.id, OLD.email)",
		"insert or replace":    "INSERT OR REPLACE INTO history VALUES (OLD.id, OLD.email)",
		"upsert": "INSERT INTO history VALUES (OLD.id, OLD.email) " +
			"ON CONFLICT (id) DO UPDATE SET email = excluded.email",
		"update":              "UPDATE history SET email = OLD.email WHERE id = OLD.id",
		"update in brackets":  "UPDATE [history] SET email = OLD.email WHERE id = OLD.id",
		"update or ignore":    "UPDATE OR IGNORE history SET email = OLD.email WHERE id = OLD.id",
		"update with a alias": "UPDATE/**/history AS h SET email = OLD.email WHERE id = OLD.id",
	} {
		t.Run(name, func(t *testing.T) {
			log := erasureLog(t, databases.SQLite(t),
				"CREATE TRIGGER [update] AFTER UPDATE OF email ON clients BEGIN "+statement+"; END")
			if strings.Count(log, "history") != 1 || strings.Count(log, "level=WARN") != 1 {
				t.Errorf("logged %s", log)
			}
		})
	}
}

// PostgreSQL 14 does not have MERGE. On this version, the trigger has the statement MERGE in a comment and executes
// INSERT.
func TestAHistoryTableThatIsMergedIntoIsNamed(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	merge := "MERGE INTO history AS h USING (SELECT OLD.id, OLD.email) AS o (id, email) ON h.id = o.id" +
		" WHEN NOT MATCHED THEN INSERT VALUES (o.id, o.email);"
	var version int
	must(t, g.db.QueryRowContext(t.Context(), "SELECT current_setting('server_version_num')").Scan(&version))
	if version < 150000 {
		merge = strings.Replace(merge, "MERGE INTO history", "PERFORM 1; /* MERGE INTO history", 1) + " */ " +
			"INSERT INTO history VALUES (OLD.id, OLD.email);"
	}
	log := g.erasureLog(t, nil, "AFTER UPDATE", merge+" RETURN NULL;")
	if strings.Count(log, "history") != 1 || strings.Count(log, "level=WARN") != 1 {
		t.Errorf("logged %s", log)
	}
}

// guarded is a database with the table "history", and with a trigger on the table "clients". The method erasureLog
// replaces this trigger.
type guarded struct{ db *bun.DB }

func newGuarded(t *testing.T) guarded {
	t.Helper()
	db := onPostgres(t)
	open(t, db, app.Config{Models: clients}, slices.Concat(clientTables("clients"), letterTables(), []string{
		"CREATE TABLE history (id bigint PRIMARY KEY, email text)",
	}, function("BEFORE UPDATE", "clients", "RETURN NEW;"))...)
	return guarded{db}
}

// erasureLog replaces the trigger and its functions, erases a client who has no rows, and returns the log.
func (g guarded) erasureLog(t *testing.T, functions []string, event, body string) string {
	t.Helper()
	execute(t, g.db, "DROP FUNCTION guard CASCADE")
	a := open(t, g.db, app.Config{Models: clients}, append(functions, function(event, "clients", body)...)...)
	if _, err := a.erase(t.Context(), "3"); err != nil {
		t.Errorf("erased: %v", err)
	}
	return a.log.String()
}

func TestHistoryTablesOfPostgreSQLAreNamedHoweverTheyAreWritten(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	const writes = "INSERT INTO history VALUES (c.id, c.email);"
	for name, test := range map[string]struct {
		body      string
		functions []string
	}{
		"a comment":         {"INSERT /* ' */ INTO -- \" \n history VALUES (OLD.id, OLD.email);", nil},
		"a dollar text":     {"PERFORM $x$ ' $x$; INSERT INTO history VALUES (OLD.id, OLD.email);", nil},
		"a text of escapes": {`PERFORM E'\''; INSERT INTO history VALUES (OLD.id, E'\\');`, nil},
		"brackets":          {"PERFORM (ARRAY[']', 'x'])[1]; INSERT INTO history VALUES (OLD.id, OLD.email);", nil},
		"a qualified name":  {`INSERT INTO public . "history" VALUES (OLD.id, OLD.email);`, nil},
		"update":            {"UPDATE ONLY history SET email = OLD.email WHERE id = OLD.id;", nil},
		"update by a join":  {"UPDATE public.history AS h SET email = OLD.email WHERE h.id = OLD.id;", nil},
		"upsert": {
			"INSERT INTO history VALUES (OLD.id, OLD.email) ON CONFLICT (id) DO UPDATE SET email = excluded.email;", nil,
		},
		"a function": {"PERFORM keep_all/* */(OLD);", []string{
			"CREATE FUNCTION keep_all(c clients) RETURNS void LANGUAGE plpgsql AS $$ BEGIN " + writes + " END $$",
		}},
		"a procedure": {`CALL "Keep it"(OLD);`, []string{
			`CREATE PROCEDURE "Keep it"(c clients) LANGUAGE plpgsql AS $$ BEGIN ` + writes + " END $$",
		}},
		"a function of a function": {"PERFORM keep(OLD);", []string{
			"CREATE FUNCTION keep_it(c clients) RETURNS void LANGUAGE sql AS $$ " + writes + " $$",
			"CREATE SCHEMA tools",
			"CREATE FUNCTION tools.keep(c clients) RETURNS void LANGUAGE plpgsql AS $$ BEGIN PERFORM keep_it(c); END $$",
			"CREATE FUNCTION keep(c clients) RETURNS void LANGUAGE plpgsql AS $$ BEGIN PERFORM tools.keep(c); END $$",
		}},
		"a function without a text": {"PERFORM keep_both(OLD.id, OLD.email);", []string{
			"CREATE FUNCTION keep_both(id bigint, email text) RETURNS void LANGUAGE sql" +
				" BEGIN ATOMIC INSERT INTO history VALUES (id, email); END",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			log := g.erasureLog(t, test.functions, "AFTER UPDATE", test.body+" RETURN NULL;")
			if strings.Count(log, "history") != 1 || strings.Count(log, "level=WARN") != 1 {
				t.Errorf("logged %s", log)
			}
		})
	}
}

func TestATriggerWhoseStatementsCannotBeReadIsNamed(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	for name, test := range map[string]struct {
		body      string
		functions []string
	}{
		"execute": {"EXECUTE format('INSERT INTO %I VALUES ($1, $2)', 'his' || 'tory') USING OLD.id, OLD.email;", nil},
		"a function that executes": {"PERFORM keep(OLD.id);", []string{
			"CREATE FUNCTION keep(id bigint) RETURNS void LANGUAGE plpgsql AS $$ BEGIN execute 'SELECT ' || id; END $$",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			log := g.erasureLog(t, test.functions, "AFTER UPDATE", test.body+" RETURN NULL;")
			if !strings.Contains(log, "trigger=guard") || !strings.Contains(log, "table=clients") ||
				strings.Count(log, "level=WARN") != 1 {
				t.Errorf("logged %s", log)
			}
		})
	}
	log := g.erasureLog(t, []string{
		"CREATE EXTENSION moddatetime",
		"CREATE TRIGGER stamps BEFORE UPDATE ON clients FOR EACH ROW EXECUTE FUNCTION moddatetime(age)",
	}, "AFTER UPDATE", "RETURN NULL;")
	if !strings.Contains(log, "trigger=stamps") || strings.Count(log, "level=WARN") != 1 {
		t.Errorf("of a trigger in C: logged %s", log)
	}
}

func TestTriggersThatCopyNothingAreNotNamed(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	execute(t, g.db, "CREATE FUNCTION keep(id bigint) RETURNS void LANGUAGE sql AS $$ INSERT INTO history"+
		" VALUES (id, '') $$")
	for name, body := range map[string]string{
		"a comment": "/* INSERT INTO history */ -- UPDATE history SET\n NEW.age := 0; RETURN NEW;",
		"a text":    "NEW.email := 'INSERT INTO history, UPDATE history SET EXECUTE'; RETURN NEW;",
		"a name":    `NEW.age := (SELECT 1 AS "execute insert into history"); RETURN NEW;`,
		"its table": "INSERT INTO letters VALUES (9, 9, 'x') ON CONFLICT DO NOTHING; RETURN NEW;",
		"a lock": "PERFORM 1 FROM letters WHERE id = 9 FOR UPDATE;" +
			" PERFORM 1 FROM letters FOR NO KEY UPDATE SKIP LOCKED; RETURN NEW;",
		"an operation": "IF TG_OP = 'UPDATE' THEN SELECT age INTO NEW.age FROM clients WHERE id = 0; END IF; RETURN NEW;",
		"functions":    "NEW.code := left(md5(lower(NEW.email)), 4); RETURN NEW;",
	} {
		t.Run(name, func(t *testing.T) {
			log := g.erasureLog(t, nil, "BEFORE UPDATE", body)
			if strings.Contains(log, "level=WARN") {
				t.Errorf("logged %s", log)
			}
		})
	}
	execute(t, g.db, "CREATE TRIGGER fewer BEFORE UPDATE ON letters FOR EACH ROW EXECUTE FUNCTION"+
		" suppress_redundant_updates_trigger()")
	if log := g.erasureLog(t, nil, "BEFORE UPDATE", "RETURN NEW;"); strings.Contains(log, "level=WARN") {
		t.Errorf("logged %s", log)
	}
}
