package resolvers_test

import (
	"errors"
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

func TestAllColumnsWithoutAKeyResolverAreReported(t *testing.T) {
	held := func(name, ref string) datamap.Column {
		return datamap.Column{Name: name, Type: datamap.TypeText, Personal: &datamap.Annotation{
			Category: domain.CategoryIdentity, Strategy: domain.StrategyAnonymize, Ref: ref,
		}}
	}
	dataMap := fixture.MustMap(t, datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{
			{Name: "id", Type: datamap.TypeBigInt}, held("avatar", "media"), held("banner", "Media"), held("desk_id", "desk"),
		},
	})
	taking := mocks.NewMockKeyResolver(gomock.NewController(t))
	taking.EXPECT().Name().Return("media").AnyTimes()
	set, err := resolvers.NewSet(append(named(t, "desk"), ports.Resolver(taking))...)
	if err != nil {
		t.Fatal(err)
	}
	err = dataMap.ManifestError("data map", resolvers.CheckRefs(dataMap, set))
	if !errors.Is(err, domain.ErrManifest) || len(domain.Problems(err)) != 2 {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{
		`users.banner: holds keys of an external system that has no resolver; found "Media"; possible: media`,
		`users.desk_id: holds keys of an external system whose resolver does not take keys; found "desk"; possible: media`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v has not %q", err, want)
		}
	}
}
