package schemas

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

// hooked is an application whose hooks record their calls.
type hooked struct {
	*application
	calls  []string
	before func(ctx context.Context, tx bun.IDB) error // if not nil, the last call of the hook before the operation
}

func openHooked(t testing.TB, db *bun.DB) *hooked {
	t.Helper()
	h := &hooked{}
	before := func(ctx context.Context, s ports.Session, subject domain.Subject) error {
		tx, err := bunstore.Tx(s)
		if err != nil {
			return err
		}
		n, err := tx.NewSelect().Table("notes").Where("writer_id = ?", subject.ID.String()).Count(ctx)
		if err != nil {
			return err
		}
		h.calls = append(h.calls, "before: "+strings.Repeat("n", int(n)))
		if _, err := tx.ExecContext(ctx, "INSERT INTO gone (id) VALUES (?)", 7); err != nil {
			return err
		}
		if h.before != nil {
			return h.before(ctx, tx)
		}
		return nil
	}
	after := func(ctx context.Context) error {
		n, err := db.NewSelect().Table("notes").Where("writer_id = 1").Where("text <> 'right'").Count(ctx)
		h.calls = append(h.calls, "after: "+strings.Repeat("n", int(n)))
		return err
	}
	h.application = open(t, db, app.Config{
		Models: []any{(*writer)(nil), (*note)(nil)},
		Options: stack.Options{Hooks: stack.Hooks{
			BeforeErasure: before, BeforeRectification: before,
			AfterErasure: func(ctx context.Context, _ domain.Subject, result domain.ErasureResult) error {
				if result.Deleted["notes"] != 3 || result.CompletedAt.IsZero() {
					t.Errorf("the hook after is told %+v", result)
				}
				return after(ctx)
			},
			AfterRectification: func(ctx context.Context, _ domain.Subject, result domain.RectificationResult) error {
				if result.Rectified["notes"] != 3 {
					t.Errorf("the hook after is told %+v", result)
				}
				return after(ctx)
			},
		}},
	}, writers("CREATE TABLE gone (id bigint PRIMARY KEY)")...)
	return h
}

// rights has the operations that call hooks: erasure and rectification.
var rights = map[string]struct {
	exercise func(a *application, ctx context.Context) error
	failed   domain.EventType
}{
	"erasure": {func(a *application, ctx context.Context) error {
		_, err := a.erase(ctx, "1")
		return err
	}, domain.EventErasureStepFailed},
	"rectification": {func(a *application, ctx context.Context) error {
		_, err := a.correct(ctx, "1", domain.Correction{Table: "notes", Column: "text", Value: "right"})
		return err
	}, domain.EventRectificationStepFailed},
}

func TestHooksAreCalledBeforeAndAfter(t *testing.T) {
	t.Parallel()
	for name, right := range rights {
		t.Run(name, func(t *testing.T) {
			databases.Each(t, func(t *testing.T, db *bun.DB) {
				h := openHooked(t, db)
				must(t, right.exercise(h.application, t.Context()))
				if want := []string{"before: nnn", "after: "}; !slices.Equal(h.calls, want) {
					t.Errorf("calls are %q, want %q", h.calls, want)
				}
				if h.text(t, "SELECT count(*) FROM gone") != "1" {
					t.Error("the statement of the hook is lost")
				}
			})
		})
	}
}

func TestAHookBeforeFailsItsOperation(t *testing.T) {
	t.Parallel()
	refusal := errors.New("zoe@example.org is not to be erased")
	for name, right := range rights {
		for how, c := range map[string]struct {
			before func(ctx context.Context, tx bun.IDB) error
			is     error
			class  string
		}{
			"an error": {func(context.Context, bun.IDB) error { return refusal }, refusal, "internal"},
			"an error of ours": {
				func(context.Context, bun.IDB) error { return domain.ErrConflict }, domain.ErrConflict, "conflict",
			},
			"a panic": {func(context.Context, bun.IDB) error { panic("zoe@example.org") }, nil, "panic"},
			"a statement that is refused": {func(ctx context.Context, tx bun.IDB) error {
				_, err := tx.NewRaw("INSERT INTO gone (id) VALUES (7)").Exec(ctx)
				return err
			}, nil, "internal"},
			"a statement whose error is swallowed": {func(ctx context.Context, tx bun.IDB) error {
				_, _ = tx.ExecContext(ctx, "INSERT INTO gone (id) VALUES (7)")
				return nil
			}, domain.ErrConflict, "conflict"},
			"a row whose error is swallowed": {func(ctx context.Context, tx bun.IDB) error {
				_ = tx.QueryRowContext(ctx, "SELECT * FROM nowhere").Err()
				return nil
			}, nil, "internal"},
			"a transaction inside": {func(ctx context.Context, tx bun.IDB) error {
				_, err := tx.BeginTx(ctx, nil)
				return errors.Join(err, tx.RunInTx(ctx, nil, nil))
			}, domain.ErrSession, "session"},
		} {
			t.Run(name+", "+how, func(t *testing.T) {
				databases.Each(t, func(t *testing.T, db *bun.DB) {
					h := openHooked(t, db)
					h.before = c.before
					err := right.exercise(h.application, t.Context())
					if err == nil || c.is != nil && !errors.Is(err, c.is) {
						t.Fatalf("got %v", err)
					}
					if len(h.calls) != 1 {
						t.Errorf("calls are %q", h.calls)
					}
					if n := h.text(t, "SELECT count(*) FROM notes WHERE writer_id = 1 AND text <> 'right'"); n != "3" {
						t.Errorf("%s notes are left", n)
					}
					if h.text(t, "SELECT count(*) FROM gone") != "0" {
						t.Error("the statement of the hook is not rolled back")
					}
					failures := h.failures(t, "1", right.failed)
					swallowed := strings.HasSuffix(how, "swallowed") // the hook ignores the error, but a later step fails
					if len(failures) != 1 || !swallowed && (failures[0]["target"] != "hook" || failures[0]["error"] != c.class) {
						t.Errorf("evidence %v", failures)
					}
				})
			})
		}
	}
}

// If the transaction of an operation is retried, the hook before the operation is called again. The hook after the
// operation is called only once, after the commit.
func TestHooksOfATransactionThatIsTriedAgain(t *testing.T) {
	t.Parallel()
	for name, right := range rights {
		t.Run(name, func(t *testing.T) {
			h := openHooked(t, onPostgres(t))
			h.before = func(ctx context.Context, tx bun.IDB) error {
				if len(h.calls) > 1 {
					return nil
				}
				_, err := tx.ExecContext(ctx, "DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'serialization_failure'; END $$")
				return err
			}
			must(t, right.exercise(h.application, t.Context()))
			if want := []string{"before: nnn", "before: nnn", "after: "}; !slices.Equal(h.calls, want) {
				t.Errorf("calls are %q, want %q", h.calls, want)
			}
			if h.text(t, "SELECT count(*) FROM gone") != "1" {
				t.Error("the statement of the hook was not repeated")
			}
		})
	}
}

func TestTheHookAfterIsCalledOnceTheApplicationHasCommitted(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		h := openHooked(t, db)
		subject := fixture.MustSubject(t, "1")
		for _, rollback := range []bool{true, false} {
			tx, err := db.BeginTx(t.Context(), nil)
			must(t, err)
			sessions, err := h.Join(tx)
			must(t, err)
			h.calls = nil
			must(t, sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
				_, err := h.Stack().Eraser.Erase(ctx, s, subject)
				return err
			}))
			if want := []string{"before: nnn"}; !slices.Equal(h.calls, want) {
				t.Errorf("before the commit, calls are %q, want %q", h.calls, want)
			}
			if rollback {
				must(t, tx.Rollback())
				continue
			}
			must(t, tx.Commit())
			for range 2 {
				sessions.Committed(t.Context())
			}
			if want := []string{"before: nnn", "after: "}; !slices.Equal(h.calls, want) {
				t.Errorf("after the commit, calls are %q, want %q", h.calls, want)
			}
		}
	})
}

func TestOnlyASessionOfTheStoreHasATransaction(t *testing.T) {
	t.Parallel()
	type wrapped struct{ ports.Session }
	a := open(t, databases.SQLite(t), app.Config{Models: shop}, shopTables()...)
	var ended ports.Session
	must(t, a.Stack().Sessions.Do(t.Context(), func(_ context.Context, s ports.Session) error {
		ended = s
		if _, err := bunstore.Tx(wrapped{s}); !errors.Is(err, domain.ErrConfiguration) {
			t.Errorf("got %v", err)
		}
		return nil
	}))
	if _, err := bunstore.Tx(ended); !errors.Is(err, domain.ErrSession) {
		t.Errorf("got %v", err)
	}
}
