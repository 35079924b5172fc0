package memory_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain/datamap"
)

func TestASchemaHasItsCatalogAndDecidesNothing(t *testing.T) {
	check := datamap.CatalogCheck{Columns: []string{"n"}, Text: "CHECK (n > 0)"}
	schema := memory.NewSchema(datamap.Catalog{Tables: []datamap.CatalogTable{
		{Name: "t", Checks: []datamap.CatalogCheck{check}},
	}})
	catalog, err := schema.Catalog(t.Context())
	if err != nil || len(catalog.Tables) != 1 || catalog.Tables[0].Name != "t" {
		t.Errorf("got %v, %v", catalog, err)
	}
	verdicts, err := schema.Satisfies(t.Context(), "t", check, []map[string]any{{"n": int64(1)}, {"n": int64(0)}})
	want := []datamap.Verdict{datamap.VerdictUndecided, datamap.VerdictUndecided}
	if err != nil || !slices.Equal(verdicts, want) {
		t.Errorf("got %q, %v", verdicts, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, reading := schema.Catalog(ctx)
	_, deciding := schema.Satisfies(ctx, "t", check, nil)
	if !errors.Is(reading, context.Canceled) || !errors.Is(deciding, context.Canceled) {
		t.Errorf("in a context that has ended: %v, %v", reading, deciding)
	}
}
