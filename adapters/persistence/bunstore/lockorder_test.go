package bunstore_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

type guest struct {
	bun.BaseModel `bun:"table:guests"`
	ID            int64     `bun:"id,pk" subject:"id"`
	Name          string    `bun:"name" pii:"identity,erasure:anonymize"`
	Address       string    `bun:"address" pii:"financial,erasure:retain,reason:'x',retain:1y,since:stayed_at"`
	StayedAt      time.Time `bun:"stayed_at"`
}

// newHotel returns an application on PostgreSQL. Each of the ids 1 to people has a consent and was erased. The people
// above firstWithoutRow have no row, so that the lives of their ids have ended.
func newHotel(t *testing.T, people, firstWithoutRow int) *application {
	t.Helper()
	a := newApplication(t, databases.PostgreSQL(t), nil, (*guest)(nil))
	all := "FROM generate_series(1, " + strconv.Itoa(people) + ") AS n"
	execute(t, a.db, "INSERT INTO guests (id, name, address, stayed_at) SELECT n, 'name', 'street', '2020-01-01' "+all+
		" WHERE n < "+strconv.Itoa(firstWithoutRow),
		"INSERT INTO habeas_consent_records (subject_id, purpose, policy_version, granted, recorded_at, source)"+
			" SELECT n, 'news', '1', TRUE, now(), 'api' "+all,
		"INSERT INTO habeas_subject_erasures (subject_id, erased_at, erasures) SELECT n, now(), 1 "+all)
	return a
}

type operation func(id domain.SubjectID) func(context.Context, ports.Session) error

// operations returns the operations that lock a subject. An operation whose records are sent reads them back.
func (a *application) operations() map[string]operation {
	return map[string]operation{
		"a consent": consenting,
		"a consent that is sent": func(id domain.SubjectID) func(context.Context, ports.Session) error {
			return inTurn(consenting(id), func(ctx context.Context, s ports.Session) error {
				return errOf(s.Consents().InForce(ctx, id))
			})
		},
		"a restriction": restricting,
		"an erasure": func(id domain.SubjectID) func(context.Context, ports.Session) error {
			return func(ctx context.Context, s ports.Session) error {
				return errors.Join(errOf(s.Subjects().Lock(ctx, id, noon)),
					errOf(s.Subjects().Apply(ctx, id, plan.LocalAt(a.plan, noon))))
			}
		},
		"a sweep": func(id domain.SubjectID) func(context.Context, ports.Session) error {
			return func(ctx context.Context, s ports.Session) error {
				return errOf(s.Erased().Sweep(ctx, id, plan.SweepAt(a.plan, noon)))
			}
		},
		"a correction": func(id domain.SubjectID) func(context.Context, ports.Session) error {
			return inTurn(locking(id), changing(id))
		},
		"a registration": registering,
	}
}

func consenting(id domain.SubjectID) func(context.Context, ports.Session) error {
	record := domain.ConsentRecord{ // a withdrawal, which no life refuses
		SubjectID: id, Purpose: "news", PolicyVersion: "v", Source: "test", RecordedAt: noon,
	}
	return func(ctx context.Context, s ports.Session) error { return s.Consents().Append(ctx, record) }
}

func restricting(id domain.SubjectID) func(context.Context, ports.Session) error {
	record := domain.RestrictionRecord{SubjectID: id, Restricted: true, Source: "test", RecordedAt: noon}
	return func(ctx context.Context, s ports.Session) error { return s.Restrictions().Append(ctx, record) }
}

func locking(id domain.SubjectID) func(context.Context, ports.Session) error {
	return func(ctx context.Context, s ports.Session) error { return errOf(s.Subjects().LockToRectify(ctx, id)) }
}

func changing(id domain.SubjectID) func(context.Context, ports.Session) error {
	return func(ctx context.Context, s ports.Session) error {
		return errOf(s.Subjects().Rectify(ctx, id, domain.RectificationStep{
			Table: "guests", Values: []domain.ColumnValue{{Column: "name", Value: "right"}},
		}))
	}
}

func registering(id domain.SubjectID) func(context.Context, ports.Session) error {
	return func(ctx context.Context, s ports.Session) error { return s.Subjects().Register(ctx, id, noon) }
}

// inTurn calls the functions with the same session.
func inTurn(steps ...func(context.Context, ports.Session) error) func(context.Context, ports.Session) error {
	return func(ctx context.Context, s ports.Session) error {
		for _, step := range steps {
			if err := step(ctx, s); err != nil {
				return err
			}
		}
		return nil
	}
}

// A transaction of the application calls two operations of a subject, while a session of each operation waits in
// another process. A deadlock would make the transaction fail, or a session start again. If the life of the id has
// ended, a record also changes the mark, and only some operations are possible.
func TestOperationsOfOneSubjectLockInTheSameOrder(t *testing.T) {
	t.Parallel()
	const people, rows = 100, 50
	a := newHotel(t, people, rows)
	processes := map[string]*application{}
	for name := range a.operations() {
		processes[name] = existingApplication(t, a.db, nil, (*guest)(nil))
	}
	all := slices.Sorted(maps.Keys(processes))
	withRow, withoutRow := 1, rows
	for _, first := range all {
		for _, then := range all {
			a.overlapAll(t, processes, withRow, first, then, all)
			withRow++
			ended := []string{"a consent", "a consent that is sent", "a restriction", "an erasure"}
			if slices.Contains(ended, first) && slices.Contains(ended, then) {
				a.overlapAll(t, processes, withoutRow, first, then, ended)
				withoutRow++
			}
		}
	}
}

// overlapAll calls two operations of a subject in a transaction of the application. Between them, a session of each of
// the other operations begins, and waits for the transaction.
func (a *application) overlapAll(
	t *testing.T, processes map[string]*application, id int, first, then string, others []string,
) {
	t.Helper()
	subject := subjectID(t, strconv.Itoa(id))
	tx, err := a.db.BeginTx(t.Context(), nil)
	must(t, err)
	defer func() { _ = tx.Rollback() }()
	joined, err := a.store.Join(tx)
	must(t, err)
	must(t, joined.Do(t.Context(), a.operations()[first](subject)))
	ended := make(chan error, len(others))
	for _, other := range others {
		go func() {
			attempts := 0
			err := processes[other].store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
				attempts++
				return a.operations()[other](subject)(ctx, s)
			})
			if attempts != 1 {
				err = errors.Join(err, fmt.Errorf("%d attempts", attempts))
			}
			if err != nil {
				err = fmt.Errorf("%s and %s beside %s: %w", first, then, other, err)
			}
			ended <- err
		}()
	}
	for waiting := 0; waiting < len(others); {
		must(t, a.db.QueryRowContext(t.Context(), "SELECT count(*) FROM pg_stat_activity"+
			" WHERE wait_event_type = 'Lock' AND datname = current_database()").Scan(&waiting))
		if len(ended) > 0 {
			t.Fatalf("a session does not wait for %s: %v", first, <-ended)
		}
	}
	must(t, joined.Do(t.Context(), a.operations()[then](subject)))
	must(t, tx.Commit())
	for range others {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// A session with unsent records of one subject that locks another one, or that has records of several subjects, waits
// for the subject with the lower id first, and holds no lock of the other one meanwhile.
func TestSeveralSubjectsAreLockedInTheOrderOfTheirIDs(t *testing.T) {
	t.Parallel()
	low, high := subjectID(t, "1"), subjectID(t, "2")
	a := newHotel(t, 2, 3)
	sessions := map[string]func(context.Context, ports.Session) error{
		"consents of both":            inTurn(consenting(high), consenting(low)),
		"a consent and a restriction": inTurn(consenting(high), restricting(low)),
		"a restriction and a consent": inTurn(restricting(high), consenting(low)),
		"consents and a restriction":  inTurn(consenting(low), restricting(high), consenting(high)),
		"a consent and a change":      inTurn(consenting(low), changing(high)),
	}
	for _, name := range []string{"a consent that is sent", "an erasure", "a sweep", "a correction", "a registration"} {
		sessions["a consent and "+name] = inTurn(consenting(low), a.operations()[name](high))
	}
	process := existingApplication(t, a.db, nil, (*guest)(nil)).store
	for name, session := range sessions {
		attempts := 0
		waited := a.overlap(t, consenting(low), func(ctx context.Context, s ports.Session) error {
			attempts++
			return session(ctx, s)
		}, func(context.Context, ports.Session) error {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			return process.Do(ctx, consenting(high))
		})
		if !waited || attempts != 1 {
			t.Errorf("%s: waited: %v, attempts: %d", name, waited, attempts)
		}
	}
}
