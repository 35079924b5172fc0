package plan_test

import (
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/internal/tests/fixture"
)

// noon is the instant that the tests of this package use as the current time.
var noon = time.Date(2024, time.March, 1, 12, 0, 0, 0, time.UTC)

var (
	mustID, mustMap, wantCode = fixture.MustID, fixture.MustMap, fixture.WantCode
	column, contact, users    = fixture.Column, fixture.Contact, fixture.Users
	messagesTable             = fixture.Messages
)

func TestAStepCannotEraseOrSetToNull(t *testing.T) {
	m := mustMap(t, users())
	for _, strategy := range []domain.Strategy{domain.StrategyErase, domain.StrategyNull, ""} {
		_, err := plan.CheckSteps(m, []datamap.Step{{Target: "users", Strategy: strategy, Columns: []string{"email"}}})
		wantCode(t, err, domain.ErrManifest)
	}
}

func keyColumn(name string, kind datamap.ColumnType, ref string) datamap.Column {
	return datamap.Column{Name: name, Type: kind, Personal: &datamap.Annotation{
		Category: domain.CategoryIdentity, Strategy: domain.StrategyAnonymize, Ref: ref,
	}}
}

func TestASurrogateOfAnErasureIsNotAKey(t *testing.T) {
	short, constant, filled := keyColumn("a", datamap.TypeText, "short"), keyColumn("b", datamap.TypeText, "constant"),
		keyColumn("c", datamap.TypeText, "filled")
	limited := keyColumn("f", datamap.TypeText, "limited")
	short.Length, limited.Length, constant.Surrogate, filled.Surrogate = 16, 20, "default.png", "gone/{}.png"
	people := users()
	people.Columns = append(people.Columns, short, limited, constant, filled, keyColumn("d", datamap.TypeText, "text"),
		keyColumn("e", datamap.TypeBigInt, "number"))
	m := mustMap(t, people)
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
		if got := plan.IsErasedKey(m, c.resolver, c.text); got != c.erased {
			t.Errorf("%s, %s: got %v", c.resolver, c.text, got)
		}
	}
}
