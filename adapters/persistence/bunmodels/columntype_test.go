package bunmodels_test

import (
	"cmp"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"math/big"
	"net"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"github.com/habeas-data/habeas/adapters/persistence/bunmodels"
	"github.com/habeas-data/habeas/domain/datamap"
)

// Each of the following types encodes or decodes its own values through a different interface.

type enveloped string // like an encrypted column

func (s enveloped) Value() (driver.Value, error) { return "sealed:" + string(s), nil }

func (s *enveloped) Scan(value any) error {
	text, _ := value.(string)
	inner, ok := strings.CutPrefix(text, "sealed:")
	if !ok {
		return errors.New("not sealed")
	}
	*s = enveloped(inner)
	return nil
}

type onlyScans string

func (*onlyScans) Scan(any) error { return nil }

type onlyAppends struct{ schema.QueryAppender }

type onlyParses struct{ N int }

func (*onlyParses) UnmarshalJSON([]byte) error { return nil }

type onlyReads struct{ N int }

func (*onlyReads) UnmarshalText([]byte) error { return nil }

type ulid [16]byte

func (ulid) String() string { return "00000000000000000000000000" }

type (
	nickname    string
	tally       int32
	switches    map[string]bool
	preferences struct{ Theme string }
)

func TestAGoTypeDeterminesItsColumnType(t *testing.T) {
	for _, test := range []struct {
		value any
		want  datamap.ColumnType
	}{
		{"", datamap.TypeText},
		{nickname(""), datamap.TypeText},
		{sql.NullString{}, datamap.TypeText},
		{int8(0), datamap.TypeSmallInt},
		{int16(0), datamap.TypeSmallInt},
		{uint8(0), datamap.TypeSmallInt},
		{sql.NullByte{}, datamap.TypeSmallInt},
		{sql.NullInt16{}, datamap.TypeSmallInt},
		{int32(0), datamap.TypeInteger},
		{uint16(0), datamap.TypeInteger},
		{tally(0), datamap.TypeInteger},
		{sql.NullInt32{}, datamap.TypeInteger},
		{0, datamap.TypeBigInt},
		{int64(0), datamap.TypeBigInt},
		{uint(0), datamap.TypeBigInt},
		{uint32(0), datamap.TypeBigInt},
		{uint64(0), datamap.TypeBigInt},
		{sql.NullInt64{}, datamap.TypeBigInt},
		{time.Second, datamap.TypeBigInt},
		{float32(0), datamap.TypeNumber},
		{float64(0), datamap.TypeNumber},
		{sql.NullFloat64{}, datamap.TypeNumber},
		{json.Number(""), datamap.TypeNumber},
		{false, datamap.TypeBoolean},
		{sql.NullBool{}, datamap.TypeBoolean},
		{time.Time{}, datamap.TypeTime},
		{sql.NullTime{}, datamap.TypeTime},
		{bun.NullTime{}, datamap.TypeTime},
		{uuid.UUID{}, datamap.TypeUUID},
		{json.RawMessage{}, datamap.TypeJSON},
		{switches{}, datamap.TypeJSON},
		{preferences{}, datamap.TypeJSON},
		{[]string{}, datamap.TypeJSON},
		{[]preferences{}, datamap.TypeJSON},
		{map[string]any{}, datamap.TypeJSON},
		{[]byte{}, datamap.TypeBytes},
		{net.IP{}, datamap.TypeText},
		{netip.Addr{}, datamap.TypeText},
		{net.IPNet{}, datamap.TypeText},
		{netip.Prefix{}, datamap.TypeText},
	} {
		plain := reflect.TypeOf(test.value)
		for _, goType := range []reflect.Type{plain, reflect.PointerTo(plain)} {
			t.Run(goType.String(), func(t *testing.T) {
				column, err := readColumn(goType, `bun:"data" pii:"identity"`, nil)
				must(t, err)
				if column.Type != test.want {
					t.Errorf("got %q, want %q", column.Type, test.want)
				}
			})
		}
	}
}

func TestAnUnknownTypeIsRefusedIfItIsAnnotated(t *testing.T) {
	for _, test := range []struct {
		value    any
		constant string // a constant that a field of the type can read, if there is any
	}{
		{enveloped(""), "sealed:gone"},
		{onlyScans(""), "gone"},
		{onlyAppends{}, "{}"},
		{onlyParses{}, "{}"},
		{onlyReads{}, "null"},
		{uuid.NullUUID{}, "00000000-0000-4000-8000-000000000000"},
		{sql.Null[string]{}, "gone"},
		{big.Int{}, "0"},
		{ulid{}, ""},
		{[16]byte{}, ""},
		{[3]string{}, ""},
		{complex64(0), ""},
		{make(chan int), ""},
	} {
		goType := reflect.TypeOf(test.value)
		t.Run(goType.String(), func(t *testing.T) {
			_, err := readColumn(goType, `bun:"data" pii:"identity"`, nil)
			wantManifestError(t, err, "things.data",
				"no surrogate is known", "add the type to Config.CustomTypes, or give the column a surrogate")
			if column, err := readColumn(goType, `bun:"data"`, nil); err != nil || column.Type != "" {
				t.Errorf("without an annotation: %+v, %v", column, err)
			}
			custom := bunmodels.Types{goType: {Type: datamap.TypeBytes, Surrogate: test.constant}}
			column, err := readColumn(goType, `bun:"data" pii:"identity"`, custom)
			must(t, err)
			if column.Type != datamap.TypeBytes || column.Surrogate != test.constant {
				t.Errorf("registered: %+v", column)
			}
			column, err = readColumn(goType, `bun:"data" pii:"identity,surrogate:`+cmp.Or(test.constant, "gone")+`"`, nil)
			if test.constant == "" {
				wantManifestError(t, err, "things.data",
					"a surrogate that its field cannot read: the field has the type "+goType.String())
				return
			}
			must(t, err)
			if column.Type != datamap.TypeText || column.Surrogate != test.constant {
				t.Errorf("with a surrogate: %+v", column)
			}
		})
	}
}

func TestASurrogateThatDoesNotFitIsRefused(t *testing.T) {
	for _, test := range []struct {
		value      any
		tags, says string
	}{
		{0, `bun:"data" pii:"identity,surrogate:none"`, "cannot read"},
		{false, `bun:"data" pii:"identity,surrogate:none"`, "cannot read"},
		{time.Time{}, `bun:"data" pii:"identity,surrogate:never"`, "cannot read"},
		{uuid.UUID{}, `bun:"data,type:uuid" pii:"identity,surrogate:none"`, "cannot read"},
		{[]string{}, `bun:"data" pii:"identity,surrogate:{}"`, "cannot read"},
		{enveloped(""), `bun:"data" pii:"identity,surrogate:gone"`, "cannot read"},
		{"", `bun:"data,type:varchar(4)" pii:"identity,surrogate:'nüne!'"`, "longer than the column"},
		{"", `bun:"data,type:varchar(5)" pii:"identity,surrogate:'nüne!'"`, ""},
		{0, `bun:"data" pii:"identity,surrogate:-1"`, ""},
		{time.Time{}, `bun:"data" pii:"identity,surrogate:2000-01-01"`, ""},
		{pointer(false), `bun:"data" pii:"identity,surrogate:true"`, ""},
		{[]string{}, `bun:"data,array" pii:"identity,surrogate:'{}'"`, ""},
	} {
		t.Run(reflect.TypeOf(test.value).String()+" "+test.tags, func(t *testing.T) {
			_, err := readColumn(reflect.TypeOf(test.value), test.tags, nil)
			if test.says == "" {
				must(t, err)
				return
			}
			wantManifestError(t, err, "things.data", test.says)
		})
	}
}

func TestARegisteredTypeKeepsItsLengthAndGivesWayToATag(t *testing.T) {
	custom := bunmodels.Types{reflect.TypeFor[enveloped](): {Type: datamap.TypeText, Surrogate: "sealed:"}}
	column, err := readColumn(reflect.TypeFor[*enveloped](), `bun:"data,type:varchar(20)" pii:"identity"`, custom)
	must(t, err)
	if column.Type != datamap.TypeText || column.Length != 20 || column.Surrogate != "sealed:" {
		t.Errorf("got %+v", column)
	}
	column, err = readColumn(reflect.TypeFor[enveloped](), `bun:"data" pii:"identity,surrogate:'sealed:x'"`, custom)
	must(t, err)
	if column.Surrogate != "sealed:x" {
		t.Errorf("got %+v", column)
	}
	_, err = readColumn(reflect.TypeFor[enveloped](), `bun:"data" pii:"identity"`,
		bunmodels.Types{reflect.TypeFor[enveloped](): {Type: "secret"}})
	wantManifestError(t, err, "things.data", "no known type")
}

func TestSomeTypesHaveASurrogateOfTheirOwn(t *testing.T) {
	for _, test := range []struct {
		value any
		want  string
	}{
		{[]string{}, "[]"},
		{[][]byte{}, "[]"},
		{switches{}, ""},
		{json.RawMessage{}, ""},
		{net.IP{}, "0.0.0.0"},
		{netip.Addr{}, "0.0.0.0"},
		{net.IPNet{}, "0.0.0.0/0"},
		{netip.Prefix{}, "0.0.0.0/0"},
	} {
		column, err := readColumn(reflect.TypeOf(test.value), `bun:"data" pii:"identity"`, nil)
		must(t, err)
		if column.Surrogate != test.want {
			t.Errorf("%T: got %q, want %q", test.value, column.Surrogate, test.want)
		}
	}
}
