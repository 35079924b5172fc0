package check_test

import "github.com/habeas-data/habeas/domain/datamap"

// recognizedCases are tables and columns that the check recognizes by their names, and similar ones that hold nothing
// about people.
var recognizedCases = cases{
	"table-unmapped not of a list of things in rows that a person made": {
		both(versions, refers("parts", "version_id", "versions")), nil,
	},
	"table-unmapped of documents in rows that a person made": {
		both(versions, refers("parts", "version_id", "versions"), func(w *world) {
			w.add("parts", "extra", datamap.TypeJSON)
		}),
		[]string{"table-unmapped parts.version_id"},
	},
	"table-unmapped of a list of things in rows that belong to a person": {
		both(refers("parts", "order_id", "orders")), []string{"table-unmapped parts.order_id"},
	},

	"table-unlinked of notes": {oneOf("notes", "notable"), []string{"table-unlinked notes.notable_id"}},
	"table-unlinked of comments": {
		oneOf("comments", "commentable"), []string{"table-unlinked comments.commentable_id"},
	},
	"table-unlinked of documents": {
		oneOf("documents", "documentable"), []string{"table-unlinked documents.documentable_id"},
	},
	"table-unlinked of mentions": {oneOf("pings", "mention"), []string{"table-unlinked pings.mention_id"}},
	"table-unlinked of two sides": {
		func(w *world) {
			w.addTable("duels")
			w.add("duels", "challenger", datamap.TypeBigInt)
			w.addTable("sales")
			w.add("sales", "seller_id", datamap.TypeBigInt)
		}, []string{"table-unlinked duels.challenger", "table-unlinked sales.seller_id"},
	},
	"table-unlinked not of sides that are teams": {
		both(outside("teams", "color"), func(w *world) {
			w.addTable("matches")
			w.add("matches", "opponent", datamap.TypeBigInt)
		}), nil,
	},
	"table-unlinked of people who take part, also beside teams": {
		both(outside("teams", "color"), func(w *world) {
			w.addTable("checks")
			w.add("checks", "applicant", datamap.TypeBigInt)
			w.addTable("walks")
			w.add("walks", "volunteer_id", datamap.TypeBigInt)
		}), []string{"table-unlinked checks.applicant", "table-unlinked walks.volunteer_id"},
	},
	"table-unlinked not of sides that are companies": {
		both(outside("merchants", "color"), func(w *world) {
			w.addTable("offers")
			w.add("offers", "seller_id", datamap.TypeBigInt)
		}), nil,
	},
	"table-unlinked not of sides with a table": {
		both(outside("sellers", "color"), func(w *world) {
			w.addTable("sales")
			w.add("sales", "seller_id", datamap.TypeBigInt)
		}), nil,
	},
	"table-unlinked not of other values of a side": {
		func(w *world) {
			w.addTable("duels", "challenger")
			w.add("duels", "opponent", datamap.TypeSmallInt)
			w.add("duels", "opponent_count", datamap.TypeBigInt)
		}, nil,
	},
	"table-unlinked not of tags":           {oneOf("labels", "taggable"), nil},
	"table-unlinked not of what people do": {oneOf("goals", "contribution"), nil},
	"table-unlinked not of carts":          {oneOf("lines", "purchasable"), nil},

	"path-missing not if the data map states that it is the same person": {
		func(w *world) {
			w.addToBoth("orders", datamap.Column{Name: "payer_id", Type: datamap.TypeBigInt})
			same := belongsTo("users", "payer_id")
			same.SamePerson = true
			w.table("orders").Relations[0].Path = true
			w.table("orders").Relations = append(w.table("orders").Relations, same)
		}, nil,
	},

	"personal-unannotated of a handle elsewhere": {
		func(w *world) { w.addToBoth("users", datamap.Column{Name: "mastodon_handle", Type: datamap.TypeText}) },
		[]string{"personal-unannotated users.mastodon_handle"},
	},
	"personal-unannotated not of what a handle is": {
		func(w *world) { w.addToBoth("users", datamap.Column{Name: "handle_kind", Type: datamap.TypeText}) }, nil,
	},
	"table-personal of sessions with the last activity": {
		both(outside("cookie_store", "payload"), activity("cookie_store")),
		[]string{"table-personal cookie_store.payload"},
	},
	"table-personal not of rooms with the last activity": {both(outside("rooms", "data"), activity("rooms")), nil},
	"table-personal of events": {
		typedOutside("event_stream", "body", datamap.TypeJSON), []string{"table-personal event_stream.body"},
	},
	"table-personal not of the webhooks of events": {typedOutside("event_hooks", "body", datamap.TypeJSON), nil},
}

// versions adds a table to the data map that refers to users only by the person who published a row.
func versions(w *world) {
	table := datamap.Table{
		Name: "versions", PrimaryKey: []string{"id"}, Relations: []datamap.Relation{belongsTo("users", "published_by")},
		Columns: []datamap.Column{
			{Name: "id", Type: datamap.TypeBigInt},
			{Name: "published_by", Type: datamap.TypeBigInt},
			{Name: "agent", Type: datamap.TypeText, Personal: personal(anonymize)},
		},
	}
	w.tables, w.catalog.Tables = append(w.tables, table), append(w.catalog.Tables, liveOf(table))
}

// refers adds a table with a text to the database, which refers to a table of the data map.
func refers(table, column, to string) func(*world) {
	return func(w *world) {
		live := w.addTable(table, "requirement")
		w.add(table, column, datamap.TypeBigInt)
		live.ForeignKeys = append(live.ForeignKeys, foreignKey(column, to, datamap.ActionNone))
		live.Indexes = append(live.Indexes, datamap.CatalogIndex{Columns: []string{column}})
	}
}

// oneOf adds a table to the database whose rows refer to a row of one of several tables.
func oneOf(table, stem string) func(*world) {
	return func(w *world) {
		w.addTable(table, stem+"_type")
		w.add(table, stem+"_id", datamap.TypeBigInt)
	}
}

func activity(table string) func(*world) {
	return func(w *world) { w.add(table, "last_activity", datamap.TypeInteger) }
}
