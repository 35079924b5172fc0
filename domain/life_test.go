package domain_test

import (
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// Every combination of evidence, with the life that follows. The creation times are before, equal to, or after the
// creation time in the mark; whole seconds are a type without fractions.
func TestTheLifeOfAnID(t *testing.T) {
	const micro = time.Microsecond
	noon := time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)
	none, before, marked, after := time.Time{}, noon, noon.Add(micro), noon.Add(2*micro)
	flags := []bool{false, true}
	seen := map[domain.Life]int{}
	for _, present := range flags {
		for _, deletes := range flags {
			for _, erased := range flags {
				for _, row := range []time.Time{none, before, marked, after, noon.Add(-time.Hour)} {
					for _, mark := range []time.Time{none, marked, noon} {
						for _, registered := range []struct{ at, added time.Time }{
							{}, {at: noon}, {noon, before}, {noon, marked}, {noon, after},
						} {
							m := domain.ErasureMark{
								Erasures: 1, AddedAt: mark, RegisteredAt: registered.at, RegisteredAddedAt: registered.added,
							}
							e := domain.LifeEvidence{Present: present, AddedAt: row, Deletes: deletes, Erased: erased}
							want := lifeByTable(e, m)
							seen[want]++
							if got := m.Life(e); got != want {
								t.Errorf("evidence %+v with mark %v, registered %+v: %s, want %s", e, mark, registered, got, want)
							}
						}
					}
				}
			}
		}
	}
	if len(seen) != 3 || seen[domain.LifeNew] == 0 || seen[domain.LifeEnded] == 0 || seen[domain.LifeUnknown] == 0 {
		t.Errorf("the combinations lead to %v", seen)
	}
}

// lifeByTable follows the rules of the design one by one, in another form than the code.
func lifeByTable(e domain.LifeEvidence, m domain.ErasureMark) domain.Life {
	order := "unknown" // of the row's creation time and the mark's
	if !e.AddedAt.IsZero() && !m.AddedAt.IsZero() {
		switch e.AddedAt.Compare(m.AddedAt) {
		case -1:
			order = "earlier"
		case 0:
			order = "equal"
		case 1:
			order = "later"
		}
	}
	sawThisRow := e.AddedAt.IsZero() || e.AddedAt.Equal(m.RegisteredAddedAt)
	isTheDeletedRow := e.Deletes && order == "equal"
	fractions := e.AddedAt.Nanosecond() != 0
	if !e.Present {
		return domain.LifeEnded
	}
	if !m.RegisteredAt.IsZero() && sawThisRow && !isTheDeletedRow {
		return domain.LifeNew
	}
	if order == "later" {
		return domain.LifeNew
	}
	if order == "earlier" {
		return domain.LifeUnknown
	}
	if order == "equal" && fractions && e.Deletes {
		return domain.LifeEnded
	}
	if !e.Deletes && e.Erased {
		return domain.LifeEnded
	}
	return domain.LifeUnknown
}

// Examples of the rules, each with its reason.
func TestTheRulesOfALife(t *testing.T) {
	at := time.Date(2024, 3, 1, 12, 0, 0, 1000, time.UTC)
	second := at.Truncate(time.Second)
	for name, c := range map[string]struct {
		mark     domain.ErasureMark
		evidence domain.LifeEvidence
		want     domain.Life
	}{
		"no row": {domain.ErasureMark{AddedAt: at}, domain.LifeEvidence{}, domain.LifeEnded},
		"a row that holds surrogates": {
			domain.ErasureMark{}, domain.LifeEvidence{Present: true, Erased: true}, domain.LifeEnded,
		},
		"a row that came back after it was deleted": {
			domain.ErasureMark{AddedAt: at}, domain.LifeEvidence{Present: true, AddedAt: at, Deletes: true}, domain.LifeEnded,
		},
		"a row of the same second, which says nothing": {
			domain.ErasureMark{AddedAt: second},
			domain.LifeEvidence{Present: true, AddedAt: second, Deletes: true},
			domain.LifeUnknown,
		},
		"a later row": {
			domain.ErasureMark{AddedAt: at},
			domain.LifeEvidence{Present: true, AddedAt: at.Add(time.Hour), Deletes: true},
			domain.LifeNew,
		},
		"an earlier row, even if it holds surrogates": {
			domain.ErasureMark{AddedAt: at},
			domain.LifeEvidence{Present: true, AddedAt: at.Add(-time.Hour), Erased: true},
			domain.LifeUnknown,
		},
		"a registered row without a creation time": {
			domain.ErasureMark{RegisteredAt: at}, domain.LifeEvidence{Present: true}, domain.LifeNew,
		},
		"a registered row that was replaced by an older backup": {
			domain.ErasureMark{RegisteredAt: at, RegisteredAddedAt: at, AddedAt: at.Add(-time.Hour)},
			domain.LifeEvidence{Present: true, AddedAt: at.Add(-time.Hour), Deletes: true},
			domain.LifeEnded,
		},
		"a restored row without any evidence": {domain.ErasureMark{}, domain.LifeEvidence{Present: true}, domain.LifeUnknown},
	} {
		c.mark.Erasures = 1
		if got := c.mark.Life(c.evidence); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// A mark of a registration without an erasure divides the ledgers and says nothing else.
func TestAMarkWithoutAnErasureHasNoLife(t *testing.T) {
	m := domain.ErasureMark{RegisteredAt: time.Unix(1, 0), ConsentsUntil: 1}
	if life := m.Life(domain.LifeEvidence{}); life != "" || life.KeepsEarlier() {
		t.Errorf("got %q", life)
	}
}
