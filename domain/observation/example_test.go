package observation_test

import (
	"fmt"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/observation"
)

// An observer distinguishes the observations by their type.
func ExampleObservation() {
	observe := func(seen observation.Observation) {
		switch seen := seen.(type) {
		case observation.RightObserved:
			fmt.Println(seen.Right, seen.Outcome)
		case observation.PollObserved:
			fmt.Println("poll", seen.Settled)
		}
	}
	observe(observation.RightObserved{Right: observation.RightExport, Outcome: domain.OutcomeOK})
	observe(observation.PollObserved{Settled: 3})
	// Output:
	// export ok
	// poll 3
}
