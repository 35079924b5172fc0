package story

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// desk is the external system. It has a contact for each subject until it erases the subject.
type desk struct {
	mu     sync.Mutex
	down   bool
	names  map[string]any // rectified names
	erased map[string]int // number of erasures
}

var _ ports.RectifyingResolver = (*desk)(nil)

func newDesk() *desk { return &desk{names: map[string]any{}, erased: map[string]int{}} }

func (d *desk) Name() string { return "desk" }

func (d *desk) CoveredSurface() domain.CoveredSurface {
	return domain.CoveredSurface{Fields: []domain.CoveredField{{Field: "contact.name", Category: domain.CategoryIdentity}}}
}

func (d *desk) ExportSubject(_ context.Context, ref domain.SubjectRef) ([]domain.ExportRecord, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.down {
		return nil, errors.New("the desk is down")
	}
	if d.erased[ref.Value] > 0 {
		return nil, nil
	}
	return []domain.ExportRecord{
		{Field: "contact.name", Row: "7", Category: domain.CategoryIdentity, Value: "of " + ref.Value},
	}, nil
}

func (d *desk) EraseSubject(_ context.Context, ref domain.SubjectRef, _ domain.ErasureCall) (alreadyAbsent bool,
	err error,
) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.erased[ref.Value]++
	return d.erased[ref.Value] > 1, nil
}

func (d *desk) RectifySubject(_ context.Context, ref domain.SubjectRef, _ domain.RectificationCall,
	to domain.Corrections,
) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.names[ref.Value] = to[domain.CategoryContact]
	return nil
}

// ticking is a clock. Each reading is one second later than the previous reading.
type ticking struct {
	mu  sync.Mutex
	now time.Time
}

func (c *ticking) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Second)
	return c.now
}
