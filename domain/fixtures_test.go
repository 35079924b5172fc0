package domain_test

import (
	"time"

	"github.com/habeas-data/habeas/internal/tests/fixture"
)

// noon is the instant that the tests of this package use as the current time.
var noon = time.Date(2024, time.March, 1, 12, 0, 0, 0, time.UTC)

func ptr[T any](value T) *T { return &value }

var mustID, wantCode, wantJSON = fixture.MustID, fixture.WantCode, fixture.WantJSON
