package check_test

import "github.com/habeas-data/habeas/domain/datamap"

// withKeys adds a column with keys of a system to the tables.
func withKeys(w *world, tables ...string) {
	for _, table := range tables {
		annotation := personal(null)
		annotation.Ref = "media"
		w.addToBoth(table, datamap.Column{Name: "blob", Type: datamap.TypeText, Personal: annotation})
	}
}

func uniqueBlob(w *world, table string) {
	w.live(table).Uniques = append(w.live(table).Uniques, datamap.CatalogUnique{Name: "one", Columns: []string{"blob"}})
}

var refCases = cases{
	"ref-shared": {func(w *world) { withKeys(w, "users") }, []string{"ref-shared users.blob"}},
	"ref-shared by some rows": {
		func(w *world) {
			withKeys(w, "users")
			uniqueBlob(w, "users")
			w.live("users").Uniques[0].Partial = true
		},
		[]string{"ref-shared users.blob"},
	},
	"ref-shared between columns": {
		func(w *world) { withKeys(w, "users", "sessions"); uniqueBlob(w, "users"); uniqueBlob(w, "sessions") },
		[]string{"ref-shared users.blob", "ref-shared sessions.blob"},
	},
	"ref-shared with an unrelated condition": {
		func(w *world) {
			withKeys(w, "users")
			w.live("users").Checks = []datamap.CatalogCheck{{Columns: []string{"blob"}, Text: "length(blob) > 3"}}
		},
		[]string{"ref-shared users.blob"},
	},
	"ref-shared not with the person in the condition": {
		func(w *world) {
			withKeys(w, "sessions")
			w.live("sessions").Checks = []datamap.CatalogCheck{
				{Columns: []string{"blob", "user_id"}, Text: "blob LIKE user_id || '-%'"},
			}
		}, []string{"check-undecided sessions.blob checked"},
	},
	"ref-shared not if the column is unique": {
		func(w *world) { withKeys(w, "users"); uniqueBlob(w, "users") }, nil,
	},
}
