package domain_test

import (
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
)

func TestAHoldingIsOverwrittenOnceItsLastDutyIsOver(t *testing.T) {
	end := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	kept := func(latest ...time.Time) domain.Holding {
		h := domain.Holding{Fate: domain.StrategyRetain}
		for _, at := range latest {
			h.Kept = append(h.Kept, domain.RetainedField{Until: domain.Until{Latest: at}})
		}
		return h
	}
	for what, test := range map[string]struct {
		held domain.Holding
		at   time.Time
		kept int
		fate domain.Strategy
	}{
		"before the end":     {kept(end), end.Add(-time.Microsecond), 1, domain.StrategyRetain},
		"at the end":         {kept(end), end, 0, domain.StrategyAnonymize},
		"one of two":         {kept(end, end.Add(time.Hour)), end, 1, domain.StrategyRetain},
		"without known end":  {kept(time.Time{}), end, 1, domain.StrategyRetain},
		"rows that go":       {domain.Holding{Fate: domain.StrategyDelete}, end, 0, domain.StrategyDelete},
		"overwritten anyway": {domain.Holding{Fate: domain.StrategyAnonymize}, end, 0, domain.StrategyAnonymize},
	} {
		if got := test.held.At(test.at); got.Fate != test.fate || len(got.Kept) != test.kept {
			t.Errorf("%s: %+v", what, got)
		}
	}
}
