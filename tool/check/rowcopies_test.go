package check_test

import (
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
)

// documents adds a table with columns for documents to the database only.
func documents(table string, columns ...string) func(*world) {
	return func(w *world) {
		w.addTable(table)
		for _, column := range columns {
			w.add(table, column, datamap.TypeJSON)
		}
	}
}

// mappedHistory adds a history to the data map that refers to users only by the person who changed a row. Its documents
// are not annotated, and have the given note.
func mappedHistory(table, note string, columns ...string) func(*world) {
	return func(w *world) {
		history := datamap.Table{
			Name: table, PrimaryKey: []string{"id"}, Relations: []datamap.Relation{belongsTo("users", "user_id")},
			Columns: []datamap.Column{
				{Name: "id", Type: datamap.TypeBigInt},
				{Name: "user_id", Type: datamap.TypeBigInt},
				{Name: "agent", Type: datamap.TypeText, Personal: personal(anonymize)},
			},
		}
		for _, column := range columns {
			history.Columns = append(history.Columns, datamap.Column{Name: column, Type: datamap.TypeJSON, Note: note})
		}
		w.tables, w.catalog.Tables = append(w.tables, history), append(w.catalog.Tables, liveOf(history))
	}
}

// rowCopyCases are histories with the rows of other tables in documents.
var rowCopyCases = cases{
	"table-unlinked of a history of several tables": {
		both(documents("versions", "object", "object_changes"), oneOfColumns("versions", "item")),
		[]string{"table-unlinked versions.item_id"},
	},
	"table-unlinked not of a history after an answer": {
		both(documents("versions", "object", "object_changes"), oneOfColumns("versions", "item"),
			settled("versions", "id", "object", "object_changes", "item_type", "item_id")), nil,
	},
	"table-personal of revisions": {documents("revisions", "data"), []string{"table-personal revisions.data"}},
	"table-personal not of revisions after the finding is accepted": {
		both(documents("revisions", "data"), accepted("table-personal", "revisions", "data")), nil,
	},
	"table-personal not of the versions of a thing": {
		both(outside("plans", "color"), documents("plan_versions", "data", "object")), nil,
	},
	"table-personal not of the versions of a thing with a display name": {
		both(outside("tutorials", "display_name", "language"), documents("tutorial_versions", "data", "steps")), nil,
	},
	"table-personal not of the versions of a table that a person left out": {
		both(outside("lessons", "email"), settled("lessons", "id", "email"), documents("lesson_versions", "data")), nil,
	},
	"table-personal of the versions of a thing and of who made them": {
		both(outside("plans", "color"), documents("plan_versions", "data"), func(w *world) {
			w.add("plan_versions", "changed_by", datamap.TypeText)
		}), []string{"table-personal plan_versions.data"},
	},
	"table-personal of the versions of people": {
		both(outside("leads", "color"), documents("lead_versions", "data")), []string{"table-personal lead_versions.data"},
	},
	"table-unmapped of a history of parts": {
		both(posted, func(w *world) {
			w.live("letters").ForeignKeys[0].OnDelete = datamap.ActionCascade
			documents("letter_revisions", "data")(w)
			w.live("letter_revisions").ForeignKeys = []datamap.CatalogForeignKey{
				foreignKey("id", "letters", datamap.ActionCascade),
			}
		}), []string{"table-unmapped letter_revisions.id", "table-unmapped letters.user_id"},
	},

	"personal-unannotated of a history": {
		mappedHistory("versions", "", "object", "object_changes"), []string{"personal-unannotated versions.object"},
	},
	"personal-unannotated of the history of people": {
		mappedHistory("user_versions", "", "data"), []string{"personal-unannotated user_versions.data"},
	},
	"personal-unannotated not of a history after an answer": {
		mappedHistory("versions", "DECIDED: Do its JSON documents hold personal data? (no)", "object", "object_changes"), nil,
	},
	"personal-unannotated not after an answer in the note of another column": {
		both(mappedHistory("versions", "", "object", "object_changes"), func(w *world) {
			for i, c := range w.table("versions").Columns {
				if c.Name == "object" {
					w.table("versions").Columns[i].Note = "DECIDED: Its rows hold earlier values (object, object_changes)."
				}
			}
		}), nil,
	},
	"personal-unannotated not of the history of a thing": {
		both(outside("plans", "color"), mappedHistory("plan_versions", "", "data")), nil,
	},
	"personal-unannotated not of other documents":           {mappedHistory("layouts", "", "object", "data"), nil},
	"personal-unannotated not of the settings of a history": {mappedHistory("versions", "", "object_options"), nil},
	"questions-open about a history": {
		mappedHistory("versions", "DECIDE: Do its JSON documents hold personal data? (no | yes)", "object"),
		[]string{questions},
	},
}

// oneOfColumns adds the key of a row of one of several tables to a table of the database.
func oneOfColumns(table, stem string) func(*world) {
	return func(w *world) {
		w.add(table, stem+"_type", datamap.TypeText)
		w.add(table, stem+"_id", datamap.TypeBigInt)
	}
}

func TestAFindingNamesTheDocumentsWithCopies(t *testing.T) {
	for name, change := range map[string]func(*world){
		"outside": both(documents("versions", "object", "object_changes"), oneOfColumns("versions", "item")),
		"inside":  mappedHistory("versions", "", "object", "object_changes"),
	} {
		w := newWorld()
		change(w)
		found := w.findings(t)
		if len(found) != 1 || !strings.Contains(found[0].Reason, "object, object_changes") ||
			!strings.Contains(found[0].Reason, "copies of rows") {
			t.Errorf("%s: %v", name, found)
		}
	}
}

// roleCases are columns that hold something about a person by her part in a row that stays.
var roleCases = cases{
	"personal-unannotated of a part of a person": {
		named("orders", "observer_name", "contact_person", "push_token", "signed_by", "phone_e164", "twitter_handle"),
		[]string{
			"personal-unannotated orders.contact_person", "personal-unannotated orders.observer_name",
			"personal-unannotated orders.phone_e164", "personal-unannotated orders.push_token",
			"personal-unannotated orders.signed_by", "personal-unannotated orders.twitter_handle",
		},
	},
	"personal-unannotated not of things with a name": {
		named("orders", "provider_name", "product_name", "host_name", "file_name", "column_name", "event_name", "queue_name",
			"order_by", "csrf_token"), nil,
	},
	"personal-unannotated not of the doer of a row that goes": {
		func(w *world) {
			w.addToBoth("sessions", datamap.Column{Name: "revoked_by", Type: datamap.TypeText})
			w.table("sessions").Owned = true
		}, nil,
	},
}
