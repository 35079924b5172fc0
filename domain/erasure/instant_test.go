package erasure_test

import (
	"context"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/internal/system"
	"github.com/habeas-data/habeas/ports"
)

// shifted is a clock that is wrong.
type shifted time.Duration

func (s shifted) Now() time.Time { return system.Clock{}.Now().Add(time.Duration(s)) }

// The surrogate of a UUID looks like another UUID. A sweep therefore skips a UUID whose duty ended before the instant
// in the mark, so the erasure must have overwritten it, whatever clock its process has.
func TestTheDutiesOfAnErasureEndByTheInstantOfItsMark(t *testing.T) {
	table := datamap.Table{
		Name: "contracts", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"}, Columns: []datamap.Column{
			{Name: "id", Type: datamap.TypeBigInt},
			{Name: "document", Type: datamap.TypeUUID, Personal: &datamap.Annotation{
				Category: domain.CategoryFinancial, Strategy: domain.StrategyRetain, Reason: "§147 AO",
				Retain: datamap.Period{Days: 10}, Since: "signed_at",
			}},
			{Name: "signed_at", Type: datamap.TypeTime},
		},
	}
	dataMap, err := datamap.NewDataMap(table)
	check(err)
	const document = "7d444840-9dc0-11d1-b245-5ffdce74fad2"
	for _, skew := range []time.Duration{5 * time.Hour, -5 * time.Hour} {
		for over, ended := range map[bool]time.Duration{true: 2 * time.Hour, false: -2 * time.Hour} {
			store, err := memory.New(dataMap, memory.Options{})
			check(err)
			check(store.Insert("contracts", memory.Row{
				"id": 1, "document": document, "signed_at": system.Clock{}.Now().UTC().AddDate(0, 0, -10).Add(-ended),
			}))
			eraser, err := erasure.NewEraser(erasure.Config{Clock: shifted(skew), IDs: &system.IDs{}, DataMap: dataMap})
			check(err)
			id, err := domain.NewSubjectID("1")
			check(err)
			check(store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
				_, err := eraser.Erase(ctx, s, domain.Subject{ID: id})
				return err
			}))
			rows, err := store.Rows("contracts")
			check(err)
			if erased := rows[0]["document"] != document; erased != over {
				t.Errorf("with a clock that is wrong by %v, and a duty that ended %v ago: erased %v", skew, ended, erased)
			}
		}
	}
}
