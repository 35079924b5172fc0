package wakeup

import (
	"testing"
	"time"
)

func TestOnlyOneWayPolls(t *testing.T) {
	config := Config{Erasures: 300, Polled: 5}
	for i, want := range []int{300, 300, 5} {
		if got := config.erasures(Ways[i]); got != want {
			t.Errorf("%s: %d erasures, want %d", Ways[i].Title, got, want)
		}
	}
	config.Poll = time.Second
	for i, want := range []time.Duration{never, never, time.Second} {
		m := &measurement{Config: config, way: Ways[i]}
		if got := m.config(nil).PollInterval; got != want || m.way.polls && m.way.listens {
			t.Errorf("%s: polls every %v, want %v", m.way.Title, got, want)
		}
	}
}
