package memory_test

import (
	"context"
	"errors"
	"reflect"
	"regexp"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

func deletes(table string) datamap.Step {
	return datamap.Step{Target: table, Strategy: domain.StrategyDelete}
}

func anonymizes(table string, columns ...string) datamap.Step {
	return datamap.Step{Target: table, Strategy: domain.StrategyAnonymize, Columns: columns}
}

// notes returns the tables users, folders and notes. A note belongs to a user, and may be in a folder, which also
// belongs to a user. If keyed is set, the column "folder" is a part of the primary key of a note.
func notes(keyed bool) []datamap.Table {
	text := &datamap.Annotation{Category: domain.CategoryCommunication}
	table := func(name string, relations []datamap.Relation, columns ...string) datamap.Table {
		described := datamap.Table{Name: name, PrimaryKey: []string{"id"}, Owned: true, Relations: relations}
		for _, column := range columns {
			described.Columns = append(described.Columns, datamap.Column{Name: column, Type: datamap.TypeBigInt})
		}
		described.Columns = append(described.Columns, datamap.Column{Name: "text", Type: datamap.TypeText, Personal: text})
		return described
	}
	ofUser := datamap.Relation{
		Columns: []string{"user"}, References: "users", ReferencedColumns: []string{"id"}, Path: true,
	}
	inFolder := datamap.Relation{
		Columns: []string{"folder"}, References: "folders", ReferencedColumns: []string{"id"}, SetsNull: true,
	}
	users := table("users", nil, "id")
	users.SubjectKey = []string{"id"}
	note := table("notes", []datamap.Relation{ofUser, inFolder}, "id", "user", "folder")
	if keyed {
		note.PrimaryKey = []string{"id", "folder"}
	}
	return []datamap.Table{users, table("folders", []datamap.Relation{ofUser}, "id", "user"), note}
}

func TestARelationThatIsSetToNullIsClearedWithTheRow(t *testing.T) {
	for _, keyed := range []bool{false, true} {
		store := newStore(t, memory.Options{}, notes(keyed)...)
		insert(t, store, "users", memory.Row{"id": 1}, memory.Row{"id": 2})
		// The folders have the same ids as the users. If the store compared the wrong columns, it would change the wrong
		// rows.
		insert(t, store, "folders", memory.Row{"id": 1, "user": 2}, memory.Row{"id": 2, "user": 1})
		insert(t, store, "notes", memory.Row{"id": 1, "user": 2, "folder": 2}, memory.Row{"id": 2, "user": 2, "folder": 1})
		_, err := apply(store, subject(t, "1"), deletes("folders"))
		if keyed {
			if !errors.Is(err, domain.ErrConflict) {
				t.Errorf("a part of a primary key was cleared: %v", err)
			}
			continue
		}
		must(t, err)
		if got := rows(t, store, "notes"); got[0]["folder"] != nil || got[0]["user"] != int64(2) ||
			got[1]["folder"] != int64(1) {
			t.Errorf("got %v", got)
		}
	}
}

func TestASurrogateFitsItsColumn(t *testing.T) {
	annotated := &datamap.Annotation{Category: domain.CategoryIdentity, Strategy: domain.StrategyAnonymize}
	columns := []datamap.Column{{Name: "id", Type: datamap.TypeBigInt}}
	var names []string
	add := func(name string, kind datamap.ColumnType, length int, constant string) {
		names = append(names, name)
		columns = append(columns,
			datamap.Column{Name: name, Type: kind, Length: length, Surrogate: constant, Personal: annotated})
	}
	want, row := map[string]any{}, memory.Row{"id": 1}
	for kind, constant := range map[datamap.ColumnType]struct {
		text          string
		with, without any // the surrogates with and without the constant
	}{
		datamap.TypeSmallInt: {"-7", int64(-7), int64(0)},
		datamap.TypeInteger:  {"7", int64(7), int64(0)},
		datamap.TypeBigInt:   {"7", int64(7), int64(0)},
		datamap.TypeNumber:   {"1.5", 1.5, 0.0},
		datamap.TypeBoolean:  {"true", true, false},
		datamap.TypeTime:     {"2024-02-29", time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC), time.Unix(0, 0).UTC()},
		datamap.TypeJSON:     {`{"gone":true}`, domain.JSON(`{"gone":true}`), domain.JSON(`{}`)},
		datamap.TypeArray:    {`[0]`, domain.JSON(`[0]`), domain.JSON(`[]`)},
		datamap.TypeBytes:    {"gone", []byte("gone"), []byte{}},
	} {
		add(string(kind), kind, 0, "")
		add("constant "+string(kind), kind, 0, constant.text)
		want[string(kind)], want["constant "+string(kind)] = constant.without, constant.with
		row[string(kind)], row["constant "+string(kind)] = constant.with, constant.without
	}
	patterns := map[string]string{
		"uuid": "^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$", "text": "^anon-[0-9a-f]{32}$",
		"36": "^anon-[0-9a-f]{31}$", "17": "^anon-[0-9a-f]{12}$", "16": "^[0-9a-f]{16}$", "1": "^[0-9a-f]$",
		"gone": "^it's gone$",
	}
	add("uuid", datamap.TypeUUID, 0, "")
	add("text", datamap.TypeText, 0, "")
	add("36", datamap.TypeText, 36, "")
	add("17", datamap.TypeText, 17, "")
	add("16", datamap.TypeText, 16, "")
	add("1", datamap.TypeText, 1, "")
	add("gone", datamap.TypeText, 20, "it's gone")
	for column := range patterns {
		row[column] = "~"
	}
	row["uuid"] = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
	store := newStore(t, memory.Options{}, datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"}, Columns: columns,
	})
	insert(t, store, "users", row)
	_, err := apply(store, subject(t, "1"), anonymizes("users", names...))
	must(t, err)
	for column, got := range rows(t, store, "users")[0] {
		if pattern, ok := patterns[column]; ok {
			if text, ok := got.(string); !ok || !regexp.MustCompile(pattern).MatchString(text) {
				t.Errorf("%s: got %v", column, got)
			}
		} else if column != "id" && !reflect.DeepEqual(got, want[column]) {
			t.Errorf("%s: got %#v, want %#v", column, got, want[column])
		}
	}
}

func TestNewRefusesAConstantThatDoesNotFitItsColumn(t *testing.T) {
	for _, column := range []datamap.Column{
		{Type: datamap.TypeBigInt, Surrogate: "gone"},
		{Type: datamap.TypeNumber, Surrogate: "NaN"},
		{Type: datamap.TypeBoolean, Surrogate: "gone"},
		{Type: datamap.TypeTime, Surrogate: "gone"},
		{Type: datamap.TypeJSON, Surrogate: "{"},
		{Type: datamap.TypeSmallInt, Surrogate: "1.5"},
	} {
		column.Name, column.Personal = "column", &datamap.Annotation{Category: domain.CategoryIdentity}
		dataMap := fixture.MustMap(t, datamap.Table{
			Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
			Columns: []datamap.Column{{Name: "id", Type: datamap.TypeBigInt}, column},
		})
		if _, err := memory.New(dataMap, memory.Options{}); !errors.Is(err, domain.ErrManifest) {
			t.Errorf("%s: got %v", column.Type, err)
		}
	}
}

func TestAValueThatDoesNotFitItsColumnUndoesARectification(t *testing.T) {
	for _, value := range []any{nil, 7, "more than the forty characters of the column"} {
		store := newShop(t)
		err := store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			for _, right := range []any{"right", value} {
				_, _ = s.Subjects().Rectify(ctx, subject(t, "a", "1"), domain.RectificationStep{
					Table: "people", Values: []domain.ColumnValue{{Column: "name", Value: right}},
				})
			}
			return nil // nothing is committed nevertheless
		})
		var invalid *domain.Error
		if !errors.As(err, &invalid) || invalid.Code != domain.ErrInvalid || invalid.Fields[0].Field != "identity" {
			t.Errorf("got %v", err)
		}
		if name := rows(t, store, "people")[0]["name"]; name != "Jane a" {
			t.Errorf("the name is %v", name)
		}
	}
}
