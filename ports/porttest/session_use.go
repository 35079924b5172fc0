package porttest

import (
	"context"
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/domain/request"
	"github.com/habeas-data/habeas/ports"
)

func sessionFailsWithASwallowedError(t testing.TB, h StoreHarness) {
	store, id := h.openWithAddress(t)
	taken := event("taken-event", id)
	do(t, store, func(ctx context.Context, s ports.Session) error { return s.Audit().Append(ctx, taken) })
	err := store.Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		if err := writeToAllStores(ctx, s, id); err != nil {
			return err
		}
		_ = s.Audit().Append(ctx, taken)
		_, _ = s.Audit().Trail(ctx, id) // makes the store send the append, which fails
		_ = s.Consents().Append(ctx, grant(id, "news", 1))
		return nil
	})
	assert(t, errors.Is(err, domain.ErrConflict), "Do returned %v after a conflict that fn swallowed", err)
	expectRowCounts(t, store, id, countsBefore)
}

func sessionFailsWithAHeldBackAppend(t testing.TB, h StoreHarness) {
	store, id := h.openWithAddress(t)
	taken := event("taken-event", id)
	do(t, store, func(ctx context.Context, s ports.Session) error { return s.Audit().Append(ctx, taken) })
	for name, appends := range map[string]func(ctx context.Context, s ports.Session) error{
		"among other writes": func(ctx context.Context, s ports.Session) error {
			if err := s.Audit().Append(ctx, taken); err != nil {
				return err
			}
			return writeToAllStores(ctx, s, id)
		},
		"as the last thing": func(ctx context.Context, s ports.Session) error {
			if err := writeToAllStores(ctx, s, id); err != nil {
				return err
			}
			return s.Audit().Append(ctx, taken)
		},
		"and nothing else": func(ctx context.Context, s ports.Session) error { return s.Audit().Append(ctx, taken) },
	} {
		if err := store.Sessions.Do(t.Context(), appends); !errors.Is(err, domain.ErrConflict) {
			t.Errorf("Do returned %v for a conflict %s", err, name)
		}
	}
	expectRowCounts(t, store, id, countsBefore)
}

func sessionCannotBeNested(t testing.TB, h StoreHarness) {
	store := h.open(t)
	id := subject(t, "acme", 1)
	err := store.Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		nest := func(ctx context.Context) {
			err := store.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
				return s.Audit().Append(ctx, event("inner", id))
			})
			assert(t, errors.Is(err, domain.ErrSession), "a Do inside fn returned %v, which is not %v", err, domain.ErrSession)
		}
		derived, cancel := context.WithTimeout(ctx, h.patience())
		defer cancel()
		nest(ctx)
		nest(derived)
		return s.Audit().Append(ctx, event("outer", id))
	})
	var ids []string
	do(t, store, func(ctx context.Context, s ports.Session) (err error) {
		ids, err = trailOf(ctx, s, id)
		return err
	})
	committed := len(ids) == 1 && ids[0] == "outer"
	if rolledBack := len(ids) == 0; err == nil && !committed || err != nil && !rolledBack {
		t.Errorf("the outer session returned %v, and the trail is %v", err, ids)
	}
}

func sessionCannotBeUsedAfterItsEnd(t testing.TB, h StoreHarness) {
	store, id := h.openWithAddress(t)
	for ending, result := range map[string]error{"commit": nil, "rollback": errFailure} {
		var session, kept ports.Session
		err := store.Sessions.Do(t.Context(), func(_ context.Context, s ports.Session) error {
			session, kept = s, keptStores{
				s, s.Consents(), s.Restrictions(), s.Subjects(), s.Erased(),
				keptInstallation{s.Installation(), s.Installation().Duties()},
				s.Outbox(), s.OutboxAdmin(), s.Audit(), s.Register(),
			}
			return result
		})
		must(t, errors.Is(err, result), "the session returned %v, want %v", err, result)
		ctx, cancel := context.WithTimeout(t.Context(), h.patience())
		defer cancel()
		for what, s := range map[string]ports.Session{"the session": session, "stores kept from the session": kept} {
			for method, err := range useEachMethod(ctx, s, id) {
				assert(t, errors.Is(err, domain.ErrSession),
					"%s: %s: %s returned %v, which is not %v", ending, what, method, err, domain.ErrSession)
			}
		}
	}
	expectRowCounts(t, store, id, countsBefore)
	do(t, store, func(ctx context.Context, s ports.Session) error {
		ids, err := trailOf(ctx, s, id)
		assert(t, len(ids) == 0, "%d events were written", len(ids))
		return err
	})
}

// keptStores are the stores of a session that a case uses after the session has ended.
type keptStores struct {
	ports.Session
	consents     ports.ConsentStore
	restrictions ports.RestrictionStore
	subjects     ports.SubjectStore
	erased       ports.ErasedStore
	installation ports.InstallationStore
	outbox       ports.Outbox
	outboxAdmin  ports.OutboxAdmin
	audit        ports.AuditLog
	register     ports.Register
}

func (k keptStores) Consents() ports.ConsentStore          { return k.consents }
func (k keptStores) Restrictions() ports.RestrictionStore  { return k.restrictions }
func (k keptStores) Subjects() ports.SubjectStore          { return k.subjects }
func (k keptStores) Erased() ports.ErasedStore             { return k.erased }
func (k keptStores) Installation() ports.InstallationStore { return k.installation }
func (k keptStores) Outbox() ports.Outbox                  { return k.outbox }
func (k keptStores) OutboxAdmin() ports.OutboxAdmin        { return k.outboxAdmin }
func (k keptStores) Audit() ports.AuditLog                 { return k.audit }
func (k keptStores) Register() ports.Register              { return k.register }

type keptInstallation struct {
	ports.InstallationStore
	duties ports.DutyStore
}

func (k keptInstallation) Duties() ports.DutyStore { return k.duties }

// useEachMethod calls each method of each store. It returns the errors, with the name of the method as the key.
func useEachMethod(ctx context.Context, s ports.Session, id domain.SubjectID) map[string]error {
	entry := erasureAt("desk", "late-entry", id)
	late, token := event("late-event", id), "token"
	entry.LeaseToken = &token
	rename := domain.RectificationStep{
		Table: "addresses", Values: []domain.ColumnValue{{Column: "street", Value: "Oak Street"}},
	}
	_, _, latest := s.Restrictions().Latest(ctx, id, nil)
	marks, steps := []domain.ErasureMark{{SubjectID: id, Erasures: 1}}, []datamap.Step{deleteAddresses}
	keys := plan.KeyQuery{Resolver: media, ErasedAt: noon, Limit: 1}
	errs := map[string]error{
		"ConsentStore.Append":     s.Consents().Append(ctx, grant(id, "news", 0)),
		"ConsentStore.Latest":     errOf(s.Consents().Latest(ctx, id, "news", nil)),
		"ConsentStore.History":    errOf(s.Consents().History(ctx, id, "news")),
		"RestrictionStore.Append": s.Restrictions().Append(ctx, restrict(id, nil, 0)),
		"RestrictionStore.Latest": latest, "RestrictionStore.History": errOf(s.Restrictions().History(ctx, id, nil)),
		"SubjectStore.Lock":                errOf(s.Subjects().Lock(ctx, id, noon)),
		"SubjectStore.Apply":               errOf(s.Subjects().Apply(ctx, id, steps)),
		"SubjectStore.Rectify":             errOf(s.Subjects().Rectify(ctx, id, rename)),
		"SubjectStore.Export":              s.Subjects().Export(ctx, id, func(domain.ExportRecord) error { return nil }),
		"SubjectStore.Holdings":            errOf(s.Subjects().Holdings(ctx, id)),
		"ErasedStore.Marks":                errOf(s.Erased().Marks(ctx, everyMark)),
		"ErasedStore.Find":                 errOf(s.Erased().Find(ctx, []domain.SubjectID{id})),
		"ErasedStore.Lives":                errOf(s.Erased().Lives(ctx, marks)),
		"ErasedStore.Position":             errOf(s.Erased().Position(ctx, "job")),
		"ErasedStore.Advance":              errOf(s.Erased().Advance(ctx, "job", 0, 1)),
		"ErasedStore.Due":                  errOf(s.Erased().Due(ctx, marks, steps)),
		"ErasedStore.SweptKeys":            errOf(s.Erased().SweptKeys(ctx, id, keys)),
		"ErasedStore.Sweep":                errOf(s.Erased().Sweep(ctx, id, steps)),
		"ErasedStore.LeftOver":             errOf(s.Erased().LeftOver(ctx, id, steps, noon)),
		"ErasedStore.RecallRow":            s.Erased().RecallRow(ctx, id, noon),
		"DutyStore.Read":                   errOf(s.Installation().Duties().Read(ctx)),
		"DutyStore.Begin":                  s.Installation().Duties().Begin(ctx, domain.Duty{Name: domain.DutySweep}),
		"DutyStore.Ended":                  s.Installation().Duties().Ended(ctx, domain.Duty{Name: domain.DutySweep}),
		"DutyStore.BeginPass":              errOf(s.Installation().Duties().BeginPass(ctx, domain.DutySweep, noon, tick)),
		"DutyStore.CountPass":              s.Installation().Duties().CountPass(ctx, domain.DutySweep, 1, false),
		"DutyStore.AddLeftOver":            s.Installation().Duties().AddLeftOver(ctx, domain.DutySweep, 1),
		"DutyStore.SetLeftOver":            s.Installation().Duties().SetLeftOver(ctx, domain.DutySweep, 1),
		"InstallationStore.Registers":      s.Installation().Registers(ctx),
		"InstallationStore.RetentionSince": errOf(s.Installation().RetentionSince(ctx, 1, noon)),
		"InstallationStore.Read":           errOf(s.Installation().Read(ctx)),
		"InstallationStore.Accept":         errOf(s.Installation().Accept(ctx)),
		"InstallationStore.Renew":          errOf(s.Installation().Renew(ctx)),
		"InstallationStore.Started":        s.Installation().Started(ctx, datamap.StartedWorker{}),
		"InstallationStore.RaiseSequences": s.Installation().RaiseSequences(ctx, 9),
		"Outbox.Enqueue":                   s.Outbox().Enqueue(ctx, entry),
		"Outbox.Claim":                     errOf(s.Outbox().Claim(ctx, query(noon, upTo(1)...))),
		"Outbox.Settle":                    errOf(s.Outbox().Settle(ctx, []domain.Settlement{succeeds(entry)})),
		"Outbox.Unclaimed":                 errOf(s.Outbox().Unclaimed(ctx, noon, 1)),
		"Outbox.Withdraw":                  errOf(s.Outbox().Withdraw(ctx, id)),
		"Outbox.FirstClaims":               errOf(s.Outbox().FirstClaims(ctx, []string{entry.EntryID})),
		"OutboxAdmin.Counts":               errOf(s.OutboxAdmin().Counts(ctx)),
		"OutboxAdmin.Backlog":              errOf(s.OutboxAdmin().Backlog(ctx)),
		"OutboxAdmin.Abandoned":            errOf(s.OutboxAdmin().Abandoned(ctx, nil, 1)),
		"OutboxAdmin.Requeue":              errOf(s.OutboxAdmin().Requeue(ctx, []string{entry.EntryID})),
		"OutboxAdmin.RequeueMatching":      errOf(s.OutboxAdmin().RequeueMatching(ctx, domain.OutboxFilter{}, 1)),
		"OutboxAdmin.Discard":              errOf(s.OutboxAdmin().Discard(ctx, []string{entry.EntryID})),
		"OutboxAdmin.Purge":                errOf(s.OutboxAdmin().Purge(ctx, noon.Add(time.Hour), 1)),
		"AuditLog.Append":                  s.Audit().Append(ctx, late),
		"AuditLog.AppendEvidence":          s.Audit().AppendEvidence(ctx, late),
		"AuditLog.Trail":                   errOf(s.Audit().Trail(ctx, id)),
	}
	maps.Copy(errs, useRegister(ctx, s.Register(), id))
	return errs
}

func useRegister(ctx context.Context, r ports.Register, id domain.SubjectID) map[string]error {
	_, _, added := r.Requests.Add(ctx, asks(1, id))
	return map[string]error{
		"RequestStore.Add":      added,
		"RequestStore.Append":   r.Requests.Append(ctx, asks(2, id, inState(request.Refused, 0))),
		"RequestStore.Update":   r.Requests.Update(ctx, nextVersion(asks(1, id))),
		"RequestStore.Find":     errOf(r.Requests.Find(ctx, nth(1))),
		"RequestStore.Of":       errOf(r.Requests.Of(ctx, id)),
		"RequestStore.Standing": errOf(r.Requests.Standing(ctx, id, noon)),
		"RequestStore.List":     errOf(r.Requests.List(ctx, request.Query{Limit: 1})),
		"RequestStore.Counts":   errOf(r.Requests.Counts(ctx, noon)),
		"RequestStore.Purge":    errOf(r.Requests.Purge(ctx, noon, 1)),
		"HoldStore.Add":         r.Holds.Add(ctx, holdOf("late", id)),
		"HoldStore.Update":      r.Holds.Update(ctx, holdOf("late", id)),
		"HoldStore.Find":        errOf(r.Holds.Find(ctx, "late")),
		"HoldStore.Of":          errOf(r.Holds.Of(ctx, id)),
		"HoldStore.List":        errOf(r.Holds.List(ctx, noon, 1)),
	}
}

func sessionKeepsCopies(t testing.TB, h StoreHarness) {
	store := h.open(t)
	id := subject(t, "acme", 1)
	do(t, store, func(ctx context.Context, s ports.Session) error {
		events := []domain.AuditEvent{event("kept", id)}
		events[0].Payload = domain.Payload{"target": "kept"}
		restriction := restrict(id, pointer("kept"), 0)
		restriction.Reason = pointer("kept")
		if err := s.Audit().Append(ctx, events...); err != nil {
			return err
		}
		if err := s.Restrictions().Append(ctx, restriction); err != nil {
			return err
		}
		events[0].Payload["target"], events[0] = "changed", event("changed", id)
		*restriction.Purpose, *restriction.Reason = "changed", "changed"
		return nil
	})
	for range 2 { // the second round runs after the returned values were changed
		do(t, store, func(ctx context.Context, s ports.Session) error {
			for range 2 {
				trail, err := s.Audit().Trail(ctx, id)
				if err != nil {
					return err
				}
				history, err := s.Restrictions().History(ctx, id, pointer("kept"))
				if err != nil {
					return err
				}
				must(t, len(trail) == 1 && trail[0].EventID == "kept" && trail[0].Payload["target"] == "kept",
					"an event changed with the one that was given or returned")
				must(t, len(history) == 1 && history[0].Reason != nil && *history[0].Reason == "kept",
					"a restriction changed with the one that was given or returned")
				trail[0].Payload["target"], trail[0] = "changed", event("changed", id)
				*history[0].Purpose, *history[0].Reason = "changed", "changed"
			}
			return nil
		})
	}
}
