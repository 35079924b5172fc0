package bunstore

import (
	"sync"
	"testing"
	"testing/synctest"
)

func TestNotificationsThatComeTogetherAreOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n notifier
		sent, release := 0, make(chan struct{})
		notify := func() {
			sent++
			<-release
		}
		n.request(notify)
		synctest.Wait() // the first one is on its way
		var commits sync.WaitGroup
		for range 100 {
			commits.Go(func() { n.request(notify) })
		}
		commits.Wait()
		release <- struct{}{}
		synctest.Wait()
		if sent != 2 {
			t.Errorf("101 commits were told of by %d notifications, want 2", sent)
		}
		release <- struct{}{}
		synctest.Wait()
		n.request(notify)
		release <- struct{}{}
		synctest.Wait()
		if sent != 3 {
			t.Errorf("a later commit was told of by %d notifications", sent-2)
		}
	})
}
