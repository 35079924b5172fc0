package turns_test

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/habeas-data/habeas/internal/turns"
)

func TestTurnsAreTakenInFIFOOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p turns.Turns
		var in []int
		done := make(chan struct{})
		for i := range 5 {
			go func() {
				leave, err := p.Enter(t.Context(), "1")
				if err != nil {
					t.Error(err)
					return
				}
				in = append(in, i)
				<-done
				leave()
			}()
			synctest.Wait()
		}
		leave, err := p.Enter(t.Context(), "2") // another key is free
		if err != nil || len(in) != 1 {
			t.Errorf("%d are in, %v", len(in), err)
		}
		leave()
		for range 5 {
			done <- struct{}{}
			synctest.Wait()
		}
		if !slices.Equal(in, []int{0, 1, 2, 3, 4}) || p.Keys() > 0 {
			t.Errorf("they came in as %v, and %d places are left", in, p.Keys())
		}
	})
}
