package check_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/adapters/persistence/manifest"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/tool/check"
)

// copyingTriggers are triggers that copy the column email into the column before of the same row. The value is true if
// the copy can survive an erasure, which overwrites email and nick. COPY stands for the assignment.
var copyingTriggers = map[string]map[[2]string]bool{
	"when the database fires the trigger": {
		{"INSERT OR UPDATE OF email", "COPY"}:                                                     false,
		{"INSERT OR UPDATE OF nick, created_at", "COPY"}:                                          false,
		{"INSERT OR UPDATE OF created_at", "COPY"}:                                                true,
		{"UPDATE WHEN (OLD.email IS DISTINCT FROM NEW.email)", "COPY"}:                            false,
		{"UPDATE WHEN (OLD.* IS DISTINCT FROM NEW.*)", "COPY"}:                                    false,
		{"UPDATE WHEN (pg_trigger_depth() = 0)", "COPY"}:                                          false,
		{"UPDATE WHEN (pg_trigger_depth() > 0)", "COPY"}:                                          true,
		{"UPDATE WHEN (NEW.nick <> '')", "COPY"}:                                                  true,
		{"UPDATE WHEN (OLD.created_at IS DISTINCT FROM NEW.created_at)", "COPY"}:                  true,
		{"UPDATE WHEN (OLD.email IS DISTINCT FROM NEW.email AND NEW.created_at > now())", "COPY"}: true,
	},
	"conditions in the code": {
		{"UPDATE", "IF NEW.email IS DISTINCT FROM OLD.email THEN COPY END IF;"}:                         false,
		{"UPDATE", "IF NOT (NEW.email IS NOT DISTINCT FROM OLD.email) THEN COPY END IF;"}:               false,
		{"UPDATE", "IF OLD.email IS NULL OR NEW.email IS DISTINCT FROM OLD.email THEN COPY END IF;"}:    false,
		{"UPDATE", "IF (NEW.email, NEW.nick) IS DISTINCT FROM (OLD.email, OLD.nick) THEN COPY END IF;"}: false,
		{"UPDATE", "IF NEW.email <> OLD.email THEN COPY END IF;"}:                                       true,
		{"UPDATE", "IF NEW.before IS NULL THEN COPY END IF;"}:                                           true,
		{"UPDATE", "IF NEW.nick = '' THEN RAISE; ELSE COPY END IF;"}:                                    true,
		{"UPDATE", "BEGIN COPY EXCEPTION WHEN others THEN NULL; END;"}:                                  false,
		{"UPDATE", "WHILE NEW.before IS NULL LOOP COPY END LOOP;"}:                                      true,
		{"UPDATE", "CASE WHEN NEW.nick IS NULL THEN COPY ELSE NULL; END CASE;"}:                         true,
	},
	"the operation": {
		{"INSERT OR UPDATE", "IF TG_OP = 'INSERT' THEN COPY END IF;"}:              true,
		{"INSERT OR UPDATE", "IF TG_OP <> 'DELETE' THEN COPY END IF;"}:             false,
		{"INSERT OR UPDATE", "IF TG_OP IN ('INSERT', 'UPDATE') THEN COPY END IF;"}: false,
		{"INSERT OR UPDATE", `IF TG_OP = 'INSERT' OR
			NEW.email IS DISTINCT FROM OLD.email THEN COPY END IF;`}: false,
		{"INSERT OR UPDATE", `IF TG_OP = 'INSERT' THEN COPY
			ELSIF TG_OP = 'UPDATE' THEN NEW.before := lower(NEW.email); END IF;`}: false,
		{"INSERT OR UPDATE", "IF TG_OP = 'INSERT' THEN COPY ELSE NEW.created_at := now(); END IF;"}: true,
		{"INSERT OR UPDATE", "IF TG_OP = 'INSERT' THEN RETURN NEW; END IF; COPY"}:                   false,
		{"INSERT OR UPDATE", "IF TG_OP = 'UPDATE' THEN RETURN NEW; END IF; COPY"}:                   true,
	},
	"returns before the copy": {
		{"UPDATE", "IF NEW.email = OLD.email THEN RETURN NEW; END IF; COPY"}:           false,
		{"UPDATE", "IF NEW.created_at = OLD.created_at THEN RETURN NEW; END IF; COPY"}: true,
	},
	"the value": {
		{"UPDATE", "NEW.before := COALESCE(NEW.before, NEW.email);"}:                                    true,
		{"UPDATE", "NEW.before := CASE WHEN NEW.nick IS NULL THEN NEW.email ELSE '' END;"}:              false,
		{"UPDATE", "UPDATE users SET before = NEW.email WHERE id = NEW.id;"}:                            false,
		{"UPDATE", "UPDATE users SET before = NEW.email WHERE users.id = NEW.id;"}:                      false,
		{"UPDATE", "UPDATE users SET before = NEW.email WHERE id = NEW.id AND before IS NULL;"}:         true,
		{"UPDATE", "UPDATE users AS u SET before = NEW.email FROM visits WHERE visits.user_id = u.id;"}: true,
	},
	"a variable": {
		{"INSERT", "DECLARE v text; BEGIN v := NEW.email; NEW.before := v; END;"}:                                    true,
		{"INSERT", "DECLARE v text := NEW.email; BEGIN NEW.before := lower(v); END;"}:                                true,
		{"INSERT", "DECLARE v text; w text; BEGIN v = NEW.email; w := v; NEW.before := w; END;"}:                     true,
		{"INSERT", "DECLARE r record; BEGIN r := NEW; NEW.before := r.email; END;"}:                                  true,
		{"INSERT", "DECLARE r record; BEGIN r := NEW; NEW.before := r.created_at; END;"}:                             false,
		{"INSERT", "DECLARE v text; BEGIN SELECT NEW.email INTO v; NEW.before := v; END;"}:                           true,
		{"INSERT", "DECLARE t text; v text; BEGIN SELECT now(), NEW.email INTO t, v; NEW.before := t; END;"}:         false,
		{"INSERT", "DECLARE t text; v text; BEGIN SELECT now(), NEW.email INTO t, v; NEW.before := v; END;"}:         true,
		{"UPDATE", "DECLARE v text; BEGIN SELECT OLD.id, NEW.email INTO NEW.id, v; NEW.before := v; END;"}:           false,
		{"UPDATE", "DECLARE v text; BEGIN v := NEW.email; NEW.before := v; END;"}:                                    false,
		{"UPDATE", "DECLARE v text; BEGIN IF NEW.nick = '' THEN v := NEW.email; END IF; NEW.before := v; END;"}:      true,
		{"UPDATE", "DECLARE v text; BEGIN v := OLD.email; NEW.before := v; END;"}:                                    true,
		{"UPDATE", "DECLARE v text; BEGIN SELECT email INTO v FROM users WHERE id = NEW.id; NEW.before := v; END;"}:  true,
		{"UPDATE", "DECLARE v text; BEGIN SELECT email INTO v FROM visits WHERE id = NEW.id; NEW.before := v; END;"}: false,
		{"INSERT", "DECLARE v text := ''; BEGIN " + strings.Repeat("v := v || NEW.email || v; ", 100) +
			"NEW.before := v; END;"}: true,
	},
}

func TestCopiesInTheSameRowThatATriggerDoesNotRenewAreFound(t *testing.T) {
	for kind, cases := range copyingTriggers {
		t.Run(kind, func(t *testing.T) {
			db := databases.PostgreSQL(t)
			for _, statement := range append(slices.Clone(makeUsers), addBefore) {
				_, err := db.ExecContext(t.Context(), statement)
				must(t, err)
			}
			text := strings.NewReplacer("COLUMNS", "", "TABLES", "").Replace(usersInManifest)
			dataMap, err := manifest.Read(strings.NewReader(text))
			must(t, err)
			plan, err := erasure.Planner{}.Plan(dataMap, nil)
			must(t, err)
			store, err := bunstore.New(db, dataMap, bunstore.Options{})
			must(t, err)
			for trigger, isDanger := range cases {
				header, when, _ := strings.Cut(trigger[0], " WHEN ")
				if when != "" {
					when = " WHEN " + when
				}
				body := strings.ReplaceAll(trigger[1], "COPY", "NEW.before := NEW.email;")
				_, err := db.ExecContext(t.Context(), `CREATE OR REPLACE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS
					$$ BEGIN `+body+` RETURN NEW; END $$; DROP TRIGGER IF EXISTS keep ON users;
					CREATE TRIGGER keep BEFORE `+header+` ON users FOR EACH ROW`+when+` EXECUTE FUNCTION f()`)
				must(t, err)
				result, err := check.Run(t.Context(), store, dataMap, plan, check.Options{Manifest: true})
				must(t, err)
				found := slices.ContainsFunc(result.Findings, func(f datamap.Finding) bool {
					return f.Code == "trigger-copies" && f.Column == "before"
				})
				if found != isDanger {
					t.Errorf("%s: %s: found %t, want %t", trigger[0], trigger[1], found, isDanger)
				}
			}
		})
	}
}
