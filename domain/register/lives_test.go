package register_test

import (
	"context"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain/lives"
	"github.com/habeas-data/habeas/domain/request"
	"github.com/habeas-data/habeas/ports"
)

func TestTheNextPersonWithTheIDGetsNoRequestOfTheFormer(t *testing.T) {
	for name, tell := range map[string]bool{"the register is told": true, "the register is not told": false} {
		w := newWorld(t)
		former, _ := w.open(t, request.Access)
		w.do(t, func(ctx context.Context, s ports.Session) error {
			if tell {
				check(t, w.Registered(ctx, s, w.zoe.ID))
			}
			return lives.Register(ctx, s, w.zoe.ID, noon)
		})
		own, isNew := w.open(t, request.Access)
		if !isNew || own.Number == former.Number {
			t.Errorf("%s: the next person gets the request of the former", name)
		}
		if of := w.find(t, former.Number); of.State != request.Withdrawn || of.StateReason != "earlier_life" {
			t.Errorf("%s: the request of the former is %s (%s)", name, of.State, of.StateReason)
		}
	}
}

func TestAnErasureOfTheNextPersonIsARequestOfItsOwn(t *testing.T) {
	w := newWorld(t)
	former, _ := w.open(t, request.Erasure)
	w.clock.Advance(time.Hour)
	w.do(t, func(ctx context.Context, s ports.Session) error { return lives.Register(ctx, s, w.zoe.ID, noon) })
	if result := must(w.erase(t))(t); result.Request == "" || result.Request == string(former.Number) {
		t.Errorf("the erasure has the number of the former person: %v", result.Request != "")
	}
}
