package crash_test

import (
	"context"
	"database/sql"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // driver "pgx"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"
	_ "modernc.org/sqlite" // driver "sqlite"

	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/postgres"
	"github.com/habeas-data/habeas/internal/tests/shop"
)

const (
	rounds    = 6
	customers = 60 // in each round
	parcels   = 20 // of each customer
	clients   = 4
)

func TestAKilledServerLeavesEachSubjectWhollyErasedOrUntouched(t *testing.T) {
	for name, source := range map[string]func(t *testing.T) string{
		"SQLite":     func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "crash.db") },
		"PostgreSQL": func(t *testing.T) string { return postgres.NewDatabase(t) },
	} {
		t.Run(name, func(t *testing.T) {
			database := source(t)
			db, err := open(database)
			must(t, err)
			defer func() { _ = db.Close() }()
			shop.Open(t, db, shop.Models)
			erased := 0
			for round := range rounds {
				erased += killInTheMiddle(t, db, database, round)
			}
			if erased == 0 || erased == rounds*customers {
				t.Errorf("%d of %d subjects were erased: no kill came in the middle", erased, rounds*customers)
			}
		})
	}
}

// killInTheMiddle kills the server while clients record consents and erase customers. The number of responses before
// the kill differs in each round. killInTheMiddle returns the number of erased customers among the customers of the
// round.
func killInTheMiddle(t *testing.T, db *bun.DB, database string, round int) (erased int) {
	t.Helper()
	first := round * customers
	for i := range customers {
		id := int64(first + i + 1)
		databases.Insert(t, db, &shop.Customer{ID: id, Email: shop.Email(id), Plan: "free"})
		shop.AddParcels(t, db, id, parcels)
	}

	server, address := start(t, database)
	killAfter := int64(3 + round*17%(customers))
	var answers atomic.Int64
	kill := sync.OnceFunc(func() { _ = server.Process.Kill() }) // SIGKILL
	var work sync.WaitGroup
	for client := range clients {
		work.Go(func() {
			for i := client; i < customers; i += clients {
				id := int64(first + i + 1)
				if !request(address, id, http.MethodPost, "/me/consent") || !request(address, id, http.MethodDelete, "/me") {
					return // the server is dead
				}
				if answers.Add(1) >= killAfter {
					kill()
				}
			}
		})
	}
	work.Wait()
	kill()
	_ = server.Wait()

	for i := range customers {
		if checkAllOrNothing(t, db, int64(first+i+1)) {
			erased++
		}
	}
	return erased
}

// request reports whether the server has responded with status 200.
func request(address string, id int64, method, path string) bool {
	body := strings.NewReader(`{"purpose":"newsletter","policy_version":"1","granted":true}`)
	r, err := http.NewRequestWithContext(context.Background(), method, "http://"+address+path, body)
	if err != nil {
		return false
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Customer", strconv.FormatInt(id, 10))
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	return err == nil && response.StatusCode == http.StatusOK
}

var wholeErasure = []string{
	"erasure_requested", "erasure_step_succeeded", "erasure_step_succeeded", "erasure_local_completed",
}

// checkAllOrNothing fails the test if the database has only a part of the erasure of the subject. It reports whether
// the subject is erased.
func checkAllOrNothing(t *testing.T, db *bun.DB, id int64) bool {
	t.Helper()
	ctx, key := context.Background(), strconv.FormatInt(id, 10)
	oneSnapshot := &sql.TxOptions{} // PostgreSQL may still commit a statement of the dead server
	if db.Dialect().Name() == dialect.PG {
		oneSnapshot.Isolation = sql.LevelRepeatableRead
	}
	tx, err := db.BeginTx(ctx, oneSnapshot)
	must(t, err)
	defer func() { _ = tx.Rollback() }()
	var customer shop.Customer
	must(t, tx.NewSelect().Model(&customer).Where("id = ?", id).Scan(ctx))
	left, err := tx.NewSelect().Model((*shop.Parcel)(nil)).Where("customer_id = ?", id).Count(ctx)
	must(t, err)
	entries, err := tx.NewSelect().Table("habeas_outbox").Where("subject_id = ?", key).Count(ctx)
	must(t, err)
	var consents int
	must(t, tx.NewSelect().Table("habeas_consent_records").ColumnExpr("count(*)").Where("subject_id = ?", key).
		Scan(ctx, &consents))
	var events []string
	must(t, tx.NewSelect().Table("habeas_audit_events").Column("event_type").Where("subject_ref = ?", key).
		Order("seq").Scan(ctx, &events))
	decided := len(events)
	events = slices.DeleteFunc(events, func(event string) bool { return strings.HasPrefix(event, "consent_") })
	decided -= len(events) // the number of consent events that are left

	untouched := left == parcels && customer.Email == shop.Email(id) && entries == 0 && len(events) == 0
	erased := left == 0 && customer.Email != shop.Email(id) && entries == 1 && slices.Equal(events, wholeErasure)
	if !untouched && !erased || decided != consents {
		t.Errorf("%d parcels, %d outbox entries, %d consents with %d events, erasure events %v",
			left, entries, consents, decided, events)
	}
	return erased
}
