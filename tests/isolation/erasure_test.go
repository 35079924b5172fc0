package isolation

import (
	"context"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

func TestErasingOneSubjectTouchesNobodyElse(t *testing.T) {
	seen := &tally{features: map[string]int{}}
	onEach(t, func(t *testing.T, e engine) {
		rapid.Check(t, func(t *rapid.T) {
			w := newWorld(t, e, seen)
			erased := even(t, "erased", len(w.subjects))
			subject := w.subjects[erased]
			for _, name := range w.resolvers {
				if oneIn(t, "ref", 2) {
					subject.Refs = append(subject.Refs, domain.SubjectRef{Kind: name, Value: "ref"})
				}
			}

			before := w.dump()
			rehearsal := w.rehearse(subject)
			first := w.eraseAsRehearsed(subject, rehearsal)
			after := w.dump()
			w.checkRows(erased, before, after)
			w.checkResult(subject, first, w.counts(erased, false))

			second := w.erase(subject)
			w.checkRows(erased, after, w.dump())
			w.checkResult(subject, second, w.counts(erased, true))

			w.checkTrail(subject, first, second)
			for i, other := range w.subjects {
				if trail := w.trail(other.ID); i != erased && len(trail) > 0 {
					t.Errorf("the trail of subject %d has %d events", i, len(trail))
				}
			}
			w.checkOutbox(subject)
		})
	})
	seen.report(t)
}

func (w *world) rehearse(subject domain.Subject) domain.Rehearsal {
	rehearsal, err := w.eraser.Rehearse(w.Context(), w.store, subject)
	must(w.T, err)
	if rehearsal.Refused != nil {
		w.Fatalf("refused: %+v", *rehearsal.Refused)
	}
	return rehearsal
}

// eraseAsRehearsed erases the subject, which must come to the counts of the rehearsal.
func (w *world) eraseAsRehearsed(subject domain.Subject, rehearsal domain.Rehearsal) (result domain.ErasureResult) {
	w.do(func(ctx context.Context, s ports.Session) (err error) {
		result, err = w.eraser.EraseAsRehearsed(ctx, s, subject, rehearsal.Fingerprint)
		return err
	})
	counts := map[domain.Strategy]map[string]int64{
		domain.StrategyDelete: result.Deleted, domain.StrategyAnonymize: result.Anonymized,
		domain.StrategyRetain: result.Retained,
	}
	for _, step := range rehearsal.Steps { // of tables with one path each
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

// counts is the result by the books; when the erasure is repeated, nothing is left to delete.
func (w *world) counts(erased int, repeated bool) domain.ErasureResult {
	result := domain.ErasureResult{
		Deleted: map[string]int64{}, Anonymized: map[string]int64{}, Retained: map[string]int64{},
	}
	for _, table := range w.mapped() {
		name, rows := w.qualifier+table.name, table.rowsOf(erased)
		switch table.fate() {
		case deleted:
			if repeated {
				rows = 0
			}
			result.Deleted[name] = rows
		case survives:
			anonymized, retained := w.judge(table, erased)
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

func (w *world) checkResult(subject domain.Subject, got, want domain.ErasureResult) {
	if got.SubjectID != subject.ID || !maps.Equal(got.Deleted, want.Deleted) ||
		!maps.Equal(got.Anonymized, want.Anonymized) || !maps.Equal(got.Retained, want.Retained) {
		w.Errorf("the result is %+v, by the books %+v", got, want)
	}
	if called, _ := w.called(subject); !slices.Equal(got.EnqueuedExternal, called) {
		w.Errorf("enqueued for %q, not %q", got.EnqueuedExternal, called)
	}
}

// called and skipped are the external systems for which the subject has a ref, and the others.
func (w *world) called(subject domain.Subject) (called, skipped []string) {
	for _, name := range w.resolvers {
		if slices.ContainsFunc(subject.Refs, func(ref domain.SubjectRef) bool { return ref.Kind == name }) {
			called = append(called, name)
		} else {
			skipped = append(skipped, name)
		}
	}
	return called, skipped
}

// checkOutbox looks for the entries of two erasures and no others.
func (w *world) checkOutbox(subject domain.Subject) {
	called, _ := w.called(subject)
	var all, own int
	must(w.T, w.db.DB.QueryRowContext(w.Context(),
		"SELECT count(*), count(CASE WHEN subject_id = $1 THEN 1 END) FROM habeas_outbox",
		subject.ID.String()).Scan(&all, &own))
	if all != own || own != 2*len(called) {
		w.Errorf("the outbox has %d entries, %d of the subject, not %d", all, own, 2*len(called))
	}
}
