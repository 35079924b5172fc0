package resolvers_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/golang/mock/gomock"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/internal/resolvers"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/ports/mocks"
)

// named returns mock resolvers with these names. A call of any method except Name fails the test.
func named(tb testing.TB, names ...string) []ports.Resolver {
	tb.Helper()
	ctrl := gomock.NewController(tb)
	var made []ports.Resolver
	for _, name := range names {
		resolver := mocks.NewMockResolver(ctrl)
		resolver.EXPECT().Name().Return(name).AnyTimes()
		made = append(made, resolver)
	}
	return made
}

func mustSet(tb testing.TB, names ...string) *resolvers.Set {
	tb.Helper()
	set, err := resolvers.NewSet(named(tb, names...)...)
	if err != nil {
		tb.Fatal(err)
	}
	return set
}

func ref(kind, value string) domain.SubjectRef { return domain.SubjectRef{Kind: kind, Value: value} }

// printed lists calls as "name=value".
func printed(calls []resolvers.Call) string {
	var list []string
	for _, call := range calls {
		list = append(list, call.Resolver.Name()+"="+call.Ref.Value)
	}
	return strings.Join(list, " ")
}

func TestNamesComeInTheOrderOfRegistration(t *testing.T) {
	if got := mustSet(t, "mail", "desk", "ads").Names(); !slices.Equal(got, []string{"mail", "desk", "ads"}) {
		t.Errorf("got %v", got)
	}
	if got := mustSet(t).Names(); len(got) != 0 {
		t.Errorf("got %v of no resolvers", got)
	}
}

func TestABadRegistrationIsRefused(t *testing.T) {
	long := strings.Repeat("x", domain.MaxTextLength+1)
	for name, registered := range map[string][]ports.Resolver{
		"nil":          append(named(t, "desk"), nil),
		"no name":      named(t, "desk", ""),
		"a long name":  named(t, long),
		"a comma":      named(t, "desk,mail"), // events join names with commas
		"invalid text": named(t, "desk\xff"),
		"one twice":    named(t, "desk", "mail", "desk"),
	} {
		set, err := resolvers.NewSet(registered...)
		if !errors.Is(err, domain.ErrConfiguration) || set != nil {
			t.Errorf("%s: got %v, %v", name, set, err)
		}
	}
	mustSet(t, strings.Repeat("é", domain.MaxTextLength))
}

func TestRefsAreRoutedByKindInTheOrderOfRegistration(t *testing.T) {
	set := mustSet(t, "mail", "desk", "ads", "shop")
	for name, c := range map[string]struct {
		refs           []domain.SubjectRef
		calls, skipped string
	}{
		"none":             {nil, "", "mail desk ads shop"},
		"one":              {[]domain.SubjectRef{ref("desk", "d1")}, "desk=d1", "mail ads shop"},
		"in another order": {[]domain.SubjectRef{ref("ads", "a1"), ref("mail", "m1")}, "mail=m1 ads=a1", "desk shop"},
		"two of a kind": {
			[]domain.SubjectRef{ref("desk", "d1"), ref("ads", "a1"), ref("desk", "d2")},
			"desk=d1 desk=d2 ads=a1", "mail shop",
		},
		"one for every kind": {
			[]domain.SubjectRef{ref("shop", "s"), ref("ads", "a"), ref("desk", "d"), ref("mail", "m")},
			"mail=m desk=d ads=a shop=s", "",
		},
	} {
		calls, skipped, err := set.Route(c.refs)
		if err != nil || printed(calls) != c.calls || strings.Join(skipped, " ") != c.skipped {
			t.Errorf("%s: got %q, skipped %q, %v", name, printed(calls), skipped, err)
		}
	}
}

func TestARefOfAnUnknownKindIsRefused(t *testing.T) {
	calls, skipped, err := mustSet(t, "desk").Route([]domain.SubjectRef{ref("desk", "d1"), ref("Desk", "secret")})
	if !errors.Is(err, domain.ErrSubject) || calls != nil || skipped != nil {
		t.Errorf("got %q, skipped %q, %v", printed(calls), skipped, err)
	}
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("the error holds the ref: %v", err)
	}
}

func TestOnlyASubjectThatFitsTheDataMapIsAdmitted(t *testing.T) {
	dataMap := fixture.MustMap(t, datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{{Name: "id", Type: datamap.TypeBigInt}},
	})
	set := mustSet(t, "desk", "mail")
	good := fixture.MustSubject(t, "42", ref("desk", "d1"))
	text := fixture.MustSubject(t, "forty-two")

	calls, skipped, err := resolvers.Admit(dataMap, set, good)
	if err != nil || printed(calls) != "desk=d1" || !slices.Equal(skipped, []string{"mail"}) {
		t.Errorf("got %q, skipped %q, %v", printed(calls), skipped, err)
	}
	for name, subject := range map[string]domain.Subject{
		"no id":           {},
		"an id of text":   text,
		"an unknown kind": {ID: good.ID, Refs: []domain.SubjectRef{ref("ads", "a1")}},
		"an empty ref":    {ID: good.ID, Refs: []domain.SubjectRef{ref("desk", "")}},
	} {
		calls, skipped, err := resolvers.Admit(dataMap, set, subject)
		if !errors.Is(err, domain.ErrSubject) || calls != nil || skipped != nil {
			t.Errorf("%s: got %q, skipped %q, %v", name, printed(calls), skipped, err)
		}
	}
}

func TestAnUnknownKindIsNamedWithTheRegisteredOnes(t *testing.T) {
	_, _, err := mustSet(t, "desk", "mail").Route([]domain.SubjectRef{ref("ads", "a-secret")})
	if err == nil || !strings.Contains(err.Error(), `"ads"`) || !strings.Contains(err.Error(), "desk, mail") ||
		strings.Contains(err.Error(), "a-secret") {
		t.Errorf("got %v", err)
	}
}
