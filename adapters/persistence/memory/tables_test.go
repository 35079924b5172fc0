package memory_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
)

func TestAnEmptyDataMapIsRefused(t *testing.T) {
	if _, err := memory.New(datamap.DataMap{}, memory.Options{}); !errors.Is(err, domain.ErrConfiguration) {
		t.Errorf("got %v", err)
	}
}

func TestRowsComeBackAsTheyWereInserted(t *testing.T) {
	store := newStore(t, memory.Options{})
	zone := time.FixedZone("away", 5*3600)
	person := memory.Row{
		"tenant": "shop'1", "number": int64(1) << 40, "name": "Ä?$1", "nickname": nil, "level": -3,
		"born": time.Date(2024, 2, 29, 23, 59, 58, 123456789, zone), "score": 12.5, "active": true,
		"token": "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "settings": domain.JSON(`{"theme": "dark"}`),
		"photo": []byte{0, 0xff},
	}
	insert(t, store, "people", person, memory.Row{"tenant": "a", "number": 2}, memory.Row{"tenant": "a", "number": 10})
	got := rows(t, store, "people")
	if len(got) != 3 || got[0]["number"] != int64(2) || got[1]["number"] != int64(10) {
		t.Fatalf("not by primary key: %v", got)
	}
	want := memory.Row{
		"tenant": "shop'1", "number": int64(1) << 40, "name": "Ä?$1", "email": nil, "nickname": nil,
		"born": time.Date(2024, 2, 29, 18, 59, 58, 123456000, time.UTC), "score": 12.5, "level": int64(-3), "visits": nil,
		"active": true, "token": "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "settings": domain.JSON(`{"theme": "dark"}`),
		"photo": []byte{0, 0xff}, "remark": nil,
		"mobile": nil, "motto": nil, "login": nil, "badge": nil, "password_hash": nil, "created_at": nil,
	}
	if !reflect.DeepEqual(got[2], want) {
		t.Errorf("got  %#v\nwant %#v", got[2], want)
	}
	if empty := rows(t, store, "orders"); len(empty) != 0 {
		t.Errorf("an empty table has %v", empty)
	}
}

func TestARowThatDoesNotFitIsRefused(t *testing.T) {
	store := newShop(t)
	insert(t, store, "messages", memory.Row{"id": 1, "tenant": "a", "person": 1})
	const secret = "jane@example.org"
	long := strings.Repeat("x", 41)
	for name, c := range map[string]struct {
		table string
		row   memory.Row
		want  domain.Code
		text  string // the error must contain it
	}{
		"table": {"nothing", memory.Row{"id": 1}, domain.ErrManifest, "nothing"},
		"column": {
			"people", memory.Row{"tenant": "c", "number": 1, "nothing": secret}, domain.ErrManifest, "nothing",
		},
		"type":    {"people", memory.Row{"tenant": "c", "number": secret}, domain.ErrInvalid, "number"},
		"Go type": {"people", memory.Row{"tenant": "c", "number": 1, "remark": &long}, domain.ErrInvalid, "remark"},
		"length":  {"people", memory.Row{"tenant": "c", "number": 1, "name": long}, domain.ErrInvalid, "name"},
		"number": {
			"people", memory.Row{"tenant": "c", "number": 1, "score": math.NaN()}, domain.ErrInvalid, "score",
		},
		"number as text": {
			"people", memory.Row{"tenant": "c", "number": 1, "score": domain.Number("0x1p4")}, domain.ErrInvalid, "score",
		},
		"no bytes": {
			"people", memory.Row{"tenant": "c", "number": 1, "photo": []byte(nil)}, domain.ErrInvalid, "photo",
		},
		"document": {
			"people", memory.Row{"tenant": "c", "number": 1, "settings": domain.JSON("{")}, domain.ErrInvalid, "settings",
		},
		"no primary key":   {"people", memory.Row{"tenant": "c"}, domain.ErrInvalid, "number"},
		"same primary key": {"people", memory.Row{"tenant": "a", "number": 1, "name": secret}, domain.ErrConflict, "people"},
		"no such parent":   {"orders", memory.Row{"id": 1, "tenant": "a", "person": 2}, domain.ErrConflict, "people"},
		"no such other row": {
			"messages", memory.Row{"id": 2, "tenant": "a", "person": 1, "reply_to": 3}, domain.ErrConflict, "messages",
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := store.Insert(c.table, c.row)
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) || strings.Contains(err.Error(), secret) {
				t.Errorf("got %v", err)
			}
		})
	}
	if len(rows(t, store, "people")) != 2 || len(rows(t, store, "orders")) != 0 || len(rows(t, store, "messages")) != 1 {
		t.Error("a refused row exists")
	}
	if _, err := store.Rows("nothing"); !errors.Is(err, domain.ErrManifest) {
		t.Errorf("rows of an unknown table: %v", err)
	}
}

func TestARowMayReferToItselfOrToNothing(t *testing.T) {
	store := newShop(t)
	insert(t, store, "messages", memory.Row{"id": 1, "tenant": "a", "person": 1, "reply_to": 1},
		memory.Row{"id": 2, "tenant": "a", "person": 1}, memory.Row{"id": 3, "tenant": "a"})
	if n := len(rows(t, store, "messages")); n != 3 {
		t.Errorf("%d rows", n)
	}
}

func TestNullMatchesNoRow(t *testing.T) {
	ofUser := datamap.Relation{
		Columns: []string{"user"}, References: "users", ReferencedColumns: []string{"id"}, Path: true,
	}
	store := newStore(t, memory.Options{},
		datamap.Table{
			Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
			Columns: []datamap.Column{{Name: "id", Type: datamap.TypeText}},
		},
		datamap.Table{
			Name: "tags", PrimaryKey: []string{"name"}, Owned: true, Relations: []datamap.Relation{ofUser},
			Columns: []datamap.Column{{Name: "name", Type: datamap.TypeText}, {Name: "user"}},
		},
		datamap.Table{
			Name: "notes", PrimaryKey: []string{"id"}, Columns: []datamap.Column{{Name: "id"}, {Name: "user"}, {Name: "tag"}},
			Relations: []datamap.Relation{
				ofUser,
				{Columns: []string{"tag"}, References: "tags", ReferencedColumns: []string{"name"}},
				{Columns: []string{"id"}, References: "elsewhere", ReferencedColumns: []string{"id"}}, // outside the data map
			},
		})
	insert(t, store, "users", memory.Row{"id": "u"})
	insert(t, store, "tags", memory.Row{"name": "", "user": "u"})
	insert(t, store, "notes", memory.Row{"id": 1, "user": "u", "tag": nil})
	if counts, err := apply(store, subject(t, "u"), deletes("tags")); err != nil || counts[0] != 1 {
		t.Errorf("got %v, %v", counts, err)
	}
}

func TestAColumnWithoutATypeAcceptsEveryValue(t *testing.T) {
	store := newStore(t, memory.Options{}, datamap.Table{
		Name: "users", PrimaryKey: []string{"key"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{{Name: "id", Type: datamap.TypeBigInt}, {Name: "key"}},
	})
	for i, key := range []any{"text", int64(1), 1.5, true, noon, domain.JSON(`[]`), domain.Number("1.50"), []byte("b")} {
		insert(t, store, "users", memory.Row{"id": i, "key": key})
		is := func(row memory.Row) bool { return reflect.DeepEqual(row["key"], key) }
		if !slices.ContainsFunc(rows(t, store, "users"), is) {
			t.Errorf("%v did not come back", key)
		}
	}
}

// If the caller changes a row after Insert or Rows, the data of the store must not change.
func TestTheApplicationsRowsAreCopies(t *testing.T) {
	store := newShop(t)
	row := memory.Row{"tenant": "c", "number": 1, "name": "Jane", "photo": []byte("photo")}
	insert(t, store, "people", row)
	spoil := func(row memory.Row) {
		row["name"] = "changed"
		row["photo"].([]byte)[0] = 'X'
	}
	intact := func(when string) {
		t.Helper()
		got := rows(t, store, "people")[2]
		if got["name"] != "Jane" || string(got["photo"].([]byte)) != "photo" {
			t.Errorf("changed by %s: %v", when, got)
		}
	}
	spoil(row)
	intact("the row that was inserted")
	spoil(rows(t, store, "people")[2])
	intact("the rows that were read")
	for _, record := range export(t, store, subject(t, "c", "1")) {
		if raw, ok := record.Value.([]byte); ok {
			raw[0] = 'X'
		}
	}
	intact("an export")
}

func TestRowsWhoseKeyIsASecretAreNumbered(t *testing.T) {
	secret := &datamap.Annotation{Category: domain.CategoryTechnical, Export: datamap.ExportNo}
	store := newStore(t, memory.Options{},
		datamap.Table{
			Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
			Columns: []datamap.Column{{Name: "id", Type: datamap.TypeBigInt}},
		},
		datamap.Table{
			Name: "passes", PrimaryKey: []string{"token"}, Owned: true,
			Columns: []datamap.Column{
				{Name: "token", Type: datamap.TypeText, Personal: secret},
				{Name: "user_id", Type: datamap.TypeBigInt},
				{Name: "device", Type: datamap.TypeText, Personal: &datamap.Annotation{Category: domain.CategoryTechnical}},
			},
			Relations: []datamap.Relation{{
				Columns: []string{"user_id"}, References: "users", ReferencedColumns: []string{"id"},
			}},
		},
	)
	insert(t, store, "users", memory.Row{"id": 1}, memory.Row{"id": 2})
	insert(t, store, "passes", memory.Row{"token": "s3cret-b", "user_id": 1, "device": "watch"},
		memory.Row{"token": "s3cret-a", "user_id": 1, "device": "phone"},
		memory.Row{"token": "s3cret-0", "user_id": 2, "device": "ring"})
	var got []string
	must(t, store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		return s.Subjects().Export(ctx, subject(t, "1"), func(record domain.ExportRecord) error {
			got = append(got, fmt.Sprint(record.Field, " ", record.Row, " ", record.Value))
			return nil
		})
	}))
	if want := []string{"device 1 phone", "device 2 watch"}; !slices.Equal(got, want) {
		t.Errorf("exported are %q, want %q", got, want)
	}
}
