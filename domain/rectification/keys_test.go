package rectification_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/rectification"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

// keyed is a resolver of keys that is never called.
type keyed struct{ ports.KeyResolver }

func (keyed) Name() string { return "media" }

// gallery returns a store with the pictures of two people, and the rectifier. The key shared.jpg is in two rows of one
// person.
func gallery(t *testing.T, known ...ports.Resolver) (*memory.Store, *rectification.Rectifier) {
	t.Helper()
	column := func(name string, personal *datamap.Annotation) datamap.Column {
		return datamap.Column{Name: name, Type: datamap.TypeText, Personal: personal}
	}
	annotated := func(ref string, strategy domain.Strategy) *datamap.Annotation {
		a := &datamap.Annotation{Category: domain.CategoryIdentity, Strategy: strategy, Ref: ref}
		if strategy == domain.StrategyRetain {
			a.Reason = "tax law"
		}
		return a
	}
	via := func(name string) *datamap.Annotation {
		a := annotated("media", domain.StrategyErase)
		a.Via = name
		return a
	}
	path := func(name, column string) datamap.Relation {
		return datamap.Relation{
			Name: name, Columns: []string{column}, Path: true, References: "people", ReferencedColumns: []string{"id"},
		}
	}
	dataMap := fixture.MustMap(t,
		datamap.Table{
			Name: "people", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"}, Columns: []datamap.Column{
				column("id", nil), column("name", annotated("", domain.StrategyErase)),
				column("scan", annotated("media", domain.StrategyRetain)),
			},
		},
		datamap.Table{
			Name: "pictures", PrimaryKey: []string{"id"}, Columns: []datamap.Column{
				column("id", nil), column("person", nil), column("file", annotated("media", domain.StrategyErase)),
			},
			Relations: []datamap.Relation{
				{Columns: []string{"person"}, References: "people", ReferencedColumns: []string{"id"}},
			},
		},
		datamap.Table{
			Name: "letters", PrimaryKey: []string{"id"}, Columns: []datamap.Column{
				column("id", nil), column("sender", nil), column("recipient", nil), column("seal", via("Sender")),
				column("stamp", via("Recipient")),
			},
			Relations: []datamap.Relation{path("Sender", "sender"), path("Recipient", "recipient")},
		})
	store, err := memory.New(dataMap, memory.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, person := range []string{"zoe", "bob"} {
		row := memory.Row{"id": person, "name": "name of " + person, "scan": "scan of " + person}
		if err := store.Insert("people", row); err != nil {
			t.Fatal(err)
		}
		for id, file := range map[string]string{"1": "a.jpg", "2": "b.jpg", "3": "shared.jpg", "4": "shared.jpg"} {
			row := memory.Row{"id": person + id, "person": person, "file": person + "/" + file}
			if err := store.Insert("pictures", row); err != nil {
				t.Fatal(err)
			}
		}
	}
	rectifier, err := rectification.NewRectifier(rectification.Config{
		Clock: fixture.NewClock(noon), IDs: &fixture.IDs{}, DataMap: dataMap, Resolvers: known,
	})
	if err != nil {
		t.Fatal(err)
	}
	return store, rectifier
}

// rectify rectifies zoe, and returns the keys in the outbox entries that erase.
func rectify(
	t *testing.T, store *memory.Store, rectifier *rectification.Rectifier, corrections ...domain.Correction,
) (result domain.RectificationResult, keys []string, err error) {
	t.Helper()
	zoe := fixture.MustSubject(t, "zoe")
	err = store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		result, err = rectifier.Rectify(ctx, s, zoe, corrections...)
		return err
	})
	_ = store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		entries, err := s.Outbox().Unclaimed(ctx, noon.Add(time.Hour), 100)
		for _, entry := range entries {
			if entry.Operation != domain.OperationErase || entry.Resolver != "media" {
				t.Errorf("got the entry %+v", entry)
			}
			keys = append(keys, entry.Ref.Keys...)
		}
		return err
	})
	return result, keys, err
}

func TestACorrectionByCategoryWritesNoKey(t *testing.T) {
	store, rectifier := gallery(t, keyed{})
	result, keys, err := rectify(t, store, rectifier, domain.Correction{Category: domain.CategoryIdentity, Value: "Zoë"})
	if err != nil || result.Rectified["people"] != 1 || result.Rectified["pictures"] > 0 || len(keys) > 0 {
		t.Errorf("rectified %v, erased %q, %v", result.Rectified, keys, err)
	}
}

func TestACorrectionOfAColumnErasesTheOldKeys(t *testing.T) {
	for name, test := range map[string]struct {
		row, value string
		want       []string
	}{
		"one row":                     {"zoe1", "zoe/new.jpg", []string{"zoe/a.jpg"}},
		"the key of another row":      {"zoe1", "zoe/b.jpg", []string{"zoe/a.jpg"}},
		"a key that is still held":    {"zoe3", "zoe/new.jpg", nil},
		"the same key":                {"zoe1", "zoe/a.jpg", nil},
		"all rows":                    {"", "zoe/new.jpg", []string{"zoe/a.jpg", "zoe/b.jpg", "zoe/shared.jpg"}},
		"all rows, with one old key":  {"", "zoe/a.jpg", []string{"zoe/b.jpg", "zoe/shared.jpg"}},
		"a row of another person":     {"bob1", "zoe/new.jpg", nil},
		"the key of another person":   {"zoe2", "bob/a.jpg", []string{"zoe/b.jpg"}},
		"a key that was erased later": {"zoe2", "zoe/shared.jpg", []string{"zoe/b.jpg"}},
	} {
		t.Run(name, func(t *testing.T) {
			store, rectifier := gallery(t, keyed{})
			result, keys, err := rectify(t, store, rectifier, domain.Correction{
				Table: "pictures", Column: "file", Row: test.row, Value: test.value,
			})
			if refused := test.row == "bob1"; refused != errors.Is(err, domain.ErrInvalid) {
				t.Fatal(err)
			}
			if !slices.Equal(keys, test.want) {
				t.Errorf("erased %q, want %q", keys, test.want)
			}
			if named := slices.Equal(result.EnqueuedExternal, []string{"media"}); named != (len(test.want) > 0) ||
				named == slices.Contains(result.SkippedResolvers, "media") && test.row != "bob1" {
				t.Errorf("the result is %+v", result)
			}
		})
	}
}

func TestAKeyInACellOfAnotherPersonStays(t *testing.T) {
	for stamp, want := range map[string][]string{"zoe/seal.jpg": nil, "bob/stamp.jpg": {"zoe/seal.jpg"}} {
		store, rectifier := gallery(t, keyed{})
		row := memory.Row{"id": "1", "sender": "zoe", "recipient": "bob", "seal": "zoe/seal.jpg", "stamp": stamp}
		if err := store.Insert("letters", row); err != nil {
			t.Fatal(err)
		}
		_, keys, err := rectify(t, store, rectifier, domain.Correction{Table: "letters", Column: "seal", Value: "new.jpg"})
		if err != nil || !slices.Equal(keys, want) {
			t.Errorf("erased %q, want %q, %v", keys, want, err)
		}
	}
}

func TestARetainedKeyIsNotCorrected(t *testing.T) {
	store, rectifier := gallery(t, keyed{})
	_, keys, err := rectify(t, store, rectifier, domain.Correction{Table: "people", Column: "scan", Value: "new"})
	if !errors.Is(err, domain.ErrInvalid) || len(keys) > 0 {
		t.Errorf("erased %q, %v", keys, err)
	}
}

func TestAKeyWithoutAResolverIsNotCorrected(t *testing.T) {
	store, rectifier := gallery(t)
	_, _, err := rectify(t, store, rectifier, domain.Correction{Table: "pictures", Column: "file", Value: "new"})
	if !errors.Is(err, domain.ErrConfiguration) {
		t.Errorf("got %v", err)
	}
	rows, err := store.Rows("pictures")
	if err != nil || rows[0]["file"] == "new" {
		t.Errorf("the key was overwritten, %v", err)
	}
}
