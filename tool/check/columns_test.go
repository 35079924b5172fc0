package check_test

import (
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// setType changes the type of a column in the database, but not in the data map.
func (w *world) setType(table, name string, t datamap.ColumnType, declared string) *datamap.CatalogColumn {
	column := w.column(table, name)
	column.Type, column.Declared = t, declared
	return column
}

// birth adds an annotated date of birth.
func (w *world) birth(strategy domain.Strategy) {
	w.addToBoth("users", datamap.Column{Name: "birthday", Type: datamap.TypeTime, Personal: personal(strategy)})
}

var columnCases = cases{
	"type-differs": {
		func(w *world) { w.birth(null); w.setType("users", "birthday", datamap.TypeBigInt, "bigint") },
		[]string{"type-differs users.birthday"},
	},
	"type-differs on SQLite": {
		func(w *world) { w.catalog.Untyped = true; w.setType("users", "email", datamap.TypeBigInt, "INTEGER") },
		[]string{"type-differs users.email"},
	},
	"type-differs not in the width": {
		func(w *world) {
			w.addToBoth("users", datamap.Column{Name: "age", Type: datamap.TypeBigInt, Personal: personal(null)})
			w.setType("users", "age", datamap.TypeSmallInt, "smallint")
		}, nil,
	},
	"type-differs not if nothing is annotated": {
		func(w *world) { w.setType("users", "theme", datamap.TypeBigInt, "bigint") }, nil,
	},
	"type-differs not if it is unknown": {
		func(w *world) { w.birth(null); w.setType("users", "birthday", "", "tstzrange") }, nil,
	},
	"type-differs not on SQLite": {
		func(w *world) {
			w.catalog.Untyped = true
			w.birth(anonymize)
			w.setType("users", "birthday", datamap.TypeText, "TEXT")
		}, nil,
	},
	"key-type of the subject": {
		func(w *world) { w.setType("users", "id", datamap.TypeUUID, "uuid") },
		[]string{"key-type users.id", "key-type orders.user_id", "key-type sessions.user_id"},
	},
	"key-type of a reference": {
		func(w *world) { w.setType("orders", "user_id", datamap.TypeText, "text") }, []string{"key-type orders.user_id"},
	},
	"key-type not in the width": {
		func(w *world) { w.setType("orders", "user_id", datamap.TypeInteger, "integer") }, nil,
	},
	"key-type not on SQLite": {
		func(w *world) { w.catalog.Untyped = true; w.setType("orders", "user_id", datamap.TypeText, "TEXT") }, nil,
	},
	"since-type": {
		func(w *world) { w.setType("orders", "issued_at", datamap.TypeBigInt, "bigint") },
		[]string{"since-type orders.issued_at"},
	},
	"since-type not of a text": {func(w *world) { w.setType("orders", "issued_at", datamap.TypeText, "text") }, nil},
	"since-type not of another column": {
		func(w *world) { w.setType("orders", "id", datamap.TypeInteger, "integer") }, nil,
	},
	"length-shorter": {
		func(w *world) {
			w.field("users", "email").Length = 200
			w.setType("users", "email", datamap.TypeText, "varchar(100)").Length = 100
		}, []string{"length-shorter users.email"},
	},
	"length-shorter not if it is longer": {
		func(w *world) {
			w.field("users", "email").Length = 100
			w.setType("users", "email", datamap.TypeText, "varchar(200)").Length = 200
		}, nil,
	},
	"length-shorter not on SQLite": {
		func(w *world) {
			w.catalog.Untyped = true
			w.field("users", "email").Length = 200
			w.setType("users", "email", datamap.TypeText, "varchar(10)").Length = 10
		}, nil,
	},
}

// surrogate adds an annotated column to "users". Its surrogate is a constant.
func (w *world) surrogate(
	t datamap.ColumnType, constant string, live datamap.ColumnType, declared string,
) *datamap.CatalogColumn {
	w.addToBoth("users", datamap.Column{Name: "data", Type: t, Surrogate: constant, Personal: personal(anonymize)})
	return w.setType("users", "data", live, declared)
}

func fits(t datamap.ColumnType, constant string, live datamap.ColumnType, declared string) func(*world) {
	return func(w *world) { w.surrogate(t, constant, live, declared) }
}

var surrogateCases = cases{
	"surrogate-type of a text": {
		func(w *world) { w.setType("users", "email", datamap.TypeUUID, "uuid") }, []string{"surrogate-type users.email"},
	},
	"surrogate-type of an address": {fits(datamap.TypeText, "", "", "inet"), []string{"surrogate-type users.data"}},
	"surrogate-type of a wrong address": {
		fits(datamap.TypeText, "nowhere", "", "inet"), []string{"surrogate-type users.data"},
	},
	"surrogate-type of a number in an address": {
		fits(datamap.TypeBigInt, "", "", "inet"), []string{"surrogate-type users.data"},
	},
	"surrogate-type of a placeholder": {
		fits(datamap.TypeText, "x{}", datamap.TypeJSON, "jsonb"), []string{"surrogate-type users.data"},
	},
	"surrogate-type of a number": {
		fits(datamap.TypeBigInt, "", datamap.TypeUUID, "uuid"), []string{"surrogate-type users.data"},
	},
	"surrogate-type of a boolean": {
		fits(datamap.TypeBoolean, "", datamap.TypeInteger, "integer"), []string{"surrogate-type users.data"},
	},
	"surrogate-type of an instant": {
		fits(datamap.TypeTime, "", datamap.TypeBigInt, "bigint"), []string{"surrogate-type users.data"},
	},
	"surrogate-type of JSON": {
		fits(datamap.TypeJSON, "[]", datamap.TypeArray, "text[]"), []string{"surrogate-type users.data"},
	},
	"surrogate-type of bytes": {
		fits(datamap.TypeBytes, "", datamap.TypeUUID, "uuid"), []string{"surrogate-type users.data"},
	},
	"surrogate-type of a constant": {
		fits(datamap.TypeText, "none", datamap.TypeInteger, "integer"), []string{"surrogate-type users.data"},
	},
	"surrogate-type of a long number": {
		fits(datamap.TypeText, "70000", datamap.TypeSmallInt, "smallint"), []string{"surrogate-type users.data"},
	},
	"surrogate-type of a text that is not an instant": {
		fits(datamap.TypeText, "gone", datamap.TypeTime, "date"), []string{"surrogate-type users.data"},
	},
	"surrogate-type of a text that is not a boolean": {
		fits(datamap.TypeText, "gone", datamap.TypeBoolean, "boolean"), []string{"surrogate-type users.data"},
	},
	"surrogate-type of a text that is not JSON": {
		fits(datamap.TypeText, "gone", datamap.TypeJSON, "json"), []string{"surrogate-type users.data"},
	},
	"surrogate-type not of a UUID in a text":     {fits(datamap.TypeUUID, "", datamap.TypeText, "text"), nil},
	"surrogate-type not of a number in a text":   {fits(datamap.TypeBigInt, "", datamap.TypeText, "text"), nil},
	"surrogate-type not of a wide number":        {fits(datamap.TypeBigInt, "", datamap.TypeSmallInt, "smallint"), nil},
	"surrogate-type not of a long number":        {fits(datamap.TypeText, "70000", datamap.TypeInteger, "integer"), nil},
	"surrogate-type not of a bigint":             {fits(datamap.TypeText, "7", datamap.TypeBigInt, "bigint"), nil},
	"surrogate-type not of a numeric":            {fits(datamap.TypeText, "7.5", datamap.TypeNumber, "numeric"), nil},
	"surrogate-type not of an instant in a text": {fits(datamap.TypeTime, "", datamap.TypeText, "text"), nil},
	"surrogate-type not of a date":               {fits(datamap.TypeText, "1970-01-01", datamap.TypeTime, "date"), nil},
	"surrogate-type not of a boolean":            {fits(datamap.TypeText, "off", datamap.TypeBoolean, "boolean"), nil},
	"surrogate-type not of JSON in an array":     {fits(datamap.TypeJSON, "", datamap.TypeArray, "text[]"), nil},
	"surrogate-type not of a UUID": {
		fits(datamap.TypeText, "00000000-0000-0000-0000-000000000000", datamap.TypeUUID, "uuid"), nil,
	},
	"surrogate-type not of an address":      {fits(datamap.TypeText, "0.0.0.0", "", "inet"), nil},
	"surrogate-type not of a network":       {fits(datamap.TypeText, "0.0.0.0/0", "", "cidr"), nil},
	"surrogate-type not of an unknown type": {fits(datamap.TypeText, "(0,0)", "", "point"), nil},
	"surrogate-type not of NULL": {
		func(w *world) { w.setType("users", "nick", datamap.TypeUUID, "uuid") }, nil,
	},
	"surrogate-type not on SQLite": {
		func(w *world) { w.catalog.Untyped = true; w.setType("users", "email", datamap.TypeUUID, "UUID") }, nil,
	},
	"surrogate-length": {
		func(w *world) { w.setType("users", "email", datamap.TypeText, "varchar(20)").Length = 20 },
		[]string{"surrogate-length users.email"},
	},
	"surrogate-length of a constant": {
		func(w *world) { w.surrogate(datamap.TypeText, "unknown", datamap.TypeText, "varchar(3)").Length = 3 },
		[]string{"surrogate-length users.data"},
	},
	"surrogate-length not if the data map knows": {
		func(w *world) {
			w.field("users", "email").Length = 20
			w.setType("users", "email", datamap.TypeText, "varchar(20)").Length = 20
		}, nil,
	},
	"surrogate-length not if it is short": {
		func(w *world) {
			w.field("users", "email").Length = 8
			w.setType("users", "email", datamap.TypeText, "varchar(37)").Length = 37
		}, []string{"life-unknown users"}, // nothing else in the row tells an erasure
	},
	"surrogate-length not on SQLite": {
		func(w *world) {
			w.catalog.Untyped = true
			w.setType("users", "email", datamap.TypeText, "VARCHAR(20)").Length = 20
		}, nil,
	},
	"null-refused": {
		func(w *world) { w.column("users", "nick").Nullable = false }, []string{"null-refused users.nick"},
	},
	"null-refused of a reference": {
		func(w *world) {
			w.table("orders").Relations[0].Path, w.table("orders").Relations[0].OnErasure = true, domain.StrategyNull
			w.field("orders", "address").Personal = personal(anonymize)
			w.column("orders", "user_id").Nullable = false
		}, []string{"null-refused orders.user_id"},
	},
	"null-refused not of a surrogate": {func(w *world) { w.column("users", "email").Nullable = false }, nil},
	"generated-written": {
		func(w *world) { w.column("users", "email").Generated = true }, []string{"generated-written users.email"},
	},
	"generated-written not if the row goes": {func(w *world) { w.column("sessions", "agent").Generated = true }, nil},
	"enum-refuses": {
		func(w *world) { w.setType("users", "email", datamap.TypeText, "mood").Values = []string{"happy"} },
		[]string{"enum-refuses users.email"},
	},
	"enum-refuses another label": {
		func(w *world) {
			w.surrogate(datamap.TypeText, "sad", datamap.TypeText, "mood").Values = []string{"happy"}
		},
		[]string{"enum-refuses users.data"},
	},
	"enum-refuses not a label": {
		func(w *world) {
			w.surrogate(datamap.TypeText, "happy", datamap.TypeText, "mood").Values = []string{"happy"}
		}, nil,
	},
	"enum-refuses not NULL": {
		func(w *world) { w.setType("users", "nick", datamap.TypeText, "mood").Values = []string{"happy"} }, nil,
	},
}
