package porttest

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/ports"
)

// The types in this file are defective ports. Each function that is set replaces a method. The other methods are
// correct.

// subjectCall holds the arguments of a call of a broken SubjectStore, and the correct SubjectStore.
type subjectCall struct {
	ports.SubjectStore
	ctx   context.Context
	id    domain.SubjectID
	at    time.Time
	steps []datamap.Step
	step  domain.RectificationStep
	query plan.KeyQuery
	yield func(domain.ExportRecord) error
}

type brokenSubjects struct {
	ports.SubjectStore
	lock     func(c subjectCall) (time.Time, error)
	hold     func(c subjectCall) (domain.SubjectState, error)
	register func(c subjectCall) error
	apply    func(c subjectCall) ([]int64, error)
	rectify  func(c subjectCall) (int64, error)
	export   func(c subjectCall) error
	keys     func(c subjectCall) ([]string, error)
}

func (b brokenSubjects) breaks(store *Store) {
	changesSessions(func(s ports.Session) replacedStores {
		broken := b
		broken.SubjectStore = s.Subjects()
		return replacedStores{Session: s, subjects: broken}
	})(store)
}

func (b brokenSubjects) Lock(ctx context.Context, id domain.SubjectID, at time.Time) (time.Time, error) {
	if b.lock == nil {
		return b.SubjectStore.Lock(ctx, id, at)
	}
	return b.lock(subjectCall{SubjectStore: b.SubjectStore, ctx: ctx, id: id, at: at})
}

func (b brokenSubjects) LockToRectify(ctx context.Context, id domain.SubjectID) (domain.SubjectState, error) {
	if b.hold == nil {
		return b.SubjectStore.LockToRectify(ctx, id)
	}
	return b.hold(subjectCall{SubjectStore: b.SubjectStore, ctx: ctx, id: id})
}

func (b brokenSubjects) Register(ctx context.Context, id domain.SubjectID, at time.Time) error {
	if b.register == nil {
		return b.SubjectStore.Register(ctx, id, at)
	}
	return b.register(subjectCall{SubjectStore: b.SubjectStore, ctx: ctx, id: id, at: at})
}

func (b brokenSubjects) Apply(
	ctx context.Context, id domain.SubjectID, steps []datamap.Step,
) (domain.Applied, error) {
	if b.apply == nil {
		return b.SubjectStore.Apply(ctx, id, steps)
	}
	rows, err := b.apply(subjectCall{SubjectStore: b.SubjectStore, ctx: ctx, id: id, steps: steps})
	return domain.Applied{Rows: rows}, err
}

func (b brokenSubjects) Rectify(
	ctx context.Context, id domain.SubjectID, step domain.RectificationStep,
) (int64, error) {
	if b.rectify == nil {
		return b.SubjectStore.Rectify(ctx, id, step)
	}
	return b.rectify(subjectCall{SubjectStore: b.SubjectStore, ctx: ctx, id: id, step: step})
}

func (b brokenSubjects) Export(ctx context.Context, id domain.SubjectID, yield func(domain.ExportRecord) error) error {
	if b.export == nil {
		return b.SubjectStore.Export(ctx, id, yield)
	}
	return b.export(subjectCall{SubjectStore: b.SubjectStore, ctx: ctx, id: id, yield: yield})
}

func (b brokenSubjects) Keys(ctx context.Context, id domain.SubjectID, query plan.KeyQuery) ([]string, error) {
	if b.keys == nil {
		return b.SubjectStore.Keys(ctx, id, query)
	}
	return b.keys(subjectCall{SubjectStore: b.SubjectStore, ctx: ctx, id: id, query: query})
}

type brokenOutbox struct {
	ports.Outbox
	enqueue  func(ctx context.Context, o ports.Outbox, added []domain.OutboxEntry) error
	claim    func(ctx context.Context, o ports.Outbox, query domain.ClaimQuery) ([]domain.OutboxEntry, error)
	settle   func(ctx context.Context, o ports.Outbox, s []domain.Settlement) ([]domain.SettleResult, error)
	withdraw func(ctx context.Context, o ports.Outbox, id domain.SubjectID) ([]domain.OutboxEntry, error)
}

func (b brokenOutbox) breaks(store *Store) {
	changesSessions(func(s ports.Session) replacedStores {
		broken := b
		broken.Outbox = s.Outbox()
		return replacedStores{Session: s, outbox: broken}
	})(store)
}

func (b brokenOutbox) Enqueue(ctx context.Context, added ...domain.OutboxEntry) error {
	if b.enqueue == nil {
		return b.Outbox.Enqueue(ctx, added...)
	}
	return b.enqueue(ctx, b.Outbox, added)
}

func (b brokenOutbox) Claim(ctx context.Context, query domain.ClaimQuery) ([]domain.OutboxEntry, error) {
	if b.claim == nil {
		return b.Outbox.Claim(ctx, query)
	}
	return b.claim(ctx, b.Outbox, query)
}

func (b brokenOutbox) Settle(ctx context.Context, s []domain.Settlement) ([]domain.SettleResult, error) {
	if b.settle == nil {
		return b.Outbox.Settle(ctx, s)
	}
	return b.settle(ctx, b.Outbox, s)
}

func (b brokenOutbox) Withdraw(ctx context.Context, id domain.SubjectID) ([]domain.OutboxEntry, error) {
	if b.withdraw == nil {
		return b.Outbox.Withdraw(ctx, id)
	}
	return b.withdraw(ctx, b.Outbox, id)
}

// brokenErased is an ErasedStore with defective marks or sweeps. The function marks changes the list of all marks, and
// anyone makes Find return the marks of all subjects.
type brokenErased struct {
	ports.ErasedStore
	marks  func(all []domain.ErasureMark) []domain.ErasureMark
	anyone bool
	sweep  func(ctx context.Context, e ports.ErasedStore, id domain.SubjectID, steps []datamap.Step) ([]int64, error)
}

func (b brokenErased) breaks(store *Store) {
	changesSessions(func(s ports.Session) replacedStores {
		broken := b
		broken.ErasedStore = s.Erased()
		return replacedStores{Session: s, erased: broken}
	})(store)
}

func (b brokenErased) Marks(ctx context.Context, query domain.MarkQuery) ([]domain.ErasureMark, error) {
	if b.marks == nil {
		return b.ErasedStore.Marks(ctx, query)
	}
	all, err := b.ErasedStore.Marks(ctx, domain.MarkQuery{Limit: math.MaxInt})
	marks := slices.DeleteFunc(b.marks(all), func(mark domain.ErasureMark) bool { return !query.Matches(mark) })
	slices.SortFunc(marks, func(a, b domain.ErasureMark) int { return cmp.Compare(a.Intake, b.Intake) })
	return marks[:max(0, min(len(marks), query.Limit))], err
}

func (b brokenErased) Find(ctx context.Context, ids []domain.SubjectID) ([]domain.ErasureMark, error) {
	if b.anyone {
		return b.ErasedStore.Marks(ctx, domain.MarkQuery{Limit: math.MaxInt})
	}
	return b.ErasedStore.Find(ctx, ids)
}

func (b brokenErased) Sweep(ctx context.Context, id domain.SubjectID, steps []datamap.Step) ([]int64, error) {
	if b.sweep == nil {
		return b.ErasedStore.Sweep(ctx, id, steps)
	}
	return b.sweep(ctx, b.ErasedStore, id, steps)
}

// brokenLife is a defective store of consents: the history of one life also has the records of earlier lives for which
// shows returns true.
type brokenLife struct {
	ports.ConsentStore
	shows func(record domain.ConsentRecord) bool
}

func (b brokenLife) History(ctx context.Context, id domain.SubjectID, purpose string) ([]domain.ConsentRecord, error) {
	own, err := b.ConsentStore.History(ctx, id, purpose)
	if err != nil {
		return nil, err
	}
	all, err := b.HistoryOfAllLives(ctx, id, purpose)
	return slices.DeleteFunc(all, func(r domain.ConsentRecord) bool {
		return !slices.Contains(own, r) && !b.shows(r)
	}), err
}

// alsoShows returns a defect: the history of one life has records of earlier lives with these names. Without names, it
// has all of them.
func alsoShows(names ...string) func(*Store) {
	return changesSessions(func(s ports.Session) replacedStores {
		return replacedStores{Session: s, consents: brokenLife{s.Consents(), func(r domain.ConsentRecord) bool {
			return len(names) == 0 || slices.Contains(names, r.PolicyVersion)
		}}}
	})
}

// brokenLog is a defective AuditLog.
type brokenLog struct {
	ports.AuditLog
	add, evidence, onRollback func(context.Context, ports.AuditLog, []domain.AuditEvent) error
	trail                     func(context.Context, ports.AuditLog, domain.SubjectID) ([]domain.AuditEvent, error)
}

func (b brokenLog) breaks(store *Store) {
	changesSessions(func(s ports.Session) replacedStores {
		broken := b
		broken.AuditLog = s.Audit()
		return replacedStores{Session: s, audit: broken}
	})(store)
}

func (b brokenLog) Append(ctx context.Context, events ...domain.AuditEvent) error {
	if b.add == nil {
		return b.AuditLog.Append(ctx, events...)
	}
	return b.add(ctx, b.AuditLog, events)
}

func (b brokenLog) AppendEvidence(ctx context.Context, events ...domain.AuditEvent) error {
	if b.evidence == nil {
		return b.AuditLog.AppendEvidence(ctx, events...)
	}
	return b.evidence(ctx, b.AuditLog, events)
}

func (b brokenLog) AppendOnRollback(ctx context.Context, events ...domain.AuditEvent) error {
	if b.onRollback == nil {
		return b.AuditLog.AppendOnRollback(ctx, events...)
	}
	return b.onRollback(ctx, b.AuditLog, events)
}

func (b brokenLog) Trail(ctx context.Context, id domain.SubjectID) ([]domain.AuditEvent, error) {
	if b.trail == nil {
		return b.AuditLog.Trail(ctx, id)
	}
	return b.trail(ctx, b.AuditLog, id)
}
