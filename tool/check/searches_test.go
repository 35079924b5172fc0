package check_test

import (
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
)

// rowed adds a trigger to a table, with a code that the database runs for each row before the event.
func rowed(table, event, code string) func(*world) {
	return func(w *world) { coded(table, event, "BEGIN "+code+" RETURN NEW; END")(w) }
}

// words adds a full-text column to orders.
func words(w *world) {
	w.addToBoth("orders", datamap.Column{Name: "words"})
	w.column("orders", "words").Declared = "tsvector"
}

const gathers = "NEW.words := to_tsvector((SELECT u.email FROM users AS u WHERE u.id = NEW.user_id));"

var gatheredCases = cases{
	"search-copies of another table": {
		both(words, rowed("orders", "INSERT", gathers)), []string{"search-copies orders.words"},
	},
	"search-copies not of other columns of another table": {
		both(words, rowed("orders", "INSERT",
			"NEW.words := to_tsvector((SELECT u.theme FROM users AS u WHERE u.id = NEW.user_id));")), nil,
	},
	"search-copies not of another table if a trigger of it writes to the first one": {
		both(both(words, rowed("orders", "INSERT", gathers)), func(w *world) {
			w.live("users").Triggers = []datamap.CatalogTrigger{
				{Name: "again", Events: []string{"UPDATE"}, Writes: []string{"orders"}},
			}
		}), nil,
	},
	"search-copies not of another table into rows that go": {
		func(w *world) {
			w.table("sessions").Owned = true
			w.addToBoth("sessions", datamap.Column{Name: "words"})
			w.column("sessions", "words").Declared = "tsvector"
			rowed("sessions", "INSERT", gathers)(w)
		}, nil,
	},
	"search-copies not of another table into a column without personal data": {
		func(w *world) {
			words(w)
			w.field("orders", "words").NotPersonal = true
			rowed("orders", "INSERT", gathers)(w)
		}, nil,
	},

	"table-unlinked of a list in a text": {
		both(posted, func(w *world) { w.addTable("events", "reviewer_ids") }),
		[]string{"table-unmapped letters.user_id", "table-unlinked events.reviewer_ids"},
	},
	"table-unlinked of a list in a text with the name of the people": {
		func(w *world) { w.addTable("events", "editor_user_ids") }, []string{"table-unlinked events.editor_user_ids"},
	},
	"table-unlinked not of a list of things in a text": {func(w *world) { w.addTable("events", "folder_ids") }, nil},
	"path-missing of a list in a text": {
		func(w *world) { w.addToBoth("orders", datamap.Column{Name: "approver_ids", Type: datamap.TypeText}) },
		[]string{"path-missing orders.approver_ids"},
	},

	"personal-unannotated of key and value": {
		declared("extra", "hstore"), []string{"personal-unannotated users.extra"},
	},
	"personal-unannotated of XML":         {declared("card", "xml"), []string{"personal-unannotated users.card"}},
	"personal-unannotated not of a range": {declared("part", "int4range"), nil},
	"personal-unannotated of a digest": {
		func(w *world) { w.addToBoth("users", datamap.Column{Name: "email_sha256", Type: datamap.TypeText}) },
		[]string{"personal-unannotated users.email_sha256"},
	},

	"table-personal of mails": {
		func(w *world) { w.addTable("outgoing", "rcpt", "subject", "body") }, []string{"table-personal outgoing.rcpt"},
	},
	"table-personal of documents of mails": {
		func(w *world) { w.addTable("queue", "to_address"); w.add("queue", "payload", datamap.TypeJSON) },
		[]string{"table-personal queue.to_address"},
	},
	"table-personal not of receivers without a message": {
		func(w *world) { w.addTable("sinks", "recipient", "n") }, nil,
	},
	"table-personal not of mails without a receiver": {
		func(w *world) { w.addTable("layouts", "subject", "body") }, nil,
	},

	"table-unlinked of the owner of a setting": {
		func(w *world) { w.addTable("user_meta", "k", "v"); w.add("user_meta", "owner", datamap.TypeBigInt) },
		[]string{"table-unlinked user_meta.owner"},
	},
	"table-unlinked not of the owner of a thing": {
		func(w *world) { w.addTable("site_meta", "k", "v"); w.add("site_meta", "owner", datamap.TypeBigInt) }, nil,
	},
	"table-unlinked not of an owner with another type": {func(w *world) { w.addTable("user_meta", "owner", "v") }, nil},

	"trigger-deletes texts of nobody": {
		func(w *world) {
			w.addTable("titles", "title")
			trigger("sessions", "DELETE")(w)
			w.live("sessions").Triggers[0].Deletes = []string{"titles"}
		}, []string{"trigger-deletes sessions keep"},
	},

	"trigger-refuses a surrogate": {
		both(fixed("gone"), rowed("users", "UPDATE", "IF NEW.theme = 'gone' THEN RAISE 'no'; END IF;")),
		[]string{"trigger-refuses users keep"},
	},
	"surrogate-cast of a generated column": {
		both(fixed("gone"), generated("(theme)::bigint")), []string{"surrogate-cast users.theme computed"},
	},
}

// declared adds a column of a type that the data map does not support to users.
func declared(name, kind string) func(*world) {
	return func(w *world) {
		w.addToBoth("users", datamap.Column{Name: name})
		w.column("users", name).Declared = kind
	}
}

// fixed gives theme of users a surrogate.
func fixed(surrogate string) func(*world) {
	return func(w *world) {
		w.field("users", "theme").Personal, w.field("users", "theme").Surrogate = personal(anonymize), surrogate
	}
}

// generated adds a generated column to users.
func generated(expression string) func(*world) {
	return func(w *world) {
		live := w.live("users")
		live.Columns = append(live.Columns, datamap.CatalogColumn{
			Name: "computed", Type: datamap.TypeBigInt, Declared: "bigint", Generated: true, Expression: expression,
		})
	}
}

// The severity of these findings depends on whether lint can prove that an erasure fails.
func TestAFailureThatLintCanProveIsAnError(t *testing.T) {
	refuses := func(code string) func(*world) { return rowed("users", "UPDATE", code) }
	deletes := func(name string) func(*world) {
		return func(w *world) {
			w.addTable(name, "title")
			trigger("sessions", "DELETE")(w)
			w.live("sessions").Triggers[0].Deletes = []string{name}
		}
	}
	for name, test := range map[string]struct {
		change func(*world)
		want   datamap.Severity
	}{
		"a text that a trigger refuses": {
			both(fixed("gone"), refuses("IF NEW.theme = 'gone' THEN RAISE 'no'; END IF;")), datamap.SeverityError,
		},
		"another text": {
			both(fixed("gone"), refuses("IF NEW.theme = '' THEN RAISE 'no'; END IF;")), datamap.SeverityNotice,
		},
		"a text in a column that a trigger sets": {
			both(fixed("gone"), refuses("NEW.theme := lower(NEW.theme); IF NEW.theme = 'gone' THEN RAISE 'no'; END IF;")),
			datamap.SeverityNotice,
		},
		"a text in a column that an erasure sets to NULL": {
			refuses("IF NEW.nick = '' THEN RAISE 'no'; END IF;"), datamap.SeverityNotice,
		},
		"a number that no text is": {both(fixed("gone"), generated("(theme)::bigint")), datamap.SeverityError},
		"a number that the text may be": {
			both(fixed("0x10"), generated("(theme)::bigint")), datamap.SeverityWarning,
		},
		"a number of a part of the text": {
			both(fixed("gone"), generated("COALESCE((theme)::bigint, 0)")), datamap.SeverityWarning,
		},
		"a text with random digits": {generated("(email)::numeric"), datamap.SeverityError},
		"an empty date": {
			both(fixed(datamap.EmptySurrogate), generated("(theme)::date")), datamap.SeverityError,
		},
		"a date":                  {both(fixed("gone"), generated("(theme)::date")), datamap.SeverityWarning},
		"deleted texts of people": {deletes("comments"), datamap.SeverityWarning},
		"deleted texts of nobody": {deletes("titles"), datamap.SeverityNotice},
	} {
		w := newWorld()
		test.change(w)
		if found := w.findings(t); len(found) != 1 || found[0].Severity != test.want {
			t.Errorf("%s: got %v, want one %s", name, found, test.want)
		}
	}
}
