package check_test

import (
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// A finding is an error if the database deletes rows of other people, also if its rule is a warning.
func TestDeletedRowsOfOtherPeopleAreAnError(t *testing.T) {
	const failure, warning = datamap.SeverityError, datamap.SeverityWarning
	for name, c := range map[string]struct {
		change func(*world)
		code   string
		want   datamap.Severity
	}{
		"a mapped table that refers to itself": {nested(datamap.ActionCascade), "delete-undecided", failure},
		"a key that refuses the deletion":      {nested(datamap.ActionNone), "delete-undecided", warning},
		"rows of the same person": {
			deletingUsers(letters(datamap.ActionCascade)), "delete-cascades", warning,
		},
		"rows that also refer to another person by a foreign key": {
			deletingUsers(func(w *world) {
				letters(datamap.ActionCascade)(w)
				w.refer("letters", "reader", datamap.ActionSetNull)
			}), "delete-cascades", failure,
		},
		"rows that also refer to another person by a name": {
			deletingUsers(func(w *world) {
				letters(datamap.ActionCascade)(w)
				w.add("letters", "sender_id", datamap.TypeBigInt)
			}), "delete-cascades", failure,
		},
		"rows of a table that the data map keeps": {
			approved(datamap.ActionCascade, false), "delete-cascades-to-kept", failure,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			c.change(w)
			found := 0
			for _, finding := range w.findings(t) {
				if finding.Code == c.code {
					found++
					if finding.Severity != c.want {
						t.Errorf("%v is a %s, want %s", finding, finding.Severity, c.want)
					}
				}
			}
			if found != 1 {
				t.Errorf("found %d findings of %s", found, c.code)
			}
		})
	}
}

// An erasure that clears the references of a table to itself leaves nothing for the foreign key to delete or refuse.
func TestAReferenceThatAnErasureClearsIsNoFinding(t *testing.T) {
	for _, action := range []datamap.ForeignKeyAction{datamap.ActionCascade, datamap.ActionNone, datamap.ActionRestrict} {
		w := newWorld()
		nested(action)(w)
		w.table("sessions").Relations[1].OnErasure = domain.StrategyNull
		if found := w.findings(t); len(found) > 0 {
			t.Errorf("%s: found %v", action, found)
		}
	}
	w := newWorld()
	nested(datamap.ActionCascade)(w)
	w.addToBoth("sessions", datamap.Column{Name: "kind", Type: datamap.TypeText})
	w.table("sessions").Relations[1].OnErasure = domain.StrategyNull
	w.table("sessions").Relations[1].When = &datamap.Condition{Column: "kind", Value: "reply"}
	if found := w.findings(t); len(found) != 1 || found[0].Code != "delete-undecided" {
		t.Errorf("with a condition: found %v", found)
	}
}
