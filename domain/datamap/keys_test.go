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

func TestASurrogateOfAnErasureIsNotAKey(t *testing.T) {
	short, constant, filled := keyColumn("a", datamap.TypeText, "short"), keyColumn("b", datamap.TypeText, "constant"),
		keyColumn("c", datamap.TypeText, "filled")
	limited := keyColumn("f", datamap.TypeText, "limited")
	short.Length, limited.Length, constant.Surrogate, filled.Surrogate = 16, 20, "default.png", "gone/{}.png"
	m, err := keyMap(
		short, limited, constant, filled, keyColumn("d", datamap.TypeText, "text"),
		keyColumn("e", datamap.TypeBigInt, "number"),
	)
	if err != nil {
		t.Fatal(err)
	}
	const digits = "0123456789abcdef0123456789abcdef"
	for _, c := range []struct {
		resolver, text string
		erased         bool
	}{
		{"text", "anon-" + digits, true},
		{"text", "anon-" + digits + "0", false},
		{"text", "anon-" + digits[1:] + "g", false},
		{"text", digits, false},
		{"text", "default.png", false},
		{"limited", "anon-" + digits[:15], true},
		{"limited", "anon-" + digits[:14], false},
		{"limited", digits[:20], false},
		{"short", digits[:16], false}, // may be a surrogate or a key, so the resolver gets it
		{"short", "anon-01234567890", false},
		{"constant", "default.png", true},
		{"constant", "default.jpg", false},
		{"filled", "gone/" + digits + ".png", true},
		{"filled", "gone/{}.png", false},
		{"number", "0", true},
		{"number", "10", false},
		{"unknown", "0", false},
	} {
		if got := m.IsErasedKey(c.resolver, c.text); got != c.erased {
			t.Errorf("%s, %s: got %v", c.resolver, c.text, got)
		}
	}
}

func TestTheRefOfASubjectHasNoKeys(t *testing.T) {
	subject, err := domain.NewSubject("1", domain.SubjectRef{Kind: "media", Value: "x", Keys: []string{"k"}})
	if err != nil || !errors.Is(subject.Validate(), domain.ErrSubject) {
		t.Errorf("got %v", err)
	}
}
