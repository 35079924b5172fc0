package bunstore_test

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/request"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

// registered is a store of visitors. The visitor 1 has an open request with all members, another one, a closed one and
// a hold.
type registered struct {
	*bunstore.Store

	hook *statements
	id   domain.SubjectID
}

func newRegistered(t *testing.T, db *bun.DB, options bunstore.Options) registered {
	t.Helper()
	newApplication(t, db, nil, (*visitor)(nil))
	hook := &statements{}
	observed := databases.WithHook(db, hook)
	r := registered{storeOf(t, observed, mapOf(t, db, []any{(*visitor)(nil)}), options), hook, subjectID(t, "1")}
	at := noon.Add(123456 * time.Microsecond)
	full := request.Request{
		Number: "N1", SubjectID: r.id, Kind: request.Objection, Purpose: `"p" \ ü`, State: request.Awaiting,
		StateReason: "identity", Channel: request.Operator, Language: "de", Reference: "R/1", RefersTo: "N0", ReceivedAt: at,
		EnteredAt: at.Add(time.Hour), DueOn: "2024-04-01", DueAt: at, StrictDueOn: "2024-04-02", SuspendedAt: at,
		SuspendedDays: 3, LapsesAt: at, Asked: []request.Reason{request.Identity, request.Clarification}, ExtendedAt: at,
		ExtensionReason: request.Complex, ExecuteAfter: at, VerifiedBy: request.Link, DecidedBy: "dpo",
		RefusalGround: request.Excessive, DoneByHand: request.Corrected, Partly: true, Attempts: 4, NextAttemptAt: at,
		LastError: "timeout", ClosedAt: at, Version: 5,
	}
	erasure := request.Request{
		Number: "N2", SubjectID: r.id, Kind: request.Erasure, State: request.OnHold, Channel: request.SelfService,
		ReceivedAt: at, EnteredAt: at, Version: 1,
	}
	r.do(t, func(ctx context.Context, s ports.Session) error {
		must(t, errOf2(s.Register().Requests.Add(ctx, full)))
		must(t, errOf2(s.Register().Requests.Add(ctx, erasure)))
		must(t, s.Register().Requests.Append(ctx, r.exported("N3")))
		return s.Register().Holds.Add(ctx, request.Hold{ID: "h", SubjectID: r.id, Ground: request.LegalClaims, ReviewAt: at})
	})
	return r
}

func errOf2(_ request.Request, _ bool, err error) error { return err }

func (r registered) do(t *testing.T, fn func(context.Context, ports.Session) error) {
	t.Helper()
	must(t, r.Do(t.Context(), fn))
}

// exported is the request of an export.
func (r registered) exported(number request.Number) request.Request {
	return request.Request{
		Number: number, SubjectID: r.id, Kind: request.Access, State: request.Fulfilled, Channel: request.SelfService,
		ReceivedAt: noon, EnteredAt: noon, ClosedAt: noon, Version: 1,
	}
}

func (r registered) export(ctx context.Context, t *testing.T, s ports.Session) {
	t.Helper()
	must(t, s.Subjects().Export(ctx, r.id, func(domain.ExportRecord) error { return nil }))
}

func (r registered) standing(ctx context.Context, t *testing.T, s ports.Session) request.Standing {
	t.Helper()
	standing, err := s.Register().Requests.Standing(ctx, r.id, time.Time{})
	must(t, err)
	standing.Entered = 0 // an export does not count
	return standing
}

func TestAnExportReadsTheStandingOfThePerson(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		r := newRegistered(t, db, bunstore.Options{Register: true})
		var want, got, later request.Standing
		r.do(t, func(ctx context.Context, s ports.Session) error {
			want = r.standing(ctx, t, s)
			r.export(ctx, t, s) // the first export reads the schema
			return nil
		})
		if len(want.Open) != 2 || !want.Held {
			t.Fatalf("%+v", want)
		}
		texts := r.hook.during(t, func() {
			r.do(t, func(ctx context.Context, s ports.Session) error {
				r.export(ctx, t, s)
				got = r.standing(ctx, t, s)
				must(t, s.Audit().Append(ctx, domain.AuditEvent{EventID: "e", SubjectRef: r.id, OccurredAt: noon}))
				return s.Register().Requests.Append(ctx, r.exported("N4"))
			})
		})
		if !reflect.DeepEqual(got, want) {
			t.Errorf("with the export:\n%+v\nwithout:\n%+v", got, want)
		}
		if db.Dialect().Name() == dialect.PG && len(texts) != 2 {
			t.Errorf("the export and its record take %d statements", len(texts))
		}
		r.do(t, func(ctx context.Context, s ports.Session) error { // what the session changes is seen
			r.export(ctx, t, s)
			lifted := request.Hold{ID: "h", SubjectID: r.id, LiftedAt: noon}
			must(t, s.Register().Holds.Update(ctx, lifted))
			later = r.standing(ctx, t, s)
			return nil
		})
		if later.Held || len(later.Open) != 2 {
			t.Errorf("after the end of the hold: %+v", later)
		}
	})
}

func TestTheStandingIsReadFromThePrimary(t *testing.T) {
	t.Parallel()
	db := databases.PostgreSQL(t)
	r := newRegistered(t, db, bunstore.Options{Register: true, ReadDB: db})
	texts := r.hook.during(t, func() {
		r.do(t, func(ctx context.Context, s ports.Session) error {
			r.export(ctx, t, s)
			r.standing(ctx, t, s)
			return nil
		})
	})
	if !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, "s.entered") }) {
		t.Error("the standing was read from the replica")
	}
}

func TestAnExportDoesNotReadTheRegisterWithoutTheOption(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		r := newRegistered(t, db, bunstore.Options{})
		for _, text := range r.hook.during(t, func() {
			r.do(t, func(ctx context.Context, s ports.Session) error {
				r.export(ctx, t, s)
				return nil
			})
		}) {
			if strings.Contains(text, "FROM habeas_requests") {
				t.Errorf("sent %s", text)
			}
		}
	})
}
