package check_test

import "github.com/habeas-data/habeas/domain/datamap"

// named adds text columns with the given names to a table, both in the data map and in the database.
func named(table string, names ...string) func(*world) {
	return func(w *world) {
		for _, name := range names {
			w.addToBoth(table, datamap.Column{Name: name, Type: datamap.TypeText})
		}
	}
}

func typed(name string, t datamap.ColumnType) func(*world) {
	return func(w *world) { w.addToBoth("users", datamap.Column{Name: name, Type: t}) }
}

var nameCases = cases{
	"personal-unannotated":            {named("users", "phone"), []string{"personal-unannotated users.phone"}},
	"personal-unannotated in the row": {named("users", "name"), []string{"personal-unannotated users.name"}},
	"personal-unannotated of an order": {
		named("orders", "billing_phone"), []string{"personal-unannotated orders.billing_phone"},
	},
	"personal-unannotated that is new": {
		func(w *world) { w.add("users", "geburtsdatum", datamap.TypeTime) },
		[]string{"personal-unannotated users.geburtsdatum"},
	},
	"personal-unannotated in an address": {
		func(w *world) { w.add("users", "seen", datamap.TypeText); w.setType("users", "seen", "", "inet") },
		[]string{"personal-unannotated users.seen"},
	},
	"personal-unannotated in languages": {
		named("users", "vorname", "Straße", "prénom", "apellidos", "iban", "lastName", "passportNo", "avatar_url",
			"password"),
		[]string{
			"personal-unannotated users.Straße", "personal-unannotated users.apellidos", "personal-unannotated users.avatar_url",
			"personal-unannotated users.iban", "personal-unannotated users.lastName", "personal-unannotated users.passportNo",
			"personal-unannotated users.password", "personal-unannotated users.prénom", "personal-unannotated users.vorname",
		},
	},
	"personal-unannotated if the row goes": {
		func(w *world) {
			w.addToBoth("sessions", datamap.Column{Name: "ip", Type: datamap.TypeText})
			w.table("sessions").Owned = true
		},
		[]string{"personal-unannotated sessions.ip"},
	},
	"personal-unannotated not if it says so": {
		func(w *world) {
			w.addToBoth("users", datamap.Column{Name: "phone", Type: datamap.TypeText, NotPersonal: true})
		}, nil,
	},
	"personal-unannotated of a column that a draft annotates": {
		named("users", "credited_name", "company"),
		[]string{"personal-unannotated users.company", "personal-unannotated users.credited_name"},
	},
	"personal-unannotated of a document about the row": {
		func(w *world) {
			posts := datamap.Table{
				Name: "posts", PrimaryKey: []string{"id"}, Relations: []datamap.Relation{belongsTo("users", "user_id")},
				Columns: []datamap.Column{
					{Name: "id", Type: datamap.TypeBigInt},
					{Name: "user_id", Type: datamap.TypeBigInt},
					{Name: "body", Type: datamap.TypeText, Personal: personal(anonymize)},
					{Name: "title", Type: datamap.TypeText},
					{Name: "metadata", Type: datamap.TypeJSON},
				},
			}
			w.tables = append(w.tables, posts)
			w.catalog.Tables = append(w.catalog.Tables, liveOf(posts))
		}, []string{"personal-unannotated posts.metadata", "personal-unannotated posts.title"},
	},
	"personal-unannotated not of such a column after an answer": {
		func(w *world) {
			w.addToBoth("users", datamap.Column{
				Name: "credited_name", Type: datamap.TypeText, Note: "DECIDED: Is it personal? (no)",
			})
		}, nil,
	},
	"personal-unannotated not of such a column in records": {
		named("orders", "company", "credited_name"), nil,
	},
	"column-unknown": {
		func(w *world) {
			w.add("users", "moniker", datamap.TypeText)
			w.add("users", "scan", datamap.TypeBytes)
			w.add("orders", "extra", datamap.TypeJSON)
		}, []string{"column-unknown orders.extra", "column-unknown users.moniker, scan"},
	},
	"column-unknown not of a column with a finding of its own": {
		func(w *world) { w.add("users", "phone", datamap.TypeText) }, []string{"personal-unannotated users.phone"},
	},
	"column-unknown not of rows that go": {
		func(w *world) { w.add("sessions", "moniker", datamap.TypeText); w.table("sessions").Owned = true }, nil,
	},
	"column-unknown not after an answer": {
		func(w *world) {
			w.add("users", "moniker", datamap.TypeText)
			w.table("users").Note = "DECIDED: Do further texts hold personal data (moniker)? (no)"
		}, nil,
	},
	"column-unknown not of what no person writes": {
		func(w *world) {
			w.add("users", "logins", datamap.TypeInteger)
			w.add("users", "currency", datamap.TypeText)
			w.add("users", "created_at", datamap.TypeTime)
			w.add("users", "digest", datamap.TypeText)
			w.column("users", "digest").Generated = true
		}, nil,
	},
	"personal-unannotated not of a name of a thing": {
		named("users", "file_name", "plan_name", "email_template", "locale", "role", "status"), nil,
	},
	"personal-unannotated not of a file":     {named("orders", "name", "thumbnail_hash", "checksum_hash", "title"), nil},
	"personal-unannotated not of a boolean":  {typed("phone_verified", datamap.TypeBoolean), nil},
	"personal-unannotated not of an instant": {typed("email_verified_at", datamap.TypeTime), nil},
	"personal-unannotated not of a count":    {typed("email_count", datamap.TypeInteger), nil},
	"personal-unannotated not of a reference": {
		func(w *world) {
			w.addToBoth("users", datamap.Column{Name: "phone", Type: datamap.TypeBigInt})
			w.addTable("phones")
			w.live("users").ForeignKeys = []datamap.CatalogForeignKey{foreignKey("phone", "phones", datamap.ActionNone)}
		}, nil,
	},
	"personal-unannotated not if it is computed": {
		func(w *world) {
			w.add("users", "full_name", datamap.TypeText)
			w.column("users", "full_name").Generated = true
		}, nil,
	},
	"personal-unannotated not twice": {
		func(w *world) { w.add("sessions", "ip", datamap.TypeText) }, []string{"column-unmapped sessions.ip"},
	},
	"personal-unannotated of a document about the subject": {
		func(w *world) { w.add("users", "prefs", datamap.TypeJSON) }, []string{"personal-unannotated users.prefs"},
	},
	"personal-unannotated not of a document about another row": {
		func(w *world) { w.addToBoth("orders", datamap.Column{Name: "prefs", Type: datamap.TypeJSON}) }, nil,
	},
	"personal-key": {
		func(w *world) {
			w.addToBoth("users", datamap.Column{Name: "username", Type: datamap.TypeText})
			w.table("users").PrimaryKey, w.live("users").PrimaryKey = []string{"username"}, []string{"username"}
			w.table("users").SubjectKey = []string{"username"}
			w.live("users").Indexes = append(w.live("users").Indexes, datamap.CatalogIndex{Columns: []string{"username"}})
			w.live("users").Uniques = append(w.live("users").Uniques, datamap.CatalogUnique{Columns: []string{"id"}})
		}, []string{"personal-key users.username"},
	},
	"personal-key of another table's relation": {
		func(w *world) {
			w.addToBoth("users", datamap.Column{Name: "mail_address", Type: datamap.TypeText})
			w.addToBoth("orders", datamap.Column{Name: "buyer", Type: datamap.TypeText})
			w.table("orders").Relations = []datamap.Relation{{
				Columns: []string{"buyer"}, References: "users", ReferencedColumns: []string{"mail_address"},
			}}
			w.live("orders").Indexes = append(w.live("orders").Indexes, datamap.CatalogIndex{Columns: []string{"buyer"}})
		}, []string{
			"path-missing orders.user_id user_id_fkey", "personal-key users.mail_address", "relation-shared orders.buyer",
		},
	},
	"personal-key not if the row goes": {
		func(w *world) {
			w.addToBoth("sessions", datamap.Column{Name: "device_id", Type: datamap.TypeText})
			w.table("sessions").PrimaryKey, w.live("sessions").PrimaryKey = []string{"device_id"}, []string{"device_id"}
			w.table("sessions").Owned = true
		}, nil,
	},
	"secret-key": {
		func(w *world) {
			w.addToBoth("sessions", datamap.Column{Name: "token", Type: datamap.TypeText})
			w.table("sessions").PrimaryKey, w.live("sessions").PrimaryKey = []string{"token"}, []string{"token"}
			w.table("sessions").Owned = true
		}, []string{"secret-key sessions.token"},
	},
	"secret-key not if it says so": {
		func(w *world) {
			annotation := personal(erase)
			annotation.Export = datamap.ExportYes
			w.addToBoth("sessions", datamap.Column{Name: "token", Type: datamap.TypeText, Personal: annotation})
			w.table("sessions").PrimaryKey, w.live("sessions").PrimaryKey = []string{"token"}, []string{"token"}
			w.table("sessions").Owned = true
		}, nil,
	},
	"secret-key not of a setting": {
		func(w *world) {
			w.addToBoth("sessions", datamap.Column{Name: "setting_key", Type: datamap.TypeText})
			w.table("sessions").PrimaryKey = []string{"setting_key"}
			w.live("sessions").PrimaryKey = []string{"setting_key"}
			w.table("sessions").Owned = true
		}, nil,
	},
	"secret-exported": {
		func(w *world) {
			w.addToBoth("users", datamap.Column{Name: "passwd", Type: datamap.TypeText, Personal: personal(anonymize)})
		}, []string{"secret-exported users.passwd"},
	},
	"secret-exported not if it says so": {
		func(w *world) {
			for _, export := range []datamap.Export{datamap.ExportNo, datamap.ExportYes} {
				annotation := personal(anonymize)
				annotation.Export = export
				w.addToBoth("users", datamap.Column{Name: "passwd_" + string(export), Type: datamap.TypeText, Personal: annotation})
			}
		}, nil,
	},
	"secret-exported not of a code": {
		func(w *world) {
			w.addToBoth("users", datamap.Column{Name: "code", Type: datamap.TypeText, Personal: personal(anonymize)})
		}, nil,
	},
}
