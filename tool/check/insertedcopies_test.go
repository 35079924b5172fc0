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

// writingOrders adds a trigger of users with the code, which writes to the table orders. The database adds the column
// was to orders, and the data map does so if its name is given.
func writingOrders(code, mapped string) func(*world) {
	return func(w *world) {
		if mapped != "" {
			w.addToBoth("orders", datamap.Column{Name: mapped, Type: datamap.TypeText})
		} else {
			w.add("orders", "was", datamap.TypeText)
		}
		w.live("users").Triggers = []datamap.CatalogTrigger{{
			Name: "keep", Events: []string{"UPDATE"}, Language: "plpgsql", Writes: []string{"orders"},
			Definition: "CREATE TRIGGER keep AFTER UPDATE ON users FOR EACH ROW EXECUTE FUNCTION f()",
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

	"trigger-copies of an old value into a column of the data map": {
		writingOrders("UPDATE orders SET was = OLD.email WHERE user_id = OLD.id;", "was"),
		[]string{"trigger-copies orders.was keep"},
	},
	"trigger-copies of an old value into a column that the data map lacks": {
		writingOrders(`UPDATE public.orders AS o SET issued_at = now(), "was" = 'a ' || OLD.nick WHERE id = OLD.id;`, ""),
		[]string{"trigger-copies orders.was keep"},
	},
	"trigger-copies of an old value if it has changed": {
		writingOrders("IF OLD.email IS DISTINCT FROM NEW.email THEN UPDATE orders SET was = OLD.email; END IF;", "was"),
		[]string{"trigger-copies orders.was keep"},
	},
	"trigger-copies not of an old value in a branch for DELETE": {
		writingOrders("IF TG_OP = 'DELETE' THEN UPDATE orders SET was = OLD.email; END IF;", "was"), nil,
	},
	"trigger-copies not of an old value under another condition": {
		writingOrders("IF NEW.id > 5 THEN UPDATE orders SET was = OLD.email; END IF;", "was"), nil,
	},
	"trigger-copies not of an old value if another column changes": {
		both(writingOrders("UPDATE orders SET was = OLD.email;", "was"), func(w *world) {
			of := &w.live("users").Triggers[0]
			of.Definition = "CREATE TRIGGER keep AFTER UPDATE OF theme ON users FOR EACH ROW EXECUTE FUNCTION f()"
		}), nil,
	},
	"trigger-copies not of a new value beside an old one": {
		writingOrders("UPDATE orders SET was = COALESCE(NEW.email, OLD.email);", "was"), nil,
	},
	"trigger-copies not of a sum": {writingOrders("UPDATE orders SET was = was + OLD.email;", "was"), nil},
	"trigger-copies not of a new value into a column of the data map": {
		writingOrders("UPDATE orders SET was = NEW.email WHERE user_id = OLD.id;", "was"), nil,
	},
	"trigger-copies not of other values into a column of the data map": {
		writingOrders("UPDATE orders SET was = OLD.theme WHERE user_id = OLD.id;", "was"), nil,
	},
	"trigger-copies not into an annotated column": {
		writingOrders("UPDATE orders SET address = OLD.email WHERE user_id = OLD.id;", "was"), nil,
	},
	"trigger-copies not into a column without personal data": {
		both(writingOrders("UPDATE orders SET was = OLD.email WHERE user_id = OLD.id;", "was"),
			func(w *world) { w.field("orders", "was").NotPersonal = true }), nil,
	},
	"trigger-copies not into rows that the erasure deletes": {
		both(writingOrders("UPDATE sessions SET was = OLD.email WHERE user_id = OLD.id;", "was"), func(w *world) {
			w.addToBoth("sessions", datamap.Column{Name: "was", Type: datamap.TypeText})
			w.table("sessions").Owned = true
			w.live("users").Triggers[0].Writes = []string{"sessions"}
		}), nil,
	},
	"trigger-copies not if the erasure does not fire the trigger": {
		both(writingOrders("UPDATE orders SET was = OLD.email WHERE user_id = OLD.id;", "was"),
			func(w *world) { w.live("users").Triggers[0].Events = []string{"DELETE"} }), nil,
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
