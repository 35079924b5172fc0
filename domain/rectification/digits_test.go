package rectification_test

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/rectification"
	"github.com/habeas-data/habeas/domain/saga"
	"github.com/habeas-data/habeas/internal/system"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

// desk is an external system that keeps the corrections that it receives.
type desk struct{ got domain.Corrections }

func (*desk) Name() string                          { return "desk" }
func (*desk) CoveredSurface() domain.CoveredSurface { return domain.CoveredSurface{} }

func (*desk) ExportSubject(context.Context, domain.SubjectRef) ([]domain.ExportRecord, error) {
	return nil, nil
}

func (*desk) EraseSubject(context.Context, domain.SubjectRef, domain.ErasureCall) (bool, error) {
	return false, nil
}

func (d *desk) RectifySubject(_ context.Context, _ domain.SubjectRef, _ domain.RectificationCall,
	to domain.Corrections,
) error {
	d.got = to
	return nil
}

// A large number is written into its column and sent to an external system without the loss of a digit. The number is
// an integer of the application or a number that was decoded from a request.
func TestNumbersReachColumnsAndSystemsWithAllDigits(t *testing.T) {
	const digits = "9007199254740993" // a float64 would hold 9007199254740992
	for name, given := range map[string]any{
		"an integer": int64(9007199254740993), "a decoded number": json.Number(digits),
	} {
		t.Run(name, func(t *testing.T) {
			dataMap := holding(t, personal("account", datamap.TypeBigInt, domain.CategoryFinancial))
			store, err := memory.New(dataMap, memory.Options{})
			must(t, err)
			must(t, store.Insert("users", memory.Row{"id": 42, "account": 1}))
			system, clock, ids := &desk{}, system.Clock{}, &system.IDs{}
			set := []ports.Resolver{system}
			rectifier, err := rectification.NewRectifier(rectification.Config{
				Clock: clock, IDs: ids, DataMap: dataMap, Resolvers: set,
			})
			must(t, err)
			runner, err := saga.NewRunner(saga.Config{Sessions: store, Clock: clock, IDs: ids, Resolvers: set})
			must(t, err)
			subject := fixture.MustSubject(t, "42", ref("desk", "d1"))

			must(t, store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
				_, err := rectifier.RectifySubject(ctx, s, subject, domain.Corrections{
					domain.CategoryFinancial:  given,
					domain.CategoryTechnical:  domain.JSON(`{"id":[` + digits + `]}`),
					domain.CategoryBehavioral: domain.Number("0.10"),
				})
				return err
			}))
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err = runner.RunOnce(ctx)
			must(t, err)

			want := domain.Corrections{
				domain.CategoryFinancial:  json.Number(digits),
				domain.CategoryTechnical:  map[string]any{"id": []any{json.Number(digits)}},
				domain.CategoryBehavioral: json.Number("0.10"),
			}
			if !reflect.DeepEqual(system.got, want) {
				t.Errorf("the system got %#v", system.got)
			}
			rows, err := store.Rows("users")
			must(t, err)
			if got := rows[0]["account"]; got != int64(9007199254740993) {
				t.Errorf("the column holds %v", got)
			}
		})
	}
}

var must = fixture.Must
