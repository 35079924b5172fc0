package bunstore

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
)

func TestThoseWhoWaitComeInInTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(2)
		var in []int
		done := make(chan struct{})
		for i := range 10 {
			go func() {
				if err := g.enter(t.Context()); err != nil {
					t.Error(err)
				}
				in = append(in, i)
				<-done
				g.leave()
			}()
			synctest.Wait() // the next one comes later
		}
		if len(in) != 2 {
			t.Errorf("%d are in, and there is room for 2", len(in))
		}
		for range 10 {
			done <- struct{}{}
			synctest.Wait()
		}
		if !slices.Equal(in, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) {
			t.Errorf("they came in as %v", in)
		}
	})
}

func TestNobodyWaitsForLongerThanTheContext(t *testing.T) {
	g := newGate(1)
	if err := g.enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := g.enter(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	g.leave()
	if err := g.enter(t.Context()); err != nil {
		t.Errorf("the place was lost: %v", err)
	}
}

func TestWithoutALimitNobodyWaits(t *testing.T) {
	g := newGate(0)
	for range 100 {
		if err := g.enter(t.Context()); err != nil {
			t.Error(err)
		}
	}
	g.leave()
}
