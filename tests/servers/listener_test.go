package servers

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"

	pgxdriver "github.com/jackc/pgx/v5"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/pgxlisten"
	"github.com/habeas-data/habeas/internal/tests/postgres"
)

func TestAListenerNoticesThatItListensThroughAProxy(t *testing.T) {
	database := postgres.NewDatabase(t)
	proxy := startBouncer(t, database, 4)
	for url, want := range map[string]int{database: 0, proxy.through(t, database): 1} {
		var log syncedLog
		connected := make(chan struct{}, 10)
		config, err := pgxdriver.ParseConfig(url)
		must(t, err)
		listener, err := pgxlisten.New(config, func() { connected <- struct{}{} },
			pgxlisten.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		must(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { listener.Run(ctx) })
		<-connected
		cancel()
		running.Wait()
		if got := strings.Count(log.String(), "goes through a proxy"); got != want {
			t.Errorf("the log says so %d times, want %d:\n%s", got, want, log.String())
		}
	}
}

type syncedLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *syncedLog) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *syncedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
