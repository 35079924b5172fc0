package datamap_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

func keyColumn(name string, kind datamap.ColumnType, ref string) datamap.Column {
	return datamap.Column{Name: name, Type: kind, Personal: &datamap.Annotation{
		Category: domain.CategoryIdentity, Strategy: domain.StrategyAnonymize, Ref: ref,
	}}
}

func keyMap(columns ...datamap.Column) (datamap.DataMap, error) {
	return datamap.NewDataMap(datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: append([]datamap.Column{{Name: "id", Type: datamap.TypeBigInt}}, columns...),
	})
}

func TestAColumnThatCannotHoldAKeyIsRefused(t *testing.T) {
	_, err := keyMap(keyColumn("photo", datamap.TypeBytes, "media"), keyColumn("film", datamap.TypeText, "a,b"))
	if problems := domain.Problems(err); !errors.Is(err, domain.ErrManifest) || len(problems) != 2 ||
		problems[0].Column != "photo" || problems[0].Found != "bytes" || problems[1].Column != "film" {
		t.Errorf("got %v", err)
	}
}

func TestRefsAreInOrderAndWithoutDuplicates(t *testing.T) {
	m, err := keyMap(keyColumn("a", datamap.TypeText, "media"), keyColumn("b", datamap.TypeUUID, "desk"),
		keyColumn("c", datamap.TypeBigInt, "media"), keyColumn("d", datamap.TypeText, ""))
	if err != nil || !slices.Equal(m.Refs(), []string{"media", "desk"}) {
		t.Errorf("got %v, %v", m.Refs(), err)
	}
}

func TestTheRefOfASubjectHasNoKeys(t *testing.T) {
	subject, err := domain.NewSubject("1", domain.SubjectRef{Kind: "media", Value: "x", Keys: []string{"k"}})
	if err != nil || !errors.Is(subject.Validate(), domain.ErrSubject) {
		t.Errorf("got %v", err)
	}
}
