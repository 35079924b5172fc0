package porttest

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/domain/request"
	"github.com/habeas-data/habeas/domain/search"
	"github.com/habeas-data/habeas/ports"
)

// The subjects of each data map in the cases of TestMaps. The second one is erased before the case begins. The third
// one has no rows.
const (
	present = "1"
	gone    = "2"
	absent  = "3"
)

// soughtInMaps is a value that only the tables of habeas hold.
const soughtInMaps = "zoe@example.org"

// fill writes the same content into each data map: rows, records, outbox entries of all statuses, events, a mark and a
// position. Equal things have equal ids in all data maps.
func (s side) fill(t testing.TB) {
	t.Helper()
	people, documents := s.dataMap.Tables()[0].Name, s.dataMap.Tables()[1]
	for id := range int64(2) {
		s.Insert(t, people, Row{"id": id + 1, "email": "a@example.org", "phone": "1"})
		s.Insert(t, documents.Name, Row{
			"id": id + 1, documents.Columns[1].Name: id + 1, "address": "a street", "issued_at": issued,
		})
	}
	id := subjectOf(t, present)
	reason := restrict(id, nil, 0)
	reason.Reason = pointer("wrote from <" + soughtInMaps + ">")
	do(t, s.Store, func(ctx context.Context, session ports.Session) error {
		return errors.Join(session.Consents().Append(ctx, grant(id, "news", 0)), session.Restrictions().Append(ctx, reason),
			session.Audit().Append(ctx, event("event-1", id)), fillRegister(ctx, session.Register(), id),
			session.Outbox().Enqueue(ctx, toErase(t, "lost", id, 0), toErase(t, "dropped", id, tick)),
			session.Outbox().Enqueue(ctx, toErase(t, "done", id, tick)))
	})
	s.settle(t, map[string]domain.OutboxStatus{
		"lost": domain.OutboxAbandoned, "dropped": domain.OutboxAbandoned, "done": domain.OutboxSucceeded,
	})
	do(t, s.Store, func(ctx context.Context, session ports.Session) error {
		return session.Outbox().Enqueue(ctx, toErase(t, "new", id, tick), toRectify(t, "change", id, 2*tick))
	})
	s.erase(t, gone)
	do(t, s.Store, func(ctx context.Context, session ports.Session) error {
		return errOf(session.Erased().Advance(ctx, "job", 0, 1))
	})
}

func fillRegister(ctx context.Context, r ports.Register, id domain.SubjectID) error {
	return errors.Join(addAll(ctx, r, asks(1, id), asks(2, id, inState(request.Refused, 0))),
		r.Holds.Add(ctx, holdOf("1", id)))
}

// settle claims all entries that are due, and gives each the status by its id. It returns the ids of the claimed
// entries.
func (s side) settle(t testing.TB, statuses map[string]domain.OutboxStatus) (claimed []string) {
	t.Helper()
	entries := read(t, s.Store, func(ctx context.Context, session ports.Session) ([]domain.OutboxEntry, error) {
		return session.Outbox().Claim(ctx, query(noon, upTo(10)...))
	})
	do(t, s.Store, func(ctx context.Context, session ports.Session) error {
		var settlements []domain.Settlement
		for _, entry := range entries {
			claimed = append(claimed, entry.EntryID)
			settlements = append(settlements, domain.Settlement{Entry: entry, Status: statuses[entry.EntryID]})
		}
		return errOf(session.Outbox().Settle(ctx, settlements))
	})
	slices.Sort(claimed)
	return claimed
}

// erase erases a subject as a service does: it locks the subject and applies the plan.
func (s side) erase(t testing.TB, id string) []int64 {
	t.Helper()
	return read(t, s.Store, func(ctx context.Context, session ports.Session) ([]int64, error) {
		if _, err := session.Subjects().Lock(ctx, subjectOf(t, id), erasedAt); err != nil {
			return nil, err
		}
		return rowsOf(session.Subjects().Apply(ctx, subjectOf(t, id), plan.LocalAt(s.plan, erasedAt)))
	})
}

// state returns everything that can be read from a data map: the results of all methods that read, and the rows.
func (s side) state(t testing.TB) map[string]any {
	t.Helper()
	id := subjectOf(t, present)
	state := map[string]any{}
	for _, table := range s.dataMap.Tables() {
		state["rows of "+table.Name] = s.Rows(t, table.Name)
	}
	for what, fn := range map[string]func(context.Context, ports.Session) (any, error){
		"history of consents": func(ctx context.Context, s ports.Session) (any, error) {
			return s.Consents().History(ctx, id, "news")
		},
		"latest consent": func(ctx context.Context, s ports.Session) (any, error) {
			return s.Consents().Latest(ctx, id, "news", nil)
		},
		"consents in force": func(ctx context.Context, s ports.Session) (any, error) { return s.Consents().InForce(ctx, id) },
		"restrictions": func(ctx context.Context, s ports.Session) (any, error) {
			return s.Restrictions().History(ctx, id, nil)
		},
		"latest restriction": func(ctx context.Context, s ports.Session) (any, error) {
			global, _, err := s.Restrictions().Latest(ctx, id, nil)
			return global, err
		},
		"export": func(ctx context.Context, s ports.Session) (any, error) {
			var records []domain.ExportRecord
			err := s.Subjects().Export(ctx, id, func(r domain.ExportRecord) error {
				records = append(records, r)
				return nil
			})
			return records, err
		},
		"subject": func(ctx context.Context, s ports.Session) (any, error) { return s.Subjects().LockToRectify(ctx, id) },
		"trail":   func(ctx context.Context, s ports.Session) (any, error) { return s.Audit().Trail(ctx, id) },
		"counts":  func(ctx context.Context, s ports.Session) (any, error) { return s.OutboxAdmin().Counts(ctx) },
		"abandoned entries": func(ctx context.Context, s ports.Session) (any, error) {
			return s.OutboxAdmin().Abandoned(ctx, nil, 10)
		},
		"backlog": func(ctx context.Context, s ports.Session) (any, error) { return s.OutboxAdmin().Backlog(ctx) },
		"first claims": func(ctx context.Context, s ports.Session) (any, error) {
			return s.Outbox().FirstClaims(ctx, []string{"lost", "dropped"})
		},
		"requests": func(ctx context.Context, s ports.Session) (any, error) {
			return contentsOf(ctx, s.Register(), id)
		},
		"installation": func(ctx context.Context, s ports.Session) (any, error) {
			return s.Installation().Read(ctx)
		},
		"duties": func(ctx context.Context, s ports.Session) (any, error) { return s.Installation().Duties().Read(ctx) },
		"marks":  func(ctx context.Context, session ports.Session) (any, error) { return s.marks(ctx, session) },
	} {
		state[what] = read(t, s.Store, fn)
	}
	state["found"] = s.occurrences(t)
	return state
}

// marks returns the marks, the marks of all subjects of the cases, the position of the reader, and the subjects with
// cells to sweep.
func (s side) marks(ctx context.Context, session ports.Session) (all [4]any, err error) {
	erased := session.Erased()
	listed, err := erased.Marks(ctx, everyMark)
	if err != nil {
		return all, err
	}
	var ids []domain.SubjectID
	for _, text := range []string{present, gone, absent} {
		id, err := domain.NewSubjectID(text)
		if err != nil {
			return all, err
		}
		ids = append(ids, id)
	}
	found, err := erased.Find(ctx, ids)
	if err != nil {
		return all, err
	}
	slices.SortFunc(found, func(a, b domain.ErasureMark) int { return int(a.Intake - b.Intake) })
	position, err := erased.Position(ctx, "job")
	if err != nil {
		return all, err
	}
	due, err := erased.Due(ctx, listed, plan.SweepAt(s.plan, overAt))
	return [4]any{listed, found, position, due}, err
}

// occurrences returns the places in which Find finds soughtInMaps.
func (s side) occurrences(t testing.TB) []search.Occurrence {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), s.patience)
	defer cancel()
	found, err := finderOf(t, s.Store).Find(ctx, []string{soughtInMaps}, nil)
	must(t, err == nil && len(found.Gaps) == 0, "the search failed: %v, %v", err, found.Gaps)
	return found.Occurrences
}

// differing returns the names of the parts in which two states differ, sorted.
func differing(a, b map[string]any) (names []string) {
	for name := range a {
		if !reflect.DeepEqual(a[name], b[name]) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// sinceMorning is an instant after which no entry of a case is enqueued.
const sinceMorning = 24 * time.Hour
