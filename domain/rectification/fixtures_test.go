package rectification_test

import (
	"github.com/habeas-data/habeas/domain/rectification"
	"github.com/habeas-data/habeas/internal/tests/fixture"
)

var planner rectification.Planner

var (
	mustMap, wantCode, wantJSON = fixture.MustMap, fixture.WantCode, fixture.WantJSON
	column, contact             = fixture.Column, fixture.Contact
	users, child                = fixture.Users, fixture.Child
)
