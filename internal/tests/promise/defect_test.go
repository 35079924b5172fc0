package promise_test

import (
	"sync/atomic"
	"testing"

	"github.com/habeas-data/habeas/internal/tests/promise"
)

// crossed is the number of runs of a check against a system whose defect it does not find.
var crossed atomic.Int32

func colour(t testing.TB, defect string) { t.Helper(); finds(t, defect, "colour") }

func weight(t testing.TB, defect string) { t.Helper(); finds(t, defect, "weight") }

func finds(t testing.TB, defect, name string) {
	t.Helper()
	if defect != name {
		crossed.Add(1)
		return
	}
	t.Errorf("the %s is wrong", name)
}

func TestADefectMeetsTheChecksThatMustFindIt(t *testing.T) {
	promises := []promise.Promise[string]{promise.That(colour, "It is red."), promise.That(weight, "It is light.")}
	broken := func(check string) (string, promise.Finds[string]) {
		return check, promise.Finds[string]{"is wrong": {map[string]promise.Check[string]{
			"colour": colour, "weight": weight,
		}[check]}}
	}
	t.Cleanup(func() { // after the parallel runs
		if n := crossed.Load(); n > 0 {
			t.Errorf("%d runs against a defect that the check does not find", n)
		}
	})
	promise.ExpectDefects(t, promises, broken, map[string]string{"blue": "colour", "heavy": "weight"})
}
