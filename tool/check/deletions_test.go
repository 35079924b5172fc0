package check_test

import (
	"github.com/habeas-data/habeas/domain/datamap"
)

// deletingUsers returns a function that calls world.deleteUsers and then change.
func deletingUsers(change func(w *world)) func(*world) {
	return func(w *world) {
		w.deleteUsers()
		change(w)
	}
}

// letters adds a table that is not in the data map. Its foreign key refers to "users" and has the given action.
func letters(action datamap.ForeignKeyAction) func(*world) {
	return func(w *world) {
		w.addTable("letters")
		w.refer("letters", "user_id", action)
	}
}

// invited adds a column to "users" with a foreign key that refers to "users".
func invited(action datamap.ForeignKeyAction) func(*world) {
	return deletingUsers(func(w *world) {
		w.addToBoth("users", datamap.Column{Name: "invited_by"})
		w.drop("users", "invited_by")
		w.refer("users", "invited_by", action)
	})
}

// nested adds a column to "sessions" with a foreign key that refers to "sessions".
func nested(action datamap.ForeignKeyAction) func(*world) {
	return func(w *world) {
		w.addToBoth("sessions", datamap.Column{Name: "parent_id", Type: datamap.TypeBigInt})
		w.table("sessions").Relations = append(w.table("sessions").Relations, belongsTo("sessions", "parent_id"))
		w.live("sessions").ForeignKeys = append(w.live("sessions").ForeignKeys, foreignKey("parent_id", "sessions", action))
		w.live("sessions").Indexes = append(w.live("sessions").Indexes, datamap.CatalogIndex{Columns: []string{"parent_id"}})
	}
}

// approved adds a table whose rows stay after an erasure. The table has a second reference to "users", approved_by,
// which an erasure does not follow.
func approved(action datamap.ForeignKeyAction, setsNull bool) func(*world) {
	return deletingUsers(func(w *world) {
		w.tables = append(w.tables, datamap.Table{
			Name: "papers", PrimaryKey: []string{"id"}, Relations: []datamap.Relation{belongsTo("users", "user_id")},
			Columns: []datamap.Column{
				{Name: "id", Type: datamap.TypeBigInt},
				{Name: "user_id", Type: datamap.TypeBigInt},
				{Name: "approved_by", Type: datamap.TypeBigInt},
				{Name: "text", Type: datamap.TypeText, Personal: personal(anonymize)},
			},
		})
		papers := &w.tables[len(w.tables)-1]
		w.catalog.Tables = append(w.catalog.Tables, liveOf(*papers))
		papers.Relations[0].Path, papers.Relations[0].OnErasure = true, null
		if setsNull {
			papers.Relations = append(papers.Relations, belongsTo("users", "approved_by"))
			papers.Relations[1].SetsNull = true
		}
		if action != "" {
			w.live("papers").ForeignKeys = append(w.live("papers").ForeignKeys, foreignKey("approved_by", "users", action))
			w.live("papers").Indexes = append(w.live("papers").Indexes, datamap.CatalogIndex{Columns: []string{"approved_by"}})
		}
	})
}

var deletionCases = cases{
	"delete-restricted": {
		deletingUsers(letters(datamap.ActionNone)), []string{"delete-restricted letters.user_id user_id_fkey"},
	},
	"delete-restricted once for all partitions": {
		deletingUsers(func(w *world) {
			letters(datamap.ActionNone)(w)
			again := foreignKey("user_id", "users", datamap.ActionNone)
			again.Name = "letters_p1_fkey"
			w.live("letters").ForeignKeys = append(w.live("letters").ForeignKeys, again)
		}), []string{"delete-restricted letters.user_id user_id_fkey"},
	},
	"delete-restricted immediately": {
		deletingUsers(letters(datamap.ActionRestrict)), []string{"delete-restricted letters.user_id user_id_fkey"},
	},
	"delete-restricted by another user": {
		invited(datamap.ActionNone), []string{"delete-restricted users.invited_by invited_by_fkey"},
	},
	"delete-restricted by another user regardless of the name": {
		deletingUsers(func(w *world) {
			w.addToBoth("users", datamap.Column{Name: "parent_id"})
			w.drop("users", "parent_id")
			w.refer("users", "parent_id", datamap.ActionNone)
		}), []string{"delete-restricted users.parent_id parent_id_fkey"},
	},
	"delete-restricted by rows that a condition leaves out": {
		deletingUsers(func(w *world) {
			w.addToBoth("sessions", datamap.Column{Name: "target", Type: datamap.TypeText})
			w.table("sessions").Relations[0].When = &datamap.Condition{Column: "target", Value: "user"}
		}), []string{"delete-restricted sessions.user_id user_id_fkey"},
	},
	"delete-restricted by an approval": {
		approved(datamap.ActionNone, false),
		[]string{"delete-restricted papers.approved_by approved_by_fkey", "path-missing papers.approved_by approved_by_fkey"},
	},
	"delete-restricted behind a cascade": {
		deletingUsers(func(w *world) {
			letters(datamap.ActionCascade)(w)
			w.addTable("stamps").ForeignKeys = []datamap.CatalogForeignKey{foreignKey("id", "letters", datamap.ActionNone)}
		}),
		[]string{"delete-cascades letters.user_id user_id_fkey", "delete-restricted stamps.id id_fkey"},
	},
	"delete-restricted not if the rows stay": {
		letters(datamap.ActionNone), nil,
	},
	"delete-restricted not if a path deletes the rows": {deletingUsers(func(*world) {}), nil},
	"delete-restricted not by another table": {
		deletingUsers(func(w *world) {
			w.addTable("shops")
			w.addTable("shelves").ForeignKeys = []datamap.CatalogForeignKey{foreignKey("id", "shops", datamap.ActionNone)}
		}), nil,
	},
	"delete-cascades": {
		deletingUsers(letters(datamap.ActionCascade)), []string{"delete-cascades letters.user_id user_id_fkey"},
	},
	"delete-cascades not if the rows stay": {letters(datamap.ActionCascade), nil},
	"delete-cascades-to-kept": {
		approved(datamap.ActionCascade, false),
		[]string{
			"delete-cascades-to-kept papers.approved_by approved_by_fkey",
			"path-missing papers.approved_by approved_by_fkey",
		},
	},
	"delete-cascades-to-kept although the data map says NULL": {
		approved(datamap.ActionCascade, true),
		[]string{"delete-cascades-to-kept papers.approved_by approved_by_fkey", "path-missing papers.approved_by"},
	},
	"delete-cascades-to-kept by another user": {
		invited(datamap.ActionCascade), []string{"delete-cascades-to-kept users.invited_by invited_by_fkey"},
	},
	"delete-cascades-to-kept behind a table": {
		func(w *world) {
			approved("", false)(w)
			letters(datamap.ActionCascade)(w)
			w.live("papers").ForeignKeys = append(w.live("papers").ForeignKeys,
				foreignKey("id", "letters", datamap.ActionCascade))
		},
		[]string{
			"delete-cascades letters.user_id user_id_fkey", "delete-cascades-to-kept papers.id id_fkey",
		},
	},
	"delete-cascades-to-kept not by a path": {
		deletingUsers(func(w *world) { w.live("sessions").ForeignKeys[0].OnDelete = datamap.ActionCascade }), nil,
	},
	"delete-sets-null": {
		deletingUsers(func(w *world) {
			letters(datamap.ActionSetNull)(w)
			w.column("letters", "user_id").Nullable = false
		}), []string{"delete-sets-null letters.user_id user_id_fkey"},
	},
	"delete-sets-null not if it may be NULL": {
		deletingUsers(letters(datamap.ActionSetNull)), nil,
	},
	"delete-sets-default": {
		deletingUsers(letters(datamap.ActionSetDefault)), []string{"delete-sets-default letters.user_id user_id_fkey"},
	},
	"delete-sets-default not if the rows stay": {
		letters(datamap.ActionSetDefault), nil,
	},
	"delete-undecided": {nested(datamap.ActionNone), []string{"delete-undecided sessions.parent_id parent_id_fkey"}},
	"delete-undecided by a cascade": {
		nested(datamap.ActionCascade), []string{"delete-undecided sessions.parent_id parent_id_fkey"},
	},
	"delete-undecided within a person in one statement": {
		func(w *world) {
			nested(datamap.ActionRestrict)(w)
			foreign := &w.live("sessions").ForeignKeys[1]
			foreign.Columns, foreign.Referenced = []string{"user_id", "parent_id"}, []string{"user_id", "id"}
		}, []string{"delete-undecided sessions.user_id, parent_id parent_id_fkey"},
	},
	"delete-undecided not if it is set to NULL": {nested(datamap.ActionSetNull), nil},
	"delete-undecided not within a person": {
		func(w *world) {
			nested(datamap.ActionNone)(w)
			foreign := &w.live("sessions").ForeignKeys[1]
			foreign.Columns, foreign.Referenced = []string{"user_id", "parent_id"}, []string{"user_id", "id"}
		}, nil,
	},
	"set-null-missing": {
		approved("", true), []string{"set-null-missing papers.approved_by", "path-missing papers.approved_by"},
	},
	"set-null-missing not if the rows stay": {
		func(w *world) {
			w.addToBoth("sessions", datamap.Column{Name: "order_id", Type: datamap.TypeBigInt})
			relation := belongsTo("orders", "order_id")
			relation.SetsNull = true
			w.table("sessions").Relations[0].Path = true
			w.table("sessions").Relations = append(w.table("sessions").Relations, relation)
		}, nil,
	},
	"set-null-missing not if it is there": {
		approved(datamap.ActionSetNull, true), []string{"path-missing papers.approved_by"},
	},
}
