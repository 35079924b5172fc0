package stack

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/register"
	"github.com/habeas-data/habeas/domain/request"
	"github.com/habeas-data/habeas/internal/system"
)

// Requests has the settings of the register of requests. The days of its time limits are those of the zone of the data
// map, which is required with it (app.Config.Zone or datamap.DataMap.WithZone).
type Requests struct {
	// Person returns the subject with the id, with all refs, and the context for the session that acts on it, such as one
	// with a tenant. What an operator decides knows only the id. It is called before the session, and may fail. It is
	// required if there are resolvers. The default returns the id without refs, and ctx.
	Person func(ctx context.Context, id domain.SubjectID) (context.Context, domain.Subject, error)
	// IsHoliday reports whether a day is a holiday. With it, Saturdays, Sundays and holidays are no working days, and a
	// time limit ends on a working day. The default is nil: each day is a working day.
	IsHoliday func(request.Day) bool
	// Law is the time for an answer. The default is request.GDPR: one month, and two more with an extension.
	Law request.Law
}

// newRegister returns the register, or nil if Requests is not set.
func (c Config) newRegister(purposes domain.Purposes) (*register.Register, error) {
	if c.Requests == nil {
		return nil, nil //nolint:nilnil // a nil Register has no requests
	}
	zone, err := time.LoadLocation(c.DataMap.Zone())
	switch {
	case c.DataMap.Zone() == "" || err != nil:
		return nil, domain.Misconfigured("stack",
			"Requests needs the zone of the controller: set Zone, such as Europe/Berlin")
	case c.Requests.Person == nil && len(c.Resolvers) > 0:
		return nil, domain.Misconfigured("stack",
			"Requests.Person is missing: without it, nobody knows the refs of the resolvers")
	}
	return register.New(register.Config{
		Clock: c.Clock, IDs: c.IDs, Secrets: system.Secrets{}, Purposes: purposes, Controller: c.Controller,
		Rules: request.Rules{Zone: zone, Law: c.Requests.Law, IsHoliday: c.Requests.IsHoliday},
	})
}

// person returns Requests.Person or its default.
func (c Config) person() func(context.Context, domain.SubjectID) (context.Context, domain.Subject, error) {
	switch {
	case c.Requests == nil:
		return nil
	case c.Requests.Person != nil:
		return c.Requests.Person
	}
	return func(ctx context.Context, id domain.SubjectID) (context.Context, domain.Subject, error) {
		return ctx, domain.Subject{ID: id}, nil
	}
}
