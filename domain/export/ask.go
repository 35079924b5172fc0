package export

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/resolvers"
)

// answer is what one call came back with. A call that failed, panicked or took too long is not ok.
type answer struct {
	index   int
	records []domain.ExportRecord
	ok      bool
}

// ask makes all calls at once, each under its own deadline, and returns their records in the order of the calls and
// the names of the systems that did not answer, each once. It never waits longer than the deadline, even for a
// system that ignores it.
func (e *Exporter) ask(ctx context.Context, calls []resolvers.Call) (records []domain.ExportRecord, incomplete []string) {
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	incoming := make(chan answer, len(calls)) // with room for all, so that a late one blocks nobody
	for i, call := range calls {
		go func() {
			a := answer{index: i}
			defer func() {
				if recover() != nil {
					a = answer{index: i}
				}
				incoming <- a
			}()
			got, err := call.Resolver.ExportSubject(ctx, call.Ref)
			a.records, a.ok = got, err == nil && !slices.ContainsFunc(got, unsayable)
		}()
	}

	answers := make([]answer, len(calls))
	for range calls {
		select {
		case a := <-incoming:
			answers[a.index] = a
		case <-ctx.Done():
			select {
			case a := <-incoming: // it came in time, together with the deadline
				answers[a.index] = a
			default:
			}
		}
	}

	incomplete = []string{}
	for i, a := range answers {
		name := calls[i].Resolver.Name()
		if !a.ok {
			incomplete = append(incomplete, name)
			continue
		}
		for _, record := range a.records {
			record.Source = name
			records = append(records, record)
		}
	}
	return records, slices.Compact(incomplete)
}

// unsayable reports whether the value of a record is none that a bundle can hold; see domain.ExportRecord. One of them
// would make the whole bundle impossible to send.
func unsayable(record domain.ExportRecord) bool {
	switch value := record.Value.(type) {
	case nil, string, bool, []byte, domain.Number, domain.JSON,
		int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		return false
	case float64:
		return math.IsNaN(value) || math.IsInf(value, 0)
	case time.Time:
		return value.Year() < 0 || value.Year() > 9999 // which RFC 3339 cannot say
	default:
		return true
	}
}
