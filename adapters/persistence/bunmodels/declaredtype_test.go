package bunmodels_test

import (
	"encoding/json"
	"net"
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/habeas-data/habeas/domain/datamap"
)

func TestADeclaredTypeDeterminesTheColumnTypeOfAString(t *testing.T) {
	for _, test := range []struct {
		declared string
		want     datamap.ColumnType
		length   int
	}{
		{"text", datamap.TypeText, 0},
		{"TEXT", datamap.TypeText, 0},
		{"varchar", datamap.TypeText, 0},
		{"varchar(1)", datamap.TypeText, 1},
		{"VARCHAR (255)", datamap.TypeText, 255},
		{"varchar( 36 )", datamap.TypeText, 36},
		{"character varying(12)", datamap.TypeText, 12},
		{"char", datamap.TypeText, 1},
		{"character", datamap.TypeText, 1},
		{"char(5)", datamap.TypeText, 5},
		{"bpchar", datamap.TypeText, 0},
		{"citext", datamap.TypeText, 0},
		{"smallint", datamap.TypeSmallInt, 0},
		{"int2", datamap.TypeSmallInt, 0},
		{"smallserial", datamap.TypeSmallInt, 0},
		{"integer", datamap.TypeInteger, 0},
		{"INT", datamap.TypeInteger, 0},
		{"int4", datamap.TypeInteger, 0},
		{"serial", datamap.TypeInteger, 0},
		{"bigint", datamap.TypeBigInt, 0},
		{"int8", datamap.TypeBigInt, 0},
		{"bigserial", datamap.TypeBigInt, 0},
		{"numeric", datamap.TypeNumber, 0},
		{"numeric(10)", datamap.TypeNumber, 0},
		{"numeric(10,2)", datamap.TypeNumber, 0},
		{"decimal(10, 2)", datamap.TypeNumber, 0},
		{"real", datamap.TypeNumber, 0},
		{"double precision", datamap.TypeNumber, 0},
		{"float4", datamap.TypeNumber, 0},
		{"float8", datamap.TypeNumber, 0},
		{"float(24)", datamap.TypeNumber, 0},
		{"boolean", datamap.TypeBoolean, 0},
		{"bool", datamap.TypeBoolean, 0},
		{"date", datamap.TypeTime, 0},
		{"datetime", datamap.TypeTime, 0},
		{"timestamp", datamap.TypeTime, 0},
		{"timestamp(3)", datamap.TypeTime, 0},
		{"timestamptz", datamap.TypeTime, 0},
		{"timestamptz(0)", datamap.TypeTime, 0},
		{"timestamp with time zone", datamap.TypeTime, 0},
		{"timestamp without time zone", datamap.TypeTime, 0},
		{"timestamp(6) without time zone", datamap.TypeTime, 0},
		{"uuid", datamap.TypeUUID, 0},
		{"json", datamap.TypeJSON, 0},
		{"jsonb", datamap.TypeJSON, 0},
		{"bytea", datamap.TypeBytes, 0},
		{"blob", datamap.TypeBytes, 0},
		{"text[]", datamap.TypeArray, 0},
		{"varchar(20)[]", datamap.TypeArray, 0},
		{"integer[][]", datamap.TypeArray, 0},
		{"mood[]", datamap.TypeArray, 0},
	} {
		t.Run(test.declared, func(t *testing.T) {
			column, err := readColumn(reflect.TypeFor[string](), `bun:"data,type:`+test.declared+`" pii:"identity"`, nil)
			must(t, err)
			if column.Type != test.want || column.Length != test.length {
				t.Errorf("got %q with the length %d, want %q with %d", column.Type, column.Length, test.want, test.length)
			}
		})
	}
}

func TestAnUnknownDeclaredTypeNeedsASurrogate(t *testing.T) {
	for _, declared := range []string{
		"mood", "shop.mood", "inet", "cidr", "macaddr", "interval", "time", "time with time zone", "money", "xml",
		"tsvector", "point", "int4range", "bit(3)", "hstore", `varchar(20) collate nocase`,
	} {
		t.Run(declared, func(t *testing.T) {
			_, err := readColumn(reflect.TypeFor[string](), `bun:"data,type:`+declared+`" pii:"identity"`, nil)
			wantManifestError(t, err, "things.data", "no surrogate is known")
			column, err := readColumn(reflect.TypeFor[string](), `bun:"data,type:`+declared+`" pii:"identity,surrogate:x"`, nil)
			must(t, err)
			if column.Type != datamap.TypeText || column.Surrogate != "x" {
				t.Errorf("got %+v", column)
			}
		})
	}
}

// The resulting type must have a default surrogate that the Go field can read. If no such type exists, the test expects
// an error.
func TestADeclaredTypeIsReconciledWithTheGoType(t *testing.T) {
	for _, test := range []struct {
		value    any
		declared string
		want     datamap.ColumnType
	}{
		{[]byte(nil), "text", datamap.TypeText},
		{[]byte(nil), "jsonb", datamap.TypeJSON},
		{json.RawMessage(nil), "text", datamap.TypeJSON},
		{preferences{}, "text", datamap.TypeJSON},
		{[]string(nil), "varchar(500)", datamap.TypeJSON},
		{[]string(nil), "text[]", datamap.TypeArray},
		{0, "text", datamap.TypeBigInt},
		{0, "numeric(10)", datamap.TypeNumber},
		{1.5, "varchar(20)", datamap.TypeNumber},
		{false, "text", datamap.TypeBoolean},
		{false, "smallint", datamap.TypeSmallInt},
		{time.Time{}, "text", datamap.TypeTime},
		{time.Time{}, "date", datamap.TypeTime},
		{uuid.UUID{}, "uuid", datamap.TypeUUID},
		{uuid.UUID{}, "varchar(36)", datamap.TypeUUID},
		{uuid.NullUUID{}, "uuid", datamap.TypeUUID},
		{net.IP{}, "inet", datamap.TypeText},
		{net.IPNet{}, "cidr", datamap.TypeText},
		{enveloped(""), "numeric(10,2)", datamap.TypeNumber},
		{enveloped(""), "timestamptz", datamap.TypeTime},
		{enveloped(""), "text[]", datamap.TypeArray},

		{enveloped(""), "text", ""},
		{enveloped(""), "jsonb", ""},
		{enveloped(""), "bytea", ""},
		{0, "jsonb", ""},
		{uuid.UUID{}, "bytea", ""},
		{preferences{}, "bytea", ""},
		{time.Time{}, "jsonb", ""},
		{preferences{}, "mood", ""},
	} {
		goType := reflect.TypeOf(test.value)
		t.Run(goType.String()+" as "+test.declared, func(t *testing.T) {
			column, err := readColumn(goType, `bun:"data,type:`+test.declared+`" pii:"identity"`, nil)
			if test.want == "" {
				wantManifestError(t, err, "things.data", "no surrogate is known")
				return
			}
			must(t, err)
			if column.Type != test.want {
				t.Errorf("got %q, want %q", column.Type, test.want)
			}
		})
	}
}

func TestAnOptionOfBunCanMakeATypeUnknown(t *testing.T) {
	for option, goType := range map[string]reflect.Type{
		"msgpack":        reflect.TypeFor[preferences](),
		"hstore":         reflect.TypeFor[map[string]string](),
		"composite:mood": reflect.TypeFor[preferences](),
		"multirange":     reflect.TypeFor[string](),
	} {
		_, err := readColumn(goType, `bun:"data,`+option+`" pii:"identity"`, nil)
		wantManifestError(t, err, "things.data", "no surrogate is known")
	}
	column, err := readColumn(reflect.TypeFor[[]string](), `bun:"data,array" pii:"identity"`, nil)
	must(t, err)
	if column.Type != datamap.TypeArray {
		t.Errorf("got %+v", column)
	}
	column, err = readColumn(reflect.TypeFor[preferences](), `bun:"data,json_use_number" pii:"identity"`, nil)
	must(t, err)
	if column.Type != datamap.TypeJSON {
		t.Errorf("got %+v", column)
	}
}
