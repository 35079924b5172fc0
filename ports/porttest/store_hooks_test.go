package porttest

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// pool pretends that a store in memory talks to a database: each call of a SubjectStore is a statement, for which a
// session takes a connection that it keeps until it ends.
type pool struct{ held, sent atomic.Int64 }

func (p *pool) connections() int { return int(p.held.Load()) }
func (p *pool) statements() int  { return int(p.sent.Load()) }

func (p *pool) watch(sessions ports.SessionFactory) ports.SessionFactory {
	return doFunc(func(ctx context.Context, fn func(context.Context, ports.Session) error) error {
		connection := &connection{pool: p}
		defer connection.release()
		return sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
			return fn(ctx, replaced{Session: s, subjects: counted{s.Subjects(), connection}})
		})
	})
}

// connection is the one that a session has, once it is open.
type connection struct {
	pool *pool
	open bool
}

func (c *connection) use(id domain.SubjectID) {
	if _, err := DataMap().Key(id); err != nil { // before any statement
		return
	}
	c.pool.sent.Add(1)
	if !c.open {
		c.open = true
		c.pool.held.Add(1)
	}
}

func (c *connection) release() {
	if c.open {
		c.pool.held.Add(-1)
	}
}

// counted is a SubjectStore whose calls are counted.
type counted struct {
	ports.SubjectStore
	connection *connection
}

func (c counted) Lock(ctx context.Context, id domain.SubjectID, at time.Time) error {
	c.connection.use(id)
	return c.SubjectStore.Lock(ctx, id, at)
}

func (c counted) Apply(ctx context.Context, id domain.SubjectID, steps []domain.Step) ([]int64, error) {
	c.connection.use(id)
	return c.SubjectStore.Apply(ctx, id, steps)
}

func (c counted) Rectify(ctx context.Context, id domain.SubjectID, step domain.RectificationStep) (int64, error) {
	c.connection.use(id)
	return c.SubjectStore.Rectify(ctx, id, step)
}

func (c counted) Export(ctx context.Context, id domain.SubjectID, yield func(domain.ExportRecord) error) error {
	c.connection.use(id)
	return c.SubjectStore.Export(ctx, id, yield)
}

// nowhere is a store whose database cannot be reached. Only its audit log can be used.
type nowhere struct{}

var errNowhere = &domain.Error{Code: domain.ErrUnavailable, Op: "session", Message: "nobody answers"}

func (nowhere) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	log := &lostLog{}
	err := fn(ctx, replaced{audit: log})
	if err == nil && log.used {
		err = errNowhere
	}
	if err != nil && log.evidence {
		err = errors.Join(err, &domain.Error{Op: "evidence", Message: "lost"})
	}
	return err
}

type lostLog struct{ used, evidence bool }

func (l *lostLog) Append(context.Context, ...domain.AuditEvent) error {
	l.used = true
	return nil
}

func (l *lostLog) AppendEvidence(_ context.Context, events ...domain.AuditEvent) error {
	l.used, l.evidence = true, l.evidence || len(events) > 0
	return nil
}

func (l *lostLog) AppendOnRollback(context.Context, ...domain.AuditEvent) error { return nil }

func (l *lostLog) Trail(context.Context, domain.SubjectID) ([]domain.AuditEvent, error) {
	l.used = true
	return nil, errNowhere
}
