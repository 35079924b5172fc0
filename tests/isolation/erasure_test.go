package isolation

import (
	"context"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
)

func TestErasingOneSubjectTouchesNobodyElse(t *testing.T) {
	seen := &tally{features: map[string]int{}}
	onEach(t, func(t *testing.T, e engine) {
		rapid.Check(t, func(t *rapid.T) {
			w := newWorld(t, e, seen)
			erased := uniform(t, "erased", len(w.subjects))
			subject := w.subjects[erased]
			for _, name := range slices.Concat(w.resolvers, w.refs()) {
				if oneIn(t, "ref", 2) {
					subject.Refs = append(subject.Refs, domain.SubjectRef{Kind: name, Value: "ref"})
				}
			}

			before := w.dump()
			rehearsal := w.rehearse(subject)
			first := w.eraseAsRehearsed(subject, rehearsal)
			after := w.dump()
			w.checkRows(erased, before, after)
			keys := w.wanted(erased, before, true)
			w.checkResult(subject, first, w.counts(erased, false), keys)
			w.checkOutbox(subject, keys)

			second := w.erase(subject)
			w.checkRows(erased, after, w.dump())
			if len(second.Cascaded) > 0 {
				t.Errorf("the repetition changes further rows: %v", second.Cascaded)
			}
			left := w.wanted(erased, after, true)
			w.checkResult(subject, second, w.counts(erased, true), left)
			w.checkOutbox(subject, left)

			w.checkTrail(subject, outcome{first, keys}, outcome{second, left})
			for i, other := range w.subjects {
				if trail := w.trail(other.ID); i != erased && len(trail) > 0 {
					t.Errorf("the trail of subject %d has %d events", i, len(trail))
				}
			}
		})
	})
	seen.report(t)
}

func (w *world) rehearse(subject domain.Subject) datamap.Rehearsal {
	rehearsal, err := w.eraser.Rehearse(w.Context(), w.store, subject)
	must(w.T, err)
	if rehearsal.Refused != nil {
		w.Fatalf("refused: %+v", *rehearsal.Refused)
	}
	return rehearsal
}

// eraseAsRehearsed erases the subject. It checks that the numbers of rows equal the numbers in the rehearsal (an
// erasure that was rolled back).
func (w *world) eraseAsRehearsed(subject domain.Subject, rehearsal datamap.Rehearsal) (result domain.ErasureResult) {
	w.do(func(ctx context.Context, s ports.Session) (err error) {
		result, err = w.eraser.EraseAsRehearsed(ctx, s, subject, rehearsal.Fingerprint)
		return err
	})
	counts := map[domain.Strategy]map[string]int64{
		domain.StrategyDelete: result.Deleted, domain.StrategyAnonymize: result.Anonymized,
		domain.StrategyRetain: result.Retained,
	}
	for _, step := range rehearsal.Steps { // each table has only one step with a strategy
		if got := counts[step.Strategy][step.Target]; got != step.Rows {
			w.Errorf("rehearsed %s of %s: %d rows, erased %d", step.Strategy, step.Target, step.Rows, got)
		}
	}
	return result
}

func (w *world) erase(subject domain.Subject) (result domain.ErasureResult) {
	w.do(func(ctx context.Context, s ports.Session) (err error) {
		result, err = w.eraser.Erase(ctx, s, subject)
		return err
	})
	return result
}

// counts returns the expected numbers of rows in the result of an erasure. If repeated is true, an earlier erasure of
// the subject has already deleted rows.
func (w *world) counts(erased int, repeated bool) domain.ErasureResult {
	result := domain.ErasureResult{
		Deleted: map[string]int64{}, Anonymized: map[string]int64{}, Retained: map[string]int64{},
	}
	for _, table := range w.mapped() {
		name, rows := w.qualifier+table.name, table.rowsOf(erased)
		switch table.effect() {
		case deleted:
			if repeated {
				rows = 0
			}
			result.Deleted[name] = rows
		case survives:
			anonymized, retained := w.countCells(table, erased)
			if len(table.anonymized()) > 0 || anonymized > 0 {
				result.Anonymized[name] = anonymized
			}
			if len(table.retained()) > 0 {
				result.Retained[name] = retained
			}
		case untouched:
		}
	}
	return result
}

func (w *world) checkResult(subject domain.Subject, got, want domain.ErasureResult, keys map[string][]string) {
	if got.SubjectID != subject.ID || !maps.Equal(got.Deleted, want.Deleted) ||
		!maps.Equal(got.Anonymized, want.Anonymized) || !maps.Equal(got.Retained, want.Retained) {
		w.Errorf("the result is %+v, by the books %+v", got, want)
	}
	called, _ := w.called(subject)
	holders := slices.DeleteFunc(w.declared.Refs(), func(name string) bool { return len(keys[name]) == 0 })
	if want := slices.Concat(called, holders); !slices.Equal(got.EnqueuedExternal, want) {
		w.Errorf("enqueued for %q, not %q", got.EnqueuedExternal, want)
	}
}

// called returns two lists: the external systems in which the subject has an id (a ref), and those in which it has
// none.
func (w *world) called(subject domain.Subject) (called, skipped []string) {
	for _, name := range slices.Concat(w.resolvers, w.refs()) {
		if slices.ContainsFunc(subject.Refs, func(ref domain.SubjectRef) bool { return ref.Kind == name }) {
			called = append(called, name)
		} else {
			skipped = append(skipped, name)
		}
	}
	return called, skipped
}

// checkOutbox checks that the outbox has exactly these entries: one for each external system with an id of the subject,
// and one for each external system whose keys (such as file names) are in rows of the subject.
func (w *world) checkOutbox(subject domain.Subject, keys map[string][]string) {
	called, _ := w.called(subject)
	enqueued, entries := w.enqueued(subject)
	if want := len(called) + len(keys); entries != want {
		w.Errorf("the outbox has %d entries, not %d", entries, want)
	}
	for _, system := range keySystems {
		if got := slices.Sorted(slices.Values(enqueued[system])); !slices.Equal(got, keys[system]) {
			w.Errorf("enqueued for %s are %q, not %q", system, got, keys[system])
		}
	}
}
