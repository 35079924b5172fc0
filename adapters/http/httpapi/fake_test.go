package httpapi_test

import (
	"context"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/httpfake"
	"github.com/habeas-data/habeas/ports"
)

type (
	sessions = httpfake.Sessions
	clock    = httpfake.Clock
	ids      = httpfake.IDs
)

// desk is an external system. Its export returns a name. If err is set, all calls return err.
type desk struct {
	ports.Resolver
	name string
	err  error
}

func (d desk) Name() string { return d.name }

func (d desk) ExportSubject(context.Context, domain.SubjectRef) ([]domain.ExportRecord, error) {
	return []domain.ExportRecord{{
		Field: "contact.name", Row: "c-1", Category: domain.CategoryIdentity, Value: "Ada",
	}}, d.err
}
