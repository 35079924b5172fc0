package audit_test

import (
	"fmt"

	"github.com/habeas-data/habeas/adapters/system"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/audit"
)

// An application that lifts a restriction by a rule of its own puts that on the audit trail like the engines do, with
// ports.Session.Audit.
func ExampleStamper_Event() {
	stamper := audit.Stamper{Clock: system.Clock{}, IDs: &system.IDs{}}
	zoe, err := domain.NewSubjectID("42")
	if err != nil {
		panic(err)
	}
	event := stamper.Event(domain.EventRestrictionLifted, zoe, domain.Payload{"scope": "all", "source": "nightly job"})
	fmt.Println(event.EventType, event.Payload, "has an id:", event.EventID != "", "and an instant:",
		!event.OccurredAt.IsZero())
	// Output: restriction_lifted map[scope:all source:nightly job] has an id: true and an instant: true
}
