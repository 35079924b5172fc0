package datamap_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// keyedBy returns a data map whose subject key is the given column.
func keyedBy(tb testing.TB, key datamap.Column) datamap.DataMap {
	tb.Helper()
	return mustMap(tb, datamap.Table{
		Name: "users", PrimaryKey: []string{key.Name}, SubjectKey: []string{key.Name}, Columns: []datamap.Column{key},
	})
}

func TestAKeyHasTheTypeOfItsColumn(t *testing.T) {
	const uuid = "0190c3f4-2a5e-7b11-8c9d-3f0a1b2c3d4e"
	for _, c := range []struct {
		columnType datamap.ColumnType
		element    string
		want       any
	}{
		{datamap.TypeBigInt, "42", int64(42)},
		{datamap.TypeBigInt, "0", int64(0)},
		{datamap.TypeBigInt, "-7", int64(-7)},
		{datamap.TypeBigInt, "9223372036854775807", int64(9223372036854775807)},
		{datamap.TypeBigInt, "-9223372036854775808", int64(-9223372036854775808)},
		{datamap.TypeInteger, "2147483647", int64(2147483647)},
		{datamap.TypeSmallInt, "-32768", int64(-32768)},
		{datamap.TypeText, "007", "007"},
		{datamap.TypeText, " Zoë ", " Zoë "},
		{datamap.TypeUUID, uuid, uuid},
	} {
		key, err := keyedBy(t, column("id", c.columnType)).Key(mustID(t, c.element))
		if err != nil || !reflect.DeepEqual(key, []any{c.want}) {
			t.Errorf("%s %q: got %#v, %v", c.columnType, c.element, key, err)
		}
	}
}

func TestAnIDThatItsColumnCannotHoldIsRefused(t *testing.T) {
	for columnType, refused := range map[datamap.ColumnType][]string{
		datamap.TypeBigInt: {
			"secret", "007", "+7", "-0", "00", "7.0", "7 ", " 7", "0x7", "1_000", "1e3", "٧", "9223372036854775808",
		},
		datamap.TypeInteger:  {"2147483648", "-2147483649", "secret"},
		datamap.TypeSmallInt: {"32768", "-32769"},
		datamap.TypeUUID: {
			"secret", "0190C3F4-2A5E-7B11-8C9D-3F0A1B2C3D4E", "0190c3f42a5e7b118c9d3f0a1b2c3d4e",
			"{0190c3f4-2a5e-7b11-8c9d-3f0a1b2c3d4e}", "0190c3f4-2a5e-7b11-8c9d-3f0a1b2c3d4",
			"0190c3f4-2a5e-7b11-8c9d_3f0a1b2c3d4e",
			"0190c3f4-2a5e-7b11-8c9d-3f0a1b2c3d4g", "0190c3f4-2a5e-7b11-8c9d-3f0a1b2c3dé",
		},
	} {
		for _, element := range refused {
			key, err := keyedBy(t, column("id", columnType)).Key(mustID(t, element))
			wantCode(t, err, domain.ErrSubject)
			if key != nil {
				t.Errorf("%s %q: got %v along with the error", columnType, element, key)
			}
			if strings.Contains(err.Error(), element) {
				t.Errorf("%s: the error holds the id: %v", columnType, err)
			}
		}
	}
}

func TestARefusedUUIDNamesItsMistake(t *testing.T) {
	m := mustMap(t, datamap.Table{
		Name: "users", PrimaryKey: []string{"tenant", "id"}, SubjectKey: []string{"tenant", "id"},
		Columns: []datamap.Column{column("tenant", datamap.TypeText), column("id", datamap.TypeUUID)},
	})
	const upper = "0190C3F4-2A5E-7B11-8C9D-3F0A1B2C3D4E"
	for element, message := range map[string]string{
		upper:                                  "the id must be a UUID in lower case for users.id",
		"0190c3f4-2a5e-7b11-8c9d-3f0a1b2c3D4e": "the id must be a UUID in lower case for users.id",
		"0190C3F4-2A5E-7B11-8C9D-3F0A1B2C3D4G": "the id does not fit the type of users.id",
	} {
		err := m.CheckSubject(domain.Subject{ID: mustID(t, upper, element)})
		wantCode(t, err, domain.ErrSubject)
		if !strings.HasSuffix(err.Error(), ": "+message) {
			t.Errorf("%q: got %v, want %q", element, err, message)
		}
	}
}

func TestALengthCountsCharacters(t *testing.T) {
	m := keyedBy(t, datamap.Column{Name: "login", Type: datamap.TypeText, Length: 3})
	if _, err := m.Key(mustID(t, "éé😀")); err != nil {
		t.Errorf("three characters do not fit three: %v", err)
	}
	_, err := m.Key(mustID(t, "abcd"))
	wantCode(t, err, domain.ErrSubject)
}

func TestACompositeIDIsMatchedWhole(t *testing.T) {
	m := mustMap(t, datamap.Table{
		Name: "users", PrimaryKey: []string{"number", "tenant"}, SubjectKey: []string{"tenant", "number"},
		Columns: []datamap.Column{column("number", datamap.TypeInteger), column("tenant", datamap.TypeText)},
	})
	key, err := m.Key(mustID(t, "7", "7"))
	if err != nil || !reflect.DeepEqual(key, []any{"7", int64(7)}) {
		t.Errorf("got %#v, %v", key, err)
	}
	for _, id := range []domain.SubjectID{mustID(t, "7"), mustID(t, "7", "7", "7"), mustID(t, "7", "x"), {}} {
		_, err := m.Key(id)
		wantCode(t, err, domain.ErrSubject)
	}
	_, err = keyedBy(t, column("id", datamap.TypeText)).Key(mustID(t, "7", "7"))
	wantCode(t, err, domain.ErrSubject)
}

// If two subject ids had the same key, they would name the same row, but the ledgers of consents and restrictions would
// treat them as two subjects.
func TestNoTwoIDsHaveOneIntegerKey(t *testing.T) {
	m := keyedBy(t, column("id", datamap.TypeBigInt))
	text := rapid.StringMatching(`[-+]?0?[0-9]{1,3}`)
	keyOf := func(text string) ([]any, error) {
		id, err := domain.NewSubjectID(text)
		if err != nil {
			return nil, err
		}
		return m.Key(id)
	}
	rapid.Check(t, func(t *rapid.T) {
		one, other := text.Draw(t, "one"), text.Draw(t, "other")
		first, firstErr := keyOf(one)
		second, secondErr := keyOf(other)
		if firstErr == nil && secondErr == nil && reflect.DeepEqual(first, second) && one != other {
			t.Fatalf("%q and %q are one key, %v", one, other, first)
		}
	})
}

func TestASubjectIsCheckedWithItsID(t *testing.T) {
	m := keyedBy(t, column("id", datamap.TypeBigInt))
	ref := domain.SubjectRef{Kind: "desk", Value: "c-1"}
	if err := m.CheckSubject(domain.Subject{ID: mustID(t, "7"), Refs: []domain.SubjectRef{ref}}); err != nil {
		t.Error(err)
	}
	for name, subject := range map[string]domain.Subject{
		"without an id":      {},
		"of another arity":   {ID: mustID(t, "7", "7")},
		"of another type":    {ID: mustID(t, "seven")},
		"that is not exact":  {ID: mustID(t, "007")},
		"with a ref of none": {ID: mustID(t, "7"), Refs: []domain.SubjectRef{{Kind: "desk"}}},
	} {
		if err := m.CheckSubject(subject); !errors.Is(err, domain.ErrSubject) {
			t.Errorf("a subject %s: %v", name, err)
		}
	}
	subject := domain.Subject{ID: mustID(t, "7")}
	if n := testing.AllocsPerRun(10, func() { _ = m.CheckSubject(subject) }); n > 0 {
		t.Errorf("got %v allocations, want 0: CheckSubject must not compute the key", n)
	}
}
