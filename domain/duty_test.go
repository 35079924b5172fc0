package domain_test

import (
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
)

func TestADutyIsJudgedByItsLastRuns(t *testing.T) {
	began := time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)
	after := func(d time.Duration) *time.Time {
		at := began.Add(d)
		return &at
	}
	type duty = domain.Duty
	const fine, never = domain.DutyFulfilled, domain.DutyNever
	const late, failing = domain.DutyLate, domain.DutyFailing
	hour, minute := time.Hour, time.Minute
	for name, c := range map[string]struct {
		duty duty
		at   time.Duration
		want domain.DutyState
	}{
		"never begun":                   {duty{Every: hour}, hour, never},
		"in its first interval":         {duty{Every: hour, Began: &began}, 2 * hour, fine},
		"never succeeded":               {duty{Every: hour, Began: &began}, 2*hour + 1, never},
		"never succeeded, and often":    {duty{Every: time.Second, Began: &began}, minute + 1001*time.Millisecond, never},
		"in a short interval":           {duty{Every: time.Second, Began: &began}, minute + time.Second, fine},
		"first failed":                  {duty{Every: hour, Began: &began, LastFailure: after(1)}, 2, failing},
		"succeeded":                     {duty{Every: hour, Began: &began, LastSuccess: after(hour)}, 3 * hour, fine},
		"late":                          {duty{Every: hour, Began: &began, LastSuccess: after(hour)}, 3*hour + 1, late},
		"failed after a success":        {duty{Every: hour, LastSuccess: after(1), LastFailure: after(2)}, 3, failing},
		"succeeded after a failure":     {duty{Every: hour, LastSuccess: after(2), LastFailure: after(1)}, 3, fine},
		"late, after a failure as well": {duty{Every: 1, LastSuccess: after(2), LastFailure: after(1)}, hour, late},
	} {
		if got := c.duty.State(began.Add(c.at)); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

func TestMergedDutiesHaveTheLaterRuns(t *testing.T) {
	early := time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)
	late := early.Add(time.Hour)
	one := domain.Duty{Began: &late, LastSuccess: &early, LastFailure: &late, LastError: "timeout", LeftOver: 2}
	other := domain.Duty{Every: 5, Began: &early, LastSuccess: &late, LastFailure: &early, LastError: "panic", LeftOver: 1}
	for _, got := range []domain.Duty{one.Merge(other), other.Merge(one)} {
		if got.Every != 5 || *got.Began != early || *got.LastSuccess != late || *got.LastFailure != late ||
			got.LastError != "timeout" {
			t.Errorf("got %+v", got)
		}
	}
	if one.Merge(other).LeftOver != 2 || other.Merge(one).LeftOver != 1 {
		t.Error("the leftovers of the other duty count")
	}
}
