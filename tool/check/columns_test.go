package check_test

import "github.com/habeas-data/habeas/domain"

// setType changes the type of a column in the database, but not in the data map.
func (w *world) setType(table, name string, t domain.ColumnType, declared string) *domain.CatalogColumn {
	column := w.column(table, name)
	column.Type, column.Declared = t, declared
	return column
}

// birth adds an annotated date of birth.
func (w *world) birth(strategy domain.Strategy) {
	w.addToBoth("users", domain.Column{Name: "birthday", Type: domain.TypeTime, Personal: personal(strategy)})
}

var columnCases = cases{
	"type-differs": {
		func(w *world) { w.birth(null); w.setType("users", "birthday", domain.TypeBigInt, "bigint") },
		[]string{"type-differs users.birthday"},
	},
	"type-differs on SQLite": {
		func(w *world) { w.catalog.Untyped = true; w.setType("users", "email", domain.TypeBigInt, "INTEGER") },
		[]string{"type-differs users.email"},
	},
	"type-differs not in the width": {
		func(w *world) {
			w.addToBoth("users", domain.Column{Name: "age", Type: domain.TypeBigInt, Personal: personal(null)})
			w.setType("users", "age", domain.TypeSmallInt, "smallint")
		}, nil,
	},
	"type-differs not if nothing is annotated": {
		func(w *world) { w.setType("users", "theme", domain.TypeBigInt, "bigint") }, nil,
	},
	"type-differs not if it is unknown": {
		func(w *world) { w.birth(null); w.setType("users", "birthday", "", "tstzrange") }, nil,
	},
	"type-differs not on SQLite": {
		func(w *world) {
			w.catalog.Untyped = true
			w.birth(anonymize)
			w.setType("users", "birthday", domain.TypeText, "TEXT")
		}, nil,
	},
	"key-type of the subject": {
		func(w *world) { w.setType("users", "id", domain.TypeUUID, "uuid") },
		[]string{"key-type users.id", "key-type orders.user_id", "key-type sessions.user_id"},
	},
	"key-type of a reference": {
		func(w *world) { w.setType("orders", "user_id", domain.TypeText, "text") }, []string{"key-type orders.user_id"},
	},
	"key-type not in the width": {
		func(w *world) { w.setType("orders", "user_id", domain.TypeInteger, "integer") }, nil,
	},
	"key-type not on SQLite": {
		func(w *world) { w.catalog.Untyped = true; w.setType("orders", "user_id", domain.TypeText, "TEXT") }, nil,
	},
	"since-type": {
		func(w *world) { w.setType("orders", "issued_at", domain.TypeBigInt, "bigint") },
		[]string{"since-type orders.issued_at"},
	},
	"since-type not of a text": {func(w *world) { w.setType("orders", "issued_at", domain.TypeText, "text") }, nil},
	"since-type not of another column": {
		func(w *world) { w.setType("orders", "id", domain.TypeInteger, "integer") }, nil,
	},
	"length-shorter": {
		func(w *world) {
			w.field("users", "email").Length = 200
			w.setType("users", "email", domain.TypeText, "varchar(100)").Length = 100
		}, []string{"length-shorter users.email"},
	},
	"length-shorter not if it is longer": {
		func(w *world) {
			w.field("users", "email").Length = 100
			w.setType("users", "email", domain.TypeText, "varchar(200)").Length = 200
		}, nil,
	},
	"length-shorter not on SQLite": {
		func(w *world) {
			w.catalog.Untyped = true
			w.field("users", "email").Length = 200
			w.setType("users", "email", domain.TypeText, "varchar(10)").Length = 10
		}, nil,
	},
}

// surrogate adds an annotated column to "users". Its surrogate is a constant.
func (w *world) surrogate(
	t domain.ColumnType, constant string, live domain.ColumnType, declared string,
) *domain.CatalogColumn {
	w.addToBoth("users", domain.Column{Name: "data", Type: t, Surrogate: constant, Personal: personal(anonymize)})
	return w.setType("users", "data", live, declared)
}

func fits(t domain.ColumnType, constant string, live domain.ColumnType, declared string) func(*world) {
	return func(w *world) { w.surrogate(t, constant, live, declared) }
}

var surrogateCases = cases{
	"surrogate-type of a text": {
		func(w *world) { w.setType("users", "email", domain.TypeUUID, "uuid") }, []string{"surrogate-type users.email"},
	},
	"surrogate-type of an address": {fits(domain.TypeText, "", "", "inet"), []string{"surrogate-type users.data"}},
	"surrogate-type of a wrong address": {
		fits(domain.TypeText, "nowhere", "", "inet"), []string{"surrogate-type users.data"},
	},
	"surrogate-type of a number in an address": {
		fits(domain.TypeBigInt, "", "", "inet"), []string{"surrogate-type users.data"},
	},
	"surrogate-type of a placeholder": {
		fits(domain.TypeText, "x{}", domain.TypeJSON, "jsonb"), []string{"surrogate-type users.data"},
	},
	"surrogate-type of a number": {
		fits(domain.TypeBigInt, "", domain.TypeUUID, "uuid"), []string{"surrogate-type users.data"},
	},
	"surrogate-type of a boolean": {
		fits(domain.TypeBoolean, "", domain.TypeInteger, "integer"), []string{"surrogate-type users.data"},
	},
	"surrogate-type of an instant": {
		fits(domain.TypeTime, "", domain.TypeBigInt, "bigint"), []string{"surrogate-type users.data"},
	},
	"surrogate-type of JSON": {
		fits(domain.TypeJSON, "[]", domain.TypeArray, "text[]"), []string{"surrogate-type users.data"},
	},
	"surrogate-type of bytes": {
		fits(domain.TypeBytes, "", domain.TypeUUID, "uuid"), []string{"surrogate-type users.data"},
	},
	"surrogate-type of a constant": {
		fits(domain.TypeText, "none", domain.TypeInteger, "integer"), []string{"surrogate-type users.data"},
	},
	"surrogate-type of a long number": {
		fits(domain.TypeText, "70000", domain.TypeSmallInt, "smallint"), []string{"surrogate-type users.data"},
	},
	"surrogate-type of a text that is not an instant": {
		fits(domain.TypeText, "gone", domain.TypeTime, "date"), []string{"surrogate-type users.data"},
	},
	"surrogate-type of a text that is not a boolean": {
		fits(domain.TypeText, "gone", domain.TypeBoolean, "boolean"), []string{"surrogate-type users.data"},
	},
	"surrogate-type of a text that is not JSON": {
		fits(domain.TypeText, "gone", domain.TypeJSON, "json"), []string{"surrogate-type users.data"},
	},
	"surrogate-type not of a UUID in a text":     {fits(domain.TypeUUID, "", domain.TypeText, "text"), nil},
	"surrogate-type not of a number in a text":   {fits(domain.TypeBigInt, "", domain.TypeText, "text"), nil},
	"surrogate-type not of a wide number":        {fits(domain.TypeBigInt, "", domain.TypeSmallInt, "smallint"), nil},
	"surrogate-type not of a long number":        {fits(domain.TypeText, "70000", domain.TypeInteger, "integer"), nil},
	"surrogate-type not of a bigint":             {fits(domain.TypeText, "7", domain.TypeBigInt, "bigint"), nil},
	"surrogate-type not of a numeric":            {fits(domain.TypeText, "7.5", domain.TypeNumber, "numeric"), nil},
	"surrogate-type not of an instant in a text": {fits(domain.TypeTime, "", domain.TypeText, "text"), nil},
	"surrogate-type not of a date":               {fits(domain.TypeText, "1970-01-01", domain.TypeTime, "date"), nil},
	"surrogate-type not of a boolean":            {fits(domain.TypeText, "off", domain.TypeBoolean, "boolean"), nil},
	"surrogate-type not of JSON in an array":     {fits(domain.TypeJSON, "", domain.TypeArray, "text[]"), nil},
	"surrogate-type not of a UUID": {
		fits(domain.TypeText, "00000000-0000-0000-0000-000000000000", domain.TypeUUID, "uuid"), nil,
	},
	"surrogate-type not of an address":      {fits(domain.TypeText, "0.0.0.0", "", "inet"), nil},
	"surrogate-type not of a network":       {fits(domain.TypeText, "0.0.0.0/0", "", "cidr"), nil},
	"surrogate-type not of an unknown type": {fits(domain.TypeText, "(0,0)", "", "point"), nil},
	"surrogate-type not of NULL": {
		func(w *world) { w.setType("users", "nick", domain.TypeUUID, "uuid") }, nil,
	},
	"surrogate-type not on SQLite": {
		func(w *world) { w.catalog.Untyped = true; w.setType("users", "email", domain.TypeUUID, "UUID") }, nil,
	},
	"surrogate-length": {
		func(w *world) { w.setType("users", "email", domain.TypeText, "varchar(20)").Length = 20 },
		[]string{"surrogate-length users.email"},
	},
	"surrogate-length of a constant": {
		func(w *world) { w.surrogate(domain.TypeText, "unknown", domain.TypeText, "varchar(3)").Length = 3 },
		[]string{"surrogate-length users.data"},
	},
	"surrogate-length not if the data map knows": {
		func(w *world) {
			w.field("users", "email").Length = 20
			w.setType("users", "email", domain.TypeText, "varchar(20)").Length = 20
		}, nil,
	},
	"surrogate-length not if it is short": {
		func(w *world) {
			w.field("users", "email").Length = 8
			w.setType("users", "email", domain.TypeText, "varchar(37)").Length = 37
		}, []string{"life-unknown users"}, // nothing else in the row tells an erasure
	},
	"surrogate-length not on SQLite": {
		func(w *world) {
			w.catalog.Untyped = true
			w.setType("users", "email", domain.TypeText, "VARCHAR(20)").Length = 20
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
		func(w *world) { w.setType("users", "email", domain.TypeText, "mood").Values = []string{"happy"} },
		[]string{"enum-refuses users.email"},
	},
	"enum-refuses another label": {
		func(w *world) {
			w.surrogate(domain.TypeText, "sad", domain.TypeText, "mood").Values = []string{"happy"}
		},
		[]string{"enum-refuses users.data"},
	},
	"enum-refuses not a label": {
		func(w *world) {
			w.surrogate(domain.TypeText, "happy", domain.TypeText, "mood").Values = []string{"happy"}
		}, nil,
	},
	"enum-refuses not NULL": {
		func(w *world) { w.setType("users", "nick", domain.TypeText, "mood").Values = []string{"happy"} }, nil,
	},
}
