package domain_test

import (
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// replayRule is a line of the table of verdicts. An empty field matches everything.
type replayRule struct {
	lines      string // "recorded", "of another row" (all unrecorded lines have other creation times), or "unrecorded"
	row        string // "none", "surrogates" or "other"
	created    string // the row against the mark: "later", "earlier", "equal", "equal second" or "unknown"
	plan       string // the erasure "deletes" or "keeps" the row
	registered string // "this row", "perhaps" (the row has no creation time), or "no"
	restore    string // "undone", "since" (the first replay with the instant) or "no"
	want       domain.ReplayVerdict
}

// replayRules lists the rules of the design. The first line that matches decides.
var replayRules = []replayRule{
	{lines: "of another row", want: domain.ReplayOtherRow},
	{lines: "unrecorded", want: domain.ReplayErase},
	{row: "none", want: domain.ReplayCurrent},
	{row: "surrogates", want: domain.ReplayCurrent},
	{registered: "this row", want: domain.ReplayNew},
	{registered: "perhaps", restore: "undone", want: domain.ReplayUnclear},
	{registered: "perhaps", want: domain.ReplayNew},
	{created: "later", want: domain.ReplayNew},
	{created: "earlier", want: domain.ReplayOtherRow},
	{created: "equal", plan: "deletes", want: domain.ReplayErase},
	{restore: "undone", want: domain.ReplayErase},
	{restore: "since", want: domain.ReplayCurrent},
	{want: domain.ReplayUnclear},
}

func (r replayRule) matches(facts replayRule) bool {
	for _, pair := range [][2]string{
		{r.lines, facts.lines},
		{r.row, facts.row},
		{r.created, facts.created},
		{r.plan, facts.plan},
		{r.registered, facts.registered},
		{r.restore, facts.restore},
	} {
		if pair[0] != "" && pair[0] != pair[1] {
			return false
		}
	}
	return true
}

// factsOf describes a case in the words of the table.
func factsOf(c domain.ReplayCase) (facts replayRule) {
	row, mark := c.Row.AddedAt, c.Mark.AddedAt
	facts.lines = "recorded"
	if len(c.Unrecorded) > 0 {
		facts.lines = "of another row"
		for _, line := range c.Unrecorded {
			if !c.Row.Present || row.IsZero() || line.IsZero() || line.Equal(row) {
				facts.lines = "unrecorded"
			}
		}
	}
	facts.row = "other"
	if c.Row.Erased {
		facts.row = "surrogates"
	}
	if !c.Row.Present {
		facts.row = "none"
	}
	facts.created = "unknown"
	if !row.IsZero() && !mark.IsZero() {
		facts.created = map[int]string{-1: "earlier", 0: "equal", 1: "later"}[row.Compare(mark)]
		if facts.created == "equal" && row.Truncate(time.Second).Equal(row) {
			facts.created = "equal second"
		}
	}
	facts.plan = "keeps"
	if c.Row.Deletes {
		facts.plan = "deletes"
	}
	facts.registered = "no"
	deleted := c.Row.Deletes && (facts.created == "equal" || facts.created == "equal second")
	if !c.Mark.RegisteredAt.IsZero() && !deleted {
		if row.IsZero() {
			facts.registered = "perhaps"
		} else if row.Equal(c.Mark.RegisteredAddedAt) {
			facts.registered = "this row"
		}
	}
	facts.restore = "no"
	if c.Undone {
		facts.restore = "undone"
	} else if c.Since {
		facts.restore = "since"
	}
	return facts
}

// Every combination of evidence, with the verdict of the table.
func TestTheVerdictOfAReplay(t *testing.T) {
	const micro = time.Microsecond
	second := time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)
	none, before, marked, after := time.Time{}, second.Add(micro), second.Add(2*micro), second.Add(3*micro)
	flags := []bool{false, true}
	used := map[domain.ReplayVerdict]int{}
	check := func(c domain.ReplayCase) {
		facts := factsOf(c)
		for i, rule := range replayRules {
			if !rule.matches(facts) {
				continue
			}
			used[rule.want]++
			if got := c.Verdict(); got != rule.want {
				t.Errorf("%+v: %s, but rule %d demands %s", facts, got, i, rule.want)
			}
			return
		}
	}
	lines := [][]time.Time{
		nil, {none}, {before}, {marked}, {before, marked}, {none, after}, {second}, {before, before},
	}
	for _, unrecorded := range lines {
		for _, added := range []time.Time{none, second, before, marked, after} {
			for _, mark := range []time.Time{none, second, marked} {
				for _, registered := range []time.Time{none, second, before, marked, after} {
					for bits := range 1 << 5 {
						c := domain.ReplayCase{
							Mark: domain.ErasureMark{Erasures: 1, AddedAt: mark, RegisteredAddedAt: registered},
							Row: domain.LifeEvidence{
								Present: flags[bits&1], AddedAt: added, Deletes: flags[bits>>1&1], Erased: flags[bits>>2&1],
							},
							Unrecorded: unrecorded,
						}
						if !c.Row.Present {
							c.Row = domain.LifeEvidence{}
						}
						if bits>>3&1 == 1 {
							c.Mark.RegisteredAt = second
						}
						if bits>>4&1 == 1 {
							c.Undone = true
							check(c)
							c.Undone, c.Since = false, true
						}
						check(c)
					}
				}
			}
		}
	}
	if len(used) != 5 {
		t.Errorf("the combinations lead to %v", used)
	}
}

// Examples of the rules, each with its reason.
func TestTheRulesOfAReplay(t *testing.T) {
	at := time.Date(2024, 3, 1, 12, 0, 0, 1000, time.UTC)
	second, later, earlier := at.Truncate(time.Second), at.Add(time.Hour), at.Add(-time.Hour)
	deleted := func(added time.Time) domain.LifeEvidence {
		return domain.LifeEvidence{Present: true, AddedAt: added, Deletes: true}
	}
	kept := func(added time.Time) domain.LifeEvidence { return domain.LifeEvidence{Present: true, AddedAt: added} }
	for name, c := range map[string]struct {
		evidence domain.ReplayCase
		want     domain.ReplayVerdict
	}{
		"restored with the whole database": {
			domain.ReplayCase{Row: kept(at), Unrecorded: []time.Time{at}}, domain.ReplayErase,
		},
		"not yet registered when the backup began": {
			domain.ReplayCase{Unrecorded: []time.Time{at}}, domain.ReplayErase,
		},
		"a number given to another person after the restore": {
			domain.ReplayCase{Row: kept(later), Unrecorded: []time.Time{at, earlier}}, domain.ReplayOtherRow,
		},
		"a line of an earlier version, which has no creation time": {
			domain.ReplayCase{Row: kept(later), Unrecorded: []time.Time{at, {}}}, domain.ReplayErase,
		},
		"a deleted row that came back": {
			domain.ReplayCase{Mark: domain.ErasureMark{AddedAt: at}, Row: deleted(at)}, domain.ReplayErase,
		},
		"a deleted row of the same second": {
			domain.ReplayCase{Mark: domain.ErasureMark{AddedAt: second}, Row: deleted(second)}, domain.ReplayUnclear,
		},
		"a kept row without surrogates": {
			domain.ReplayCase{Mark: domain.ErasureMark{AddedAt: at}, Row: kept(at)}, domain.ReplayUnclear,
		},
		"the same in tables that were restored": {
			domain.ReplayCase{Mark: domain.ErasureMark{AddedAt: at}, Row: kept(at), Undone: true}, domain.ReplayErase,
		},
		"nothing to compare in tables that were restored": {
			domain.ReplayCase{Row: deleted(time.Time{}), Undone: true}, domain.ReplayErase,
		},
		"somebody who registered later, in tables that were restored": {
			domain.ReplayCase{Mark: domain.ErasureMark{AddedAt: at}, Row: kept(later), Undone: true}, domain.ReplayNew,
		},
		"somebody who was registered before, in tables that were restored": {
			domain.ReplayCase{Mark: domain.ErasureMark{AddedAt: at}, Row: kept(earlier), Undone: true}, domain.ReplayOtherRow,
		},
		"registered again with a natural key": {
			domain.ReplayCase{Mark: domain.ErasureMark{RegisteredAt: at}, Row: kept(time.Time{})}, domain.ReplayNew,
		},
		"registered again, and then the tables were restored": {
			domain.ReplayCase{Mark: domain.ErasureMark{RegisteredAt: at}, Row: kept(time.Time{}), Undone: true},
			domain.ReplayUnclear,
		},
		"registered again, before another erasure that the database has lost": {
			domain.ReplayCase{
				Mark: domain.ErasureMark{RegisteredAt: at, RegisteredAddedAt: at}, Row: kept(at), Unrecorded: []time.Time{at},
			},
			domain.ReplayErase,
		},
		"a row without surrogates that was erased after the restore": {
			domain.ReplayCase{Row: kept(time.Time{}), Since: true}, domain.ReplayCurrent,
		},
	} {
		if c.evidence.Unrecorded == nil {
			c.evidence.Mark.Erasures = 1
		}
		if got := c.evidence.Verdict(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
