package export

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/internal/resolvers"
	"github.com/habeas-data/habeas/domain/observation"
	"github.com/habeas-data/habeas/internal/detach"
	"github.com/habeas-data/habeas/ports"
)

// response is the result of one call. The outcome is domain.OutcomeOK if the call succeeded and all its records are
// valid.
type response struct {
	index    int
	records  []domain.ExportRecord
	outcome  domain.Outcome
	observed ports.RunningActivity
}

// end reports the end of the call to the observer.
func (r response) end() { r.observed.End(observation.ActivityEnd{Outcome: r.outcome}) }

// callSystems makes all calls concurrently, with a common deadline. It returns the records of all calls, in the order
// of the calls, and the names of the systems that failed, without duplicates. It never waits longer than the deadline.
// If a system ignores the deadline, callSystems returns without the response of that system. The context of the call
// then no longer calls methods of ctx, because ctx may belong to a request that has ended.
func (e *Exporter) callSystems(
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
	incoming := make(chan response, len(calls)) // has room for all responses, so a late response blocks no goroutine
	responses := make([]response, len(calls))
	for i, call := range calls {
		calling, observed := ports.StartActivity(ctx, e.observer, observation.Activity{
			Kind: observation.ActivityCall, System: call.Ref.Kind, Call: observation.CallExport,
		})
		responses[i] = response{index: i, observed: observed}
		go func() {
			r := response{index: i, outcome: domain.OutcomePanic, observed: observed} // this response is sent if collect panics
			defer func() {
				_ = recover()
				incoming <- r
			}()
			r.records, r.outcome = e.collect(calling, call)
		}()
	}

	for range calls {
		select {
		case r := <-incoming:
			responses[r.index] = r
			r.end()
		case <-ctx.Done():
			select {
			case r := <-incoming: // the response arrived at the deadline
				responses[r.index] = r
				r.end()
			default:
			}
		}
	}

	for i, call := range calls {
		r := responses[i]
		if r.outcome == "" {
			r.outcome = domain.OutcomeOf(ctx.Err())
			r.end()
		}
		if r.outcome == domain.OutcomeOK {
			records = append(records, r.records...)
		} else {
			incomplete = append(incomplete, call.Ref.Kind)
		}
	}
	return records, slices.Compact(incomplete)
}

// collect makes a call if the limits of the system admit it, and returns copies of its records.
func (e *Exporter) collect(ctx context.Context, call resolvers.Call) ([]domain.ExportRecord, domain.Outcome) {
	if e.admit != nil {
		leave, ok := e.admit(ctx, call.Ref.Kind)
		if !ok {
			return nil, domain.OutcomeRetryLater
		}
		leave = sync.OnceFunc(leave)
		defer leave()
		defer context.AfterFunc(ctx, leave)() // a resolver that ignores its deadline must not keep the place
	}
	got, err := export(ctx, call)
	if err != nil {
		return nil, domain.OutcomeOf(err)
	}
	records, ok := checkedCopies(call.Ref.Kind, got)
	if !ok {
		return nil, domain.Outcome(domain.ErrInvalid)
	}
	return records, domain.OutcomeOK
}

// checkedCopies returns copies of a system's records. The copies share no memory with the system, because the system
// may change its own records at any time. If one record is invalid, checkedCopies rejects all records, because the
// subject could take partial records for complete ones.
func checkedCopies(source string, records []domain.ExportRecord) (adopted []domain.ExportRecord, ok bool) {
	adopted = slices.Clone(records)
	for i := range adopted {
		record := &adopted[i]
		record.Source = source
		record.LegalBasis = copied(record.LegalBasis)
		record.Purpose = copied(record.Purpose)
		record.RetentionReason = copied(record.RetentionReason)
		record.ExpiresAt = copied(record.ExpiresAt)
		if record.ExpiresAt != nil {
			*record.ExpiresAt = encodableZone(*record.ExpiresAt)
		}
		switch value := record.Value.(type) {
		case []byte:
			record.Value = slices.Clone(value)
		case time.Time:
			record.Value = encodableZone(value)
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

// encodableZone returns t in a time zone that RFC 3339 can represent. If the offset of the zone has seconds, it returns
// t in UTC, because RFC 3339 would drop the seconds and so change the instant.
func encodableZone(t time.Time) time.Time {
	if _, offset := t.Zone(); offset%60 != 0 {
		return t.UTC()
	}
	return t
}
