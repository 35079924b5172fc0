package cli_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// dated is an application whose people have a retained column with the start of its period in a text column.
type dated struct {
	checked
	limits chan time.Duration
}

func (dated) DataMap() datamap.DataMap {
	m, err := datamap.NewDataMap(datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"}, Columns: []datamap.Column{
			{Name: "id", Type: datamap.TypeBigInt},
			{Name: "paid_on", Type: datamap.TypeTime},
			{Name: "email", Type: datamap.TypeText, Personal: &datamap.Annotation{
				Category: domain.CategoryContact, Strategy: domain.StrategyRetain, Reason: "law",
				Retain: datamap.Period{Years: 1}, Since: "paid_on",
			}},
		},
	})
	if err != nil {
		panic(err)
	}
	return m
}

func (d dated) CountRows(ctx context.Context, _ datamap.RowQuestion) (datamap.RowCount, error) {
	until, _ := ctx.Deadline()
	d.limits <- time.Until(until)
	return datamap.RowCount{Counted: true, Rows: 3, Found: 1}, nil
}

func TestRowsAreCountedOnlyOnRequest(t *testing.T) {
	schema := faultless()
	schema.Tables[0].Columns = append(schema.Tables[0].Columns,
		datamap.CatalogColumn{Name: "paid_on", Type: datamap.TypeText, Declared: "text"})
	application := dated{checked{catalog: schema}, make(chan time.Duration, 1)}
	const uncounted = "Not counted: since-unreadable users.paid_on. Run lint with --rows"
	for _, args := range [][]string{{"lint"}, {"lint", "--rows"}} {
		var out, complaint strings.Builder
		run(t.Context(), application, nil, &out, &complaint, args...)
		text := strings.Join(strings.Fields(out.String()), " ")
		isCounted := len(args) > 1
		if strings.Contains(text, uncounted) == isCounted || strings.Contains(text, "holds 1 of 3 rows") != isCounted {
			t.Errorf("%v: %s%s", args, out.String(), complaint.String())
		}
	}
	if limit := <-application.limits; limit <= 0 || limit > time.Minute {
		t.Errorf("counts for %s", limit)
	}
}
