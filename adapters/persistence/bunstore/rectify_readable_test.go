package bunstore_test

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/adapters/persistence/bunmodels"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

// sealed is a text that the application encrypts.
type sealed string

func (s sealed) Value() (driver.Value, error) { return "sealed:" + string(s), nil }

func (s *sealed) Scan(value any) error {
	text, ok := strings.CutPrefix(fmt.Sprint(value), "sealed:")
	if *s = sealed(text); !ok {
		return errors.New("not sealed: " + text)
	}
	return nil
}

// cents is an amount in cents. Its column holds the amount in euros.
type cents int64

func (c *cents) Scan(value any) error {
	euros, ok := value.(int64)
	if *c = cents(euros * 100); !ok {
		return errors.New("no amount")
	}
	return nil
}

// Picky has fields that cannot scan every value of their columns.
type Picky struct {
	bun.BaseModel `bun:"table:pickies"`
	ID            int64             `bun:"id,pk" subject:"id"`
	Octet         uint8             `bun:"octet" pii:"identity"`
	Count         uint64            `bun:"count" pii:"identity"`
	Tiny          *int8             `bun:"tiny" pii:"identity"`
	Whole         int64             `bun:"whole,type:numeric" pii:"financial"`
	Single        float32           `bun:"single" pii:"financial"`
	Price         cents             `bun:"price,type:bigint" pii:"financial"`
	List          []string          `bun:"list" pii:"behavioral"`
	Shape         struct{ Zip int } `bun:"shape,type:jsonb" pii:"behavioral"`
	Document      json.RawMessage   `bun:"document" pii:"behavioral"`
	Address       netip.Addr        `bun:"address,type:inet" pii:"technical"`
	Secret        sealed            `bun:"secret,type:text" pii:"special,export:yes"`
}

// newPickies returns a store with one row of Picky, and the subject of the row.
func newPickies(t testing.TB, db *bun.DB) (*bunstore.Store, domain.SubjectID) {
	t.Helper()
	ctx, model := context.Background(), (*Picky)(nil)
	must(t, bunstore.Migrate(ctx, db, bunstore.Options{}))
	databases.Create(t, db, model)
	databases.Insert(t, db, &Picky{ID: 1, Address: netip.MustParseAddr("::1"), Document: json.RawMessage("{}")})
	dataMap, err := bunmodels.Read(db, []any{model}, bunmodels.Types{
		reflect.TypeFor[sealed](): {Type: datamap.TypeText, Surrogate: "sealed:"},
		reflect.TypeFor[cents]():  {Type: datamap.TypeBigInt},
	})
	must(t, err)
	store := storeOf(t, db, dataMap, bunstore.Options{})
	id := fixture.MustID(t, "1")
	return store, id
}

func TestAnUnreadableValueIsRefusedBeforeItIsWritten(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		hook := &statements{}
		store, id := newPickies(t, databases.WithHook(db, hook))
		for _, c := range []struct {
			column   string
			value    any
			category string
		}{
			{"octet", int64(256), "identity"},
			{"octet", int64(-1), "identity"},
			{"count", int64(-1), "identity"},
			{"tiny", int64(128), "identity"},
			{"whole", 12.5, "financial"},
			{"whole", domain.Number("9223372036854775808"), "financial"},
			{"single", 1e300, "financial"},
			{"list", domain.JSON(`{"secret": 1}`), "behavioral"},
			{"shape", domain.JSON(`{"Zip": "secret"}`), "behavioral"},
			{"address", "secret", "technical"},
			{"secret", "secret", "special"},
		} {
			texts := hook.during(t, func() {
				_, err := write(store, id, "pickies", domain.ColumnValue{Column: c.column, Value: c.value})
				var invalid *domain.Error
				if !errors.Is(err, domain.ErrInvalid) || !errors.As(err, &invalid) || strings.Contains(err.Error(), "secret ") ||
					len(invalid.Fields) != 1 || invalid.Fields[0].Field != c.category || invalid.Fields[0].Code != domain.FieldType {
					t.Errorf("%s of %v: %v", c.column, c.value, err)
				}
			})
			if len(texts) > 0 {
				t.Errorf("%s of %v: statements %q", c.column, c.value, texts)
			}
		}
	})
}

func TestReadableValuesAreWritten(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		store, id := newPickies(t, db)
		_, err := write(store, id, "pickies", []domain.ColumnValue{
			{Column: "octet", Value: int64(255)},
			{Column: "count", Value: int64(7)},
			{Column: "tiny", Value: int64(-128)},
			{Column: "whole", Value: 12.0},
			{Column: "single", Value: int64(3)},
			{Column: "price", Value: int64(5)},
			{Column: "list", Value: domain.JSON(`["a"]`)},
			{Column: "shape", Value: domain.JSON(`{"Zip": 10115}`)},
			{Column: "document", Value: domain.JSON(`[1]`)},
			{Column: "address", Value: "192.0.2.1"},
			{Column: "secret", Value: "sealed:x"},
		}...)
		must(t, err)
		var got Picky
		must(t, db.NewSelect().Model(&got).Where("id = 1").Scan(context.Background()))
		tiny := int8(-128)
		want := Picky{
			ID: 1, Octet: 255, Count: 7, Tiny: &tiny, Whole: 12, Single: 3, Price: 500, List: []string{"a"},
			Shape:    struct{ Zip int }{10115},
			Document: json.RawMessage("[1]"), Address: netip.MustParseAddr("192.0.2.1"), Secret: "x",
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
}

// On SQLite, a rectification must refuse a bare number for a column that is declared as JSON. SQLite would store the
// text of the number as a number, which the model cannot scan.
func TestJSONThatIsABareNumberIsRefusedOnSQLite(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		store, id := newPickies(t, db)
		_, err := write(store, id, "pickies", domain.ColumnValue{Column: "document", Value: domain.JSON("12")})
		if refused := errors.Is(err, domain.ErrInvalid); refused != (db.Dialect().Name() == dialect.SQLite) ||
			!refused && err != nil {
			t.Errorf("got %v", err)
		}
		must(t, db.NewSelect().Model(new(Picky)).Where("id = 1").Scan(context.Background()))
	})
}

func TestAFieldThatIsAPointerReadsNull(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		store, id := newPickies(t, db)
		execute(t, db, "UPDATE pickies SET tiny = 7")
		rows, err := write(store, id, "pickies", domain.ColumnValue{Column: "tiny"})
		if n, read := 0, db.NewRaw("SELECT count(*) FROM pickies WHERE tiny IS NULL"); err != nil || rows != 1 ||
			read.Scan(t.Context(), &n) != nil || n != 1 {
			t.Errorf("wrote %d rows, %v; %d are NULL", rows, err, n)
		}
	})
}

func TestAPartialRectificationIsNotCommittedEvenIfItsErrorIsIgnored(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		store, id := newPickies(t, db)
		err := store.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
			for _, value := range []domain.ColumnValue{
				{Column: "octet", Value: int64(9)}, {Column: "octet", Value: int64(256)},
			} {
				_, _ = s.Subjects().Rectify(ctx, id,
					domain.RectificationStep{Table: "pickies", Values: []domain.ColumnValue{value}})
			}
			return nil
		})
		if !errors.Is(err, domain.ErrInvalid) {
			t.Errorf("got %v", err)
		}
		var got Picky
		must(t, db.NewSelect().Model(&got).Where("id = 1").Scan(context.Background()))
		if got.Octet != 0 {
			t.Errorf("octet %d", got.Octet)
		}
	})
}
