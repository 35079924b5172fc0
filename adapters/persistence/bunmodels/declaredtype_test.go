package bunmodels_test

import (
	"encoding/json"
	"net"
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/habeas-data/habeas/domain"
)

func TestADeclaredTypeDeterminesTheColumnTypeOfAString(t *testing.T) {
	for _, test := range []struct {
		declared string
		want     domain.ColumnType
		length   int
	}{
		{"text", domain.TypeText, 0},
		{"TEXT", domain.TypeText, 0},
		{"varchar", domain.TypeText, 0},
		{"varchar(1)", domain.TypeText, 1},
		{"VARCHAR (255)", domain.TypeText, 255},
		{"varchar( 36 )", domain.TypeText, 36},
		{"character varying(12)", domain.TypeText, 12},
		{"char", domain.TypeText, 1},
		{"character", domain.TypeText, 1},
		{"char(5)", domain.TypeText, 5},
		{"bpchar", domain.TypeText, 0},
		{"citext", domain.TypeText, 0},
		{"smallint", domain.TypeSmallInt, 0},
		{"int2", domain.TypeSmallInt, 0},
		{"smallserial", domain.TypeSmallInt, 0},
		{"integer", domain.TypeInteger, 0},
		{"INT", domain.TypeInteger, 0},
		{"int4", domain.TypeInteger, 0},
		{"serial", domain.TypeInteger, 0},
		{"bigint", domain.TypeBigInt, 0},
		{"int8", domain.TypeBigInt, 0},
		{"bigserial", domain.TypeBigInt, 0},
		{"numeric", domain.TypeNumber, 0},
		{"numeric(10)", domain.TypeNumber, 0},
		{"numeric(10,2)", domain.TypeNumber, 0},
		{"decimal(10, 2)", domain.TypeNumber, 0},
		{"real", domain.TypeNumber, 0},
		{"double precision", domain.TypeNumber, 0},
		{"float4", domain.TypeNumber, 0},
		{"float8", domain.TypeNumber, 0},
		{"float(24)", domain.TypeNumber, 0},
		{"boolean", domain.TypeBoolean, 0},
		{"bool", domain.TypeBoolean, 0},
		{"date", domain.TypeTime, 0},
		{"datetime", domain.TypeTime, 0},
		{"timestamp", domain.TypeTime, 0},
		{"timestamp(3)", domain.TypeTime, 0},
		{"timestamptz", domain.TypeTime, 0},
		{"timestamptz(0)", domain.TypeTime, 0},
		{"timestamp with time zone", domain.TypeTime, 0},
		{"timestamp without time zone", domain.TypeTime, 0},
		{"timestamp(6) without time zone", domain.TypeTime, 0},
		{"uuid", domain.TypeUUID, 0},
		{"json", domain.TypeJSON, 0},
		{"jsonb", domain.TypeJSON, 0},
		{"bytea", domain.TypeBytes, 0},
		{"blob", domain.TypeBytes, 0},
		{"text[]", domain.TypeArray, 0},
		{"varchar(20)[]", domain.TypeArray, 0},
		{"integer[][]", domain.TypeArray, 0},
		{"mood[]", domain.TypeArray, 0},
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
			if column.Type != domain.TypeText || column.Surrogate != "x" {
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
		want     domain.ColumnType
	}{
		{[]byte(nil), "text", domain.TypeText},
		{[]byte(nil), "jsonb", domain.TypeJSON},
		{json.RawMessage(nil), "text", domain.TypeJSON},
		{preferences{}, "text", domain.TypeJSON},
		{[]string(nil), "varchar(500)", domain.TypeJSON},
		{[]string(nil), "text[]", domain.TypeArray},
		{0, "text", domain.TypeBigInt},
		{0, "numeric(10)", domain.TypeNumber},
		{1.5, "varchar(20)", domain.TypeNumber},
		{false, "text", domain.TypeBoolean},
		{false, "smallint", domain.TypeSmallInt},
		{time.Time{}, "text", domain.TypeTime},
		{time.Time{}, "date", domain.TypeTime},
		{uuid.UUID{}, "uuid", domain.TypeUUID},
		{uuid.UUID{}, "varchar(36)", domain.TypeUUID},
		{uuid.NullUUID{}, "uuid", domain.TypeUUID},
		{net.IP{}, "inet", domain.TypeText},
		{net.IPNet{}, "cidr", domain.TypeText},
		{enveloped(""), "numeric(10,2)", domain.TypeNumber},
		{enveloped(""), "timestamptz", domain.TypeTime},
		{enveloped(""), "text[]", domain.TypeArray},

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
	if column.Type != domain.TypeArray {
		t.Errorf("got %+v", column)
	}
	column, err = readColumn(reflect.TypeFor[preferences](), `bun:"data,json_use_number" pii:"identity"`, nil)
	must(t, err)
	if column.Type != domain.TypeJSON {
		t.Errorf("got %+v", column)
	}
}
