package servers

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/postgres"
	"github.com/habeas-data/habeas/ports"
)

// crowd runs many clients that record and read consents concurrently through a proxy. The clients share the few
// connections of the proxy to the server. crowd returns the errors of the clients.
func crowd(t *testing.T, mode string) []error {
	t.Helper()
	database := postgres.NewDatabase(t)
	must(t, bunstore.Migrate(t.Context(), pgx.Open(t, database), bunstore.Options{}))
	parameters := []string{"default_query_exec_mode", mode}
	if mode == "" {
		parameters = nil
	}
	const clients, rounds = 24, 30
	db := pgx.Open(t, startBouncer(t, database, 4).through(t, database, parameters...))
	db.SetMaxOpenConns(clients)
	db.SetMaxIdleConns(clients)
	store, err := bunstore.New(db, people(t), bunstore.Options{})
	must(t, err)
	var mu sync.Mutex
	var failed []error
	var work sync.WaitGroup
	for client := range clients {
		work.Go(func() {
			for round := range rounds {
				if err := visit(t.Context(), store, client, round); err != nil {
					mu.Lock()
					failed = append(failed, err)
					mu.Unlock()
				}
			}
		})
	}
	work.Wait()
	return failed
}

var errOther = errors.New("the response is about something else")

// visit records a consent and reads the consents of the same subject.
func visit(ctx context.Context, store *bunstore.Store, client, round int) error {
	id, err := domain.NewSubjectID(strconv.Itoa(client))
	if err != nil {
		return err
	}
	purpose := "purpose " + strconv.Itoa(client)
	return errors.Join(
		store.Do(ctx, func(ctx context.Context, s ports.Session) error {
			return s.Consents().Append(ctx, domain.ConsentRecord{
				SubjectID: id, Purpose: purpose, PolicyVersion: strconv.Itoa(round), Granted: true, RecordedAt: time.Now(),
				Source: "test",
			})
		}),
		store.Do(ctx, func(ctx context.Context, s ports.Session) error {
			history, err := s.Consents().History(ctx, id, purpose)
			if err != nil {
				return err
			}
			for _, record := range history {
				if record.Purpose != purpose {
					return errOther
				}
			}
			_, err = s.Restrictions().History(ctx, id, nil)
			return err
		}),
	)
}

func people(t testing.TB) datamap.DataMap {
	t.Helper()
	dataMap, err := datamap.NewDataMap(datamap.Table{
		Name: "people", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{{Name: "id", Type: datamap.TypeBigInt}},
	})
	must(t, err)
	return dataMap
}

func TestTheAdvisedModesWorkBehindAProxy(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			if failed := crowd(t, mode); len(failed) > 0 {
				t.Errorf("%d visits failed, the first by %v", len(failed), failed[0])
			}
		})
	}
}

// The proxy uses transaction pooling: each transaction may use another connection to the server. These modes of pgx
// then fail. At least one error must name the setting that avoids the failure.
func TestTheOtherModesFailBehindAProxyAndSayWhatToSet(t *testing.T) {
	for _, mode := range []string{"", "describe_exec"} {
		t.Run("mode "+mode, func(t *testing.T) {
			failed := crowd(t, mode)
			if len(failed) == 0 {
				t.Fatal("every visit succeeded: the proxy did not share connections")
			}
			advised := 0
			for _, err := range failed {
				if strings.Contains(err.Error(), "default_query_exec_mode=exec") {
					advised++
				} else {
					t.Log(err)
				}
			}
			if advised == 0 {
				t.Errorf("no error says what to set; the first is %v", failed[0])
			}
			t.Logf("%d of %d visits failed, %d with advice", len(failed), 24*30, advised)
		})
	}
}
