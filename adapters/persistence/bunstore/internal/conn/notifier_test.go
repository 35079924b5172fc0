package conn

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestConcurrentNotificationsAreSentOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n Notifier
		start := time.Now()
		var sent []time.Duration // since the start
		notify := func() {
			sent = append(sent, time.Since(start))
			time.Sleep(time.Millisecond)
		}
		n.Request(notify)
		synctest.Wait() // the first notification is in progress
		var commits sync.WaitGroup
		for range 100 {
			commits.Go(func() { n.Request(notify) })
		}
		commits.Wait()
		time.Sleep(5 * time.Millisecond)
		n.Request(notify) // while the next notification is delayed
		time.Sleep(time.Second)
		n.Request(notify)
		time.Sleep(time.Second)
		synctest.Wait()
		want := []time.Duration{0, time.Millisecond + notifyInterval, time.Second + 5*time.Millisecond}
		if !slices.Equal(sent, want) {
			t.Errorf("notified at %v, want %v", sent, want)
		}
	})
}
