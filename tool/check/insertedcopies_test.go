package check_test

import "github.com/habeas-data/habeas/domain/datamap"

// inserting adds a trigger of users with the code, which writes to the table signups. A person has decided that signups
// stays out of the data map.
func inserting(code string) func(*world) {
	return func(w *world) {
		w.addTable("signups", "who_mail").Schema = "public"
		w.add("signups", "entry", datamap.TypeJSON)
		settled("signups", "id", "who_mail", "entry", "session_id")(w)
		w.live("users").Triggers = []datamap.CatalogTrigger{{
			Name: "keep", Events: []string{"INSERT", "UPDATE"}, Language: "plpgsql", Writes: []string{"signups"},
			Definition: "CREATE TRIGGER keep AFTER INSERT OR UPDATE ON users FOR EACH ROW EXECUTE FUNCTION f()",
			Code:       "BEGIN " + code + " RETURN NULL; END",
		}}
	}
}

const insertsMail = "INSERT INTO signups (who_mail) VALUES (NEW.email);"

var ofInserts = []string{"trigger-copies users keep"}

// insertedCases are triggers that write to a table that was left out of the data map.
var insertedCases = cases{
	"trigger-copies of a new value": {inserting(insertsMail), ofInserts},
	"trigger-copies of an old value in the second row": {
		inserting("INSERT INTO signups (id, who_mail) VALUES (1, ''), (OLD.id, lower(OLD.email::text));"), ofInserts,
	},
	"trigger-copies of a query": {
		inserting("INSERT INTO public.signups (who_mail) SELECT 'was ' || OLD.email FROM orders WHERE id = 1;"), ofInserts,
	},
	"trigger-copies of a complete row": {
		inserting("INSERT INTO signups AS a VALUES (1, NULL, to_jsonb(NEW)) RETURNING id;"), ofInserts,
	},
	"trigger-copies of some values": {
		inserting("IF NEW.id > 5 THEN INSERT INTO signups (entry) VALUES (jsonb_build_object('m', NEW.email)); END IF;"),
		ofInserts,
	},
	"trigger-copies of an old value in rows that stay": {
		inserting("UPDATE ONLY signups SET id = 2, who_mail = OLD.email WHERE id = OLD.id;"), ofInserts,
	},

	"trigger-copies not of a new value in rows that stay": {
		inserting("UPDATE signups SET who_mail = NEW.email WHERE id = OLD.id;"), nil,
	},
	"trigger-copies not of an old value in a condition": {
		inserting("UPDATE signups SET who_mail = '' WHERE who_mail = OLD.email;"), nil,
	},
	"trigger-copies not of other values": {inserting("INSERT INTO signups (who_mail) VALUES (NEW.theme);"), nil},
	"trigger-copies not of a hash":       {inserting("INSERT INTO signups (who_mail) VALUES (md5(NEW.email));"), nil},
	"trigger-copies not of a length":     {inserting("INSERT INTO signups (id) VALUES (length(NEW.email));"), nil},
	"trigger-copies not of a comparison": {
		inserting("INSERT INTO signups (who_mail) VALUES (NEW.email IS NOT NULL);"), nil,
	},
	"trigger-copies not of a condition": {
		inserting("INSERT INTO signups (who_mail) SELECT 'x' WHERE NEW.email <> 'a';"), nil,
	},
	"trigger-copies not into another table": {inserting("INSERT INTO orders (address) VALUES (NEW.email);"), nil},
	"trigger-copies not if the row is kept current": {
		inserting("INSERT INTO signups (id, who_mail) VALUES (1, NEW.email) ON CONFLICT (id) DO UPDATE SET who_mail = 'x';"),
		nil,
	},
	"trigger-copies not if an update follows": {
		inserting("IF TG_OP = 'INSERT' THEN " + insertsMail + " ELSE UPDATE signups SET who_mail = NEW.email; END IF;"), nil,
	},
	"trigger-copies not if a trigger deletes the rows": {
		both(inserting(insertsMail), func(w *world) { w.live("users").Triggers[0].Deletes = []string{"signups"} }),
		[]string{"trigger-deletes users keep"},
	},
	"trigger-copies not if the database deletes the rows": {
		both(inserting(insertsMail), func(w *world) {
			w.add("signups", "session_id", datamap.TypeBigInt)
			live := w.live("signups")
			live.ForeignKeys = []datamap.CatalogForeignKey{foreignKey("session_id", "sessions", datamap.ActionCascade)}
			live.Indexes = append(live.Indexes, datamap.CatalogIndex{Columns: []string{"session_id"}})
		}), []string{"delete-cascades signups.session_id session_id_fkey"},
	},
}
