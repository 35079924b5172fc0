package servers

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/extra/bunexp"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/shop"
	"github.com/habeas-data/habeas/ports"
)

// integrate adds habeas to the database c.DB. If c.ReadDB is set, exports read from this replica.
func integrate(t *testing.T, c app.Config) *app.Integration {
	t.Helper()
	c.Models = shop.Models
	gdpr, err := app.New(c)
	must(t, err)
	return gdpr
}

func opened(t *testing.T, database string) *bun.DB {
	t.Helper()
	db, err := open(database)
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// lag pauses the replication to the standby, so that the standby does not show new commits. The pause ends after a call
// of resume, or at the end of the test.
func (p *pair) lag(t *testing.T) (resume func()) {
	t.Helper()
	scalar(t, p.standby.URL(), "SELECT pg_wal_replay_pause()")
	await(t, time.Minute, "a standby that pauses", func() bool {
		return scalar(t, p.standby.URL(), "SELECT pg_get_wal_replay_pause_state()") == "paused"
	})
	resume = sync.OnceFunc(func() { scalar(t, p.standby.URL(), "SELECT pg_wal_replay_resume()") })
	t.Cleanup(resume)
	return resume
}

// catchUp waits until the standby shows all commits that the primary has made so far.
func (p *pair) catchUp(t *testing.T) {
	t.Helper()
	position := scalar(t, p.primary.URL(), "SELECT pg_current_wal_lsn()::text")
	await(t, time.Minute, "a standby that has caught up", func() bool {
		return scalar(t, p.standby.URL(), "SELECT (pg_last_wal_replay_lsn() >= '"+position+"')::text") == "true"
	})
}

func subject(t *testing.T, id int64) domain.Subject {
	t.Helper()
	s, err := domain.NewSubject(strconv.FormatInt(id, 10))
	must(t, err)
	return s
}

// exported returns the email address and the postal addresses in an export, with "erased" for erased values.
func exported(t *testing.T, gdpr *app.Integration, id int64) []string {
	t.Helper()
	var texts []string
	must(t, gdpr.Stack().Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		bundle, err := gdpr.Stack().Exporter.Export(ctx, s, subject(t, id))
		texts = nil
		for _, record := range bundle.Records {
			if record.Field == "email" || record.Field == "address" {
				text, _ := record.Value.(string)
				if record.Erased {
					text = "erased"
				}
				texts = append(texts, text)
			}
		}
		return err
	}))
	return texts
}

func TestAnExportReadsTheReplicaUnlessItMissesAnErasure(t *testing.T) {
	servers := startPair(t)
	seed(t, servers.primary.URL())
	servers.catchUp(t)
	primary := opened(t, servers.primary.URL())
	gdpr := integrate(t, app.Config{DB: primary, ReadDB: opened(t, servers.standby.URL())})
	before := exported(t, gdpr, 1)
	if len(before) != 1+parcels || before[0] != "c1@example.org" {
		t.Fatalf("the export holds %q", before)
	}

	resume := servers.lag(t)
	_, err := primary.ExecContext(t.Context(), "INSERT INTO parcels (customer_id, address) VALUES (1, 'new'), (2, 'new')")
	must(t, err)
	if now := exported(t, gdpr, 1); !slices.Equal(now, before) {
		t.Errorf("the export holds %q: it was not read from the replica", now)
	}
	_, err = gdpr.Operator().Erase(t.Context(), subject(t, 1))
	must(t, err)
	if stale := scalar(t, servers.standby.URL(), "SELECT email FROM customers WHERE id = 1"); stale != before[0] {
		t.Fatalf("the replica has %q already: the test proves nothing", stale)
	}
	if now := exported(t, gdpr, 1); !slices.Equal(now, []string{"erased"}) {
		t.Errorf("after the erasure the export holds %q", now)
	}
	if other := exported(t, gdpr, 2); len(other) != 1+parcels {
		t.Errorf("the export of another subject holds %q: it was not read from the replica", other)
	}
	completed := "SELECT count(*)::text FROM habeas_audit_events WHERE event_type = 'export_completed'"
	if n := scalar(t, servers.primary.URL(), completed); n != "4" {
		t.Errorf("the primary has the events of %s exports, want 4", n)
	}

	resume()
	servers.catchUp(t)
	if now := exported(t, gdpr, 2); len(now) != 2+parcels {
		t.Errorf("once the replica has caught up the export holds %q", now)
	}
	must(t, servers.standby.Stop())
	scalar(t, servers.primary.URL(), "ALTER SYSTEM SET synchronous_standby_names = ''")
	scalar(t, servers.primary.URL(), "SELECT pg_reload_conf()::text")
	if now := exported(t, gdpr, 2); len(now) != 2+parcels {
		t.Errorf("without the replica the export holds %q", now)
	}
}

func TestABunResolverDoesNotLeadHabeasToAReplica(t *testing.T) {
	servers := startPair(t)
	seed(t, servers.primary.URL())
	servers.catchUp(t)
	servers.lag(t)
	primary, replica := opened(t, servers.primary.URL()), opened(t, servers.standby.URL())
	resolving := bun.NewDB(primary.DB, pgdialect.New(),
		bun.WithConnResolver(bunexp.NewReadWriteConnResolver(bunexp.WithDBReplica(replica.DB))))
	gdpr := integrate(t, app.Config{DB: resolving})
	must(t, gdpr.Stack().Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		_, err := gdpr.Stack().Consent.Record(ctx, s, subject(t, 1).ID, domain.ConsentDecision{
			Purpose: "newsletter", PolicyVersion: "1", Granted: true, Source: "test",
		})
		return err
	}))
	must(t, gdpr.Stack().Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		status, err := gdpr.Stack().Consent.Status(ctx, s, subject(t, 1).ID, "newsletter")
		if !status.Granted {
			t.Error("the consent was read from the replica")
		}
		return err
	}))
	_, err := gdpr.Operator().Erase(t.Context(), subject(t, 1))
	must(t, err)
	if now := exported(t, gdpr, 1); !slices.Equal(now, []string{"erased"}) {
		t.Errorf("after the erasure the export holds %q", now)
	}
	var stale shop.Customer
	must(t, resolving.NewSelect().Model(&stale).Where("id = 1").Scan(t.Context()))
	if stale.Email != "c1@example.org" {
		t.Errorf("the application's own query has %q: the resolver does nothing, and the test proves nothing", stale.Email)
	}
}
