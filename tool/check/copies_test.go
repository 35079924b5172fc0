package check_test

import "github.com/habeas-data/habeas/domain/datamap"

// matView adds a materialized view that reads the table.
func matView(table string, columns ...string) func(*world) {
	return func(w *world) {
		view := w.addTable("totals", columns...)
		view.Kind, view.Reads, view.PrimaryKey, view.Indexes = datamap.KindMatView, []string{table}, nil, nil
	}
}

// search adds a full-text index.
func search(columns ...string) func(*world) {
	return func(w *world) {
		index := w.addTable("found", columns...)
		index.Kind = datamap.KindVirtual
	}
}

// words adds a full-text column to orders.
func words(w *world) {
	w.addToBoth("orders", datamap.Column{Name: "words"})
	w.column("orders", "words").Declared = "tsvector"
}

// reading sets the columns of users that the view reads.
func reading(columns ...string) func(*world) {
	return func(w *world) { w.live("totals").Uses = map[string][]string{"users": columns} }
}

var copyCases = cases{
	"large-object": {
		func(w *world) { w.add("orders", "scan", ""); w.setType("orders", "scan", "", "oid") },
		[]string{"large-object orders.scan"},
	},
	"large-object not if it says so": {
		func(w *world) {
			w.addToBoth("orders", datamap.Column{Name: "scan", NotPersonal: true})
			w.setType("orders", "scan", "", "oid")
		}, nil,
	},
	"view-copies": {matView("users", "email"), []string{"view-copies totals totals"}},
	"view-copies under another name": {
		both(matView("users", "target"), reading("email")), []string{"view-copies totals totals"},
	},
	"view-copies of the key of a person": {
		func(w *world) {
			matView("users")(w)
			reading("id")(w)
		}, []string{"view-copies totals totals"},
	},
	"view-copies not of other columns": {both(matView("users", "label"), reading("theme")), nil},
	"view-copies not of counts": {
		func(w *world) {
			matView("users")(w)
			reading("email")(w)
		}, nil,
	},
	"view-copies not of a view that reads": {
		func(w *world) { matView("users", "email")(w); w.live("totals").Kind = datamap.KindView }, nil,
	},
	"search-copies":                      {search("email"), []string{"search-copies found.email"}},
	"search-copies not of other columns": {search("body"), nil},
	"search-copies in the row":           {words, []string{"search-copies orders.words"}},
	"search-copies not in the row of a trigger": {
		both(words, trigger("orders", "UPDATE")), []string{"trigger-fires orders keep#fired"},
	},
	"search-copies until a row is deleted": {
		both(search("email"), trigger("users", "UPDATE", "found")),
		[]string{"search-copies found.email", "trigger-fires users keep#fired"},
	},
}
