package domain_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/domain"
)

func restrictionRecord(purpose *string, at time.Time, restricted bool) domain.RestrictionRecord {
	return domain.RestrictionRecord{Purpose: purpose, Restricted: restricted, RecordedAt: at, Source: "api"}
}

func TestTheStatusDerivesFromTheRecordsInForce(t *testing.T) {
	var (
		purpose  = ptr("ads")
		early    = noon.Add(-time.Hour)
		all, one = ptr(domain.ScopeAll), ptr(domain.ScopePurpose)
		none     *domain.RestrictionScope
	)
	placed := func(p *string, at time.Time) *domain.RestrictionRecord { return ptr(restrictionRecord(p, at, true)) }
	lifted := func(p *string, at time.Time) *domain.RestrictionRecord { return ptr(restrictionRecord(p, at, false)) }
	for name, c := range map[string]struct {
		purpose        *string
		global, scoped *domain.RestrictionRecord
		scope          *domain.RestrictionScope
		at             *time.Time
	}{
		"nothing":                              {nil, nil, nil, none, nil},
		"nothing for the purpose":              {purpose, nil, nil, none, nil},
		"all":                                  {nil, placed(nil, noon), nil, all, &noon},
		"all, asked for a purpose":             {purpose, placed(nil, noon), nil, all, &noon},
		"the purpose":                          {purpose, nil, placed(purpose, noon), one, &noon},
		"both, the global one decides":         {purpose, placed(nil, early), placed(purpose, noon), all, &early},
		"all, though the purpose was lifted":   {purpose, placed(nil, early), lifted(purpose, noon), all, &early},
		"the purpose, though all was lifted":   {purpose, lifted(nil, noon), placed(purpose, early), one, &early},
		"both lifted, all last":                {purpose, lifted(nil, noon), lifted(purpose, early), none, &noon},
		"both lifted, the purpose last":        {purpose, lifted(nil, early), lifted(purpose, noon), none, &noon},
		"all lifted":                           {nil, lifted(nil, noon), nil, none, &noon},
		"only the purpose lifted":              {purpose, nil, lifted(purpose, noon), none, &noon},
		"without a purpose only globals count": {nil, nil, placed(purpose, noon), none, nil},
		"without a purpose a lift counts":      {nil, lifted(nil, early), placed(purpose, noon), none, &early},
	} {
		status := domain.RestrictionStatusOf(mustID(t, "42"), c.purpose, c.global, c.scoped)
		if status.Restricted != (c.scope != nil) || !equal(status.Scope, c.scope) || !equal(status.RecordedAt, c.at) ||
			!equal(status.Purpose, c.purpose) || status.SubjectID != mustID(t, "42") {
			t.Errorf("%s: got %+v", name, status)
		}
	}
}

func equal[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }

// recordsInForce returns the last global record and the last record for a purpose, as a store does.
func recordsInForce(records []domain.RestrictionRecord) (global, scoped *domain.RestrictionRecord) {
	for _, record := range records {
		winner := &global
		if record.Purpose != nil {
			winner = &scoped
		}
		*winner = ptr(record)
	}
	return global, scoped
}

func restrictionRecords(purpose *string) *rapid.Generator[[]domain.RestrictionRecord] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) domain.RestrictionRecord {
		return restrictionRecord(rapid.SampledFrom([]*string{nil, purpose}).Draw(t, "purpose"),
			instants().Draw(t, "at"), rapid.Bool().Draw(t, "restricted"))
	}), 0, 6)
}

func TestTheRestrictionStatusNeverContradictsItself(t *testing.T) {
	purpose, id := ptr("ads"), mustID(t, "42")
	rapid.Check(t, func(t *rapid.T) {
		records := restrictionRecords(purpose).Draw(t, "records")
		global, scoped := recordsInForce(records)
		status := domain.RestrictionStatusOf(id, purpose, global, scoped)
		if status.Restricted != (status.Scope != nil) || (status.RecordedAt == nil) != (len(records) == 0) {
			t.Fatalf("%+v contradicts itself", status)
		}
	})
}

func TestAPurposeLevelLiftNeverUndoesAGlobalRestriction(t *testing.T) {
	purpose, id := ptr("ads"), mustID(t, "42")
	rapid.Check(t, func(t *rapid.T) {
		records := restrictionRecords(purpose).Draw(t, "records")
		global, scoped := recordsInForce(records)
		before := domain.RestrictionStatusOf(id, purpose, global, scoped)
		global, scoped = recordsInForce(append(records, restrictionRecord(purpose, noon.Add(time.Hour), false)))
		after := domain.RestrictionStatusOf(id, purpose, global, scoped)
		isGlobal := equal(before.Scope, ptr(domain.ScopeAll))
		if after.Restricted != isGlobal || isGlobal && !equal(after.Scope, before.Scope) {
			t.Fatalf("before the lift %+v, after it %+v", before, after)
		}
	})
}

func TestARestrictionDecisionIsCheckedFieldByField(t *testing.T) {
	long := strings.Repeat("é", domain.MaxTextLength)
	for name, c := range map[string]struct {
		decision domain.RestrictionDecision
		want     string
	}{
		"global":        {domain.RestrictionDecision{Source: "api"}, ""},
		"for a purpose": {domain.RestrictionDecision{Purpose: &long, Reason: &long, Source: "api"}, ""},
		"an empty reason is none": {
			domain.RestrictionDecision{Reason: ptr(""), Source: "api"}, "",
		},
		"an empty purpose is not all": {
			domain.RestrictionDecision{Purpose: ptr(""), Source: "api"}, "purpose:required",
		},
		"everything wrong": {
			domain.RestrictionDecision{Purpose: ptr("\x00"), Reason: ptr(long + "x")},
			"purpose:character reason:too_long source:required",
		},
		"a reason that is no text": {
			domain.RestrictionDecision{Reason: ptr("\xff"), Source: "api"}, "reason:character",
		},
	} {
		if got := faultCodes(c.decision.Check()); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
