package export

import (
	"context"
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/internal/resolvers"
	"github.com/habeas-data/habeas/internal/detach"
	"github.com/habeas-data/habeas/ports"
)

// answer is the result of one call. Its outcome is domain.OutcomeOK unless the call failed, panicked or took too long,
// or one of its records is not valid.
type answer struct {
	index    int
	records  []domain.ExportRecord
	outcome  domain.Outcome
	observed ports.Ending
}

// end ends the call, which is over for the exporter.
func (a answer) end() { a.observed.End(domain.Ended{Outcome: a.outcome}) }

// ask makes all calls at once, each under its own deadline, and returns their records in the order of the calls and
// the names of the systems that did not answer, each once. It never waits longer than the deadline, even for a
// system that ignores it: that one is left behind with a context that uses nothing of ctx any more.
func (e *Exporter) ask(
	ctx context.Context, calls []resolvers.Call,
) (records []domain.ExportRecord, incomplete []string) {
	incomplete = []string{}
	if len(calls) == 0 {
		return nil, incomplete
	}
	ctx, release := detach.New(ctx)
	defer release()
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	incoming := make(chan answer, len(calls)) // with room for all, so that a late one blocks nobody
	answers := make([]answer, len(calls))
	for i, call := range calls {
		calling, observed := ports.Begin(ctx, e.observer, domain.Activity{
			Kind: domain.ActivityCall, System: call.Ref.Kind, Call: domain.CallExport,
		})
		answers[i] = answer{index: i, observed: observed}
		go func() {
			a := answer{index: i, outcome: domain.OutcomePanic, observed: observed} // unless it returns
			defer func() {
				_ = recover()
				incoming <- a
			}()
			a.records, a.outcome = collect(calling, call)
		}()
	}

	for range calls {
		select {
		case a := <-incoming:
			answers[a.index] = a
			a.end()
		case <-ctx.Done():
			select {
			case a := <-incoming: // it came in time, together with the deadline
				answers[a.index] = a
				a.end()
			default:
			}
		}
	}

	for i, call := range calls {
		a := answers[i]
		if a.outcome == "" {
			a.outcome = domain.OutcomeOf(ctx.Err())
			a.end()
		}
		if a.outcome == domain.OutcomeOK {
			records = append(records, a.records...)
		} else {
			incomplete = append(incomplete, call.Ref.Kind)
		}
	}
	return records, slices.Compact(incomplete)
}

// collect makes a call and returns copies of its records.
func collect(ctx context.Context, call resolvers.Call) ([]domain.ExportRecord, domain.Outcome) {
	got, err := export(ctx, call)
	if err != nil {
		return nil, domain.OutcomeOf(err)
	}
	records, ok := adopt(call.Ref.Kind, got)
	if !ok {
		return nil, domain.Outcome(domain.ErrInvalid)
	}
	return records, domain.OutcomeOK
}

// adopt returns copies of a system's records, which share no memory with the system: it may change its own records at
// any time. One record that is not valid makes all of them useless, because a part could be mistaken for the whole.
func adopt(source string, records []domain.ExportRecord) (adopted []domain.ExportRecord, ok bool) {
	adopted = slices.Clone(records)
	for i := range adopted {
		record := &adopted[i]
		record.Source = source
		record.LegalBasis = copied(record.LegalBasis)
		record.Purpose = copied(record.Purpose)
		record.RetentionReason = copied(record.RetentionReason)
		record.ExpiresAt = copied(record.ExpiresAt)
		if record.ExpiresAt != nil {
			*record.ExpiresAt = wholeZone(*record.ExpiresAt)
		}
		switch value := record.Value.(type) {
		case []byte:
			record.Value = slices.Clone(value)
		case time.Time:
			record.Value = wholeZone(value)
		}
		if !record.Valid() {
			return nil, false
		}
	}
	return adopted, true
}

func copied[T any](pointer *T) *T {
	if pointer == nil {
		return nil
	}
	value := *pointer
	return &value
}

// wholeZone returns t in a zone that RFC 3339 can write. It returns t in UTC if the offset has seconds: RFC 3339 would
// cut them off and so change the instant.
func wholeZone(t time.Time) time.Time {
	if _, offset := t.Zone(); offset%60 != 0 {
		return t.UTC()
	}
	return t
}
