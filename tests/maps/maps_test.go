package maps

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/journal"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

// operations are all operations of an Integration that change something, in an order in which each has work to do.
var operations = []struct {
	name string
	run  func(t *testing.T, gdpr *app.Integration, subject domain.Subject)
}{
	{"a consent", func(t *testing.T, gdpr *app.Integration, subject domain.Subject) {
		do(t, gdpr, func(ctx context.Context, s ports.Session) error {
			_, err := gdpr.Stack().Consent.Record(ctx, s, subject.ID, domain.ConsentDecision{
				Purpose: "news", PolicyVersion: "1", Granted: true, Source: "test",
			})
			return err
		})
	}},
	{"a restriction", func(t *testing.T, gdpr *app.Integration, subject domain.Subject) {
		do(t, gdpr, func(ctx context.Context, s ports.Session) error {
			reason := "disputed"
			_, err := gdpr.Stack().Restriction.Record(ctx, s, subject.ID, domain.RestrictionDecision{
				Restricted: true, Reason: &reason, Source: "test",
			})
			return err
		})
	}},
	{"an export", func(t *testing.T, gdpr *app.Integration, subject domain.Subject) {
		var bundle bytes.Buffer
		_, err := gdpr.Operator().Export(t.Context(), subject, &bundle)
		must(t, err)
	}},
	{"a rectification", func(t *testing.T, gdpr *app.Integration, subject domain.Subject) {
		do(t, gdpr, func(ctx context.Context, s ports.Session) error {
			_, err := gdpr.Stack().Rectifier.RectifySubject(ctx, s, subject, domain.Corrections{
				domain.CategoryContact: "corrected",
			})
			return err
		})
	}},
	{"a rehearsal", func(t *testing.T, gdpr *app.Integration, subject domain.Subject) {
		_, err := gdpr.Operator().Rehearse(t.Context(), subject)
		must(t, err)
	}},
	{"an erasure", func(t *testing.T, gdpr *app.Integration, subject domain.Subject) {
		_, err := gdpr.Operator().Erase(t.Context(), subject)
		must(t, err)
	}},
	{"a batch of the worker", func(t *testing.T, gdpr *app.Integration, _ domain.Subject) {
		settled, err := gdpr.Stack().Runner.RunOnce(t.Context())
		must(t, err)
		if settled == 0 {
			t.Error("the outbox had no entry")
		}
	}},
	{"a requeue", func(t *testing.T, gdpr *app.Integration, _ domain.Subject) {
		_, err := gdpr.Operator().RequeueMatching(t.Context(), domain.OutboxFilter{Resolver: "desk"}, 100)
		must(t, err)
	}},
	{"a verification", func(t *testing.T, gdpr *app.Integration, subject domain.Subject) {
		_, err := gdpr.Operator().Verify(t.Context(), subject.ID)
		must(t, err)
	}},
	{"the background verification", func(t *testing.T, gdpr *app.Integration, _ domain.Subject) {
		_, _, err := gdpr.Stack().Verifier.RunOnce(t.Context(), 0)
		must(t, err)
	}},
	{"a sweep", func(t *testing.T, gdpr *app.Integration, _ domain.Subject) {
		_, err := gdpr.Operator().Sweep(t.Context(), nil)
		must(t, err)
	}},
	{"a replay", func(t *testing.T, gdpr *app.Integration, _ domain.Subject) {
		var lines bytes.Buffer
		_, err := gdpr.Operator().Journal(t.Context(), &lines, journal.From{})
		must(t, err)
		_, err = gdpr.Operator().Replay(t.Context(), &lines, app.ReplayOptions{})
		must(t, err)
	}},
	{"a purge", func(t *testing.T, gdpr *app.Integration, _ domain.Subject) {
		_, err := gdpr.Operator().Purge(t.Context())
		must(t, err)
	}},
	{"a migration", func(t *testing.T, gdpr *app.Integration, _ domain.Subject) { must(t, gdpr.Migrate(t.Context())) }},
	{"a renewed installation", func(t *testing.T, gdpr *app.Integration, _ domain.Subject) {
		_, err := gdpr.Operator().RenewInstallation(t.Context())
		must(t, err)
	}},
}

// Each operation runs with the same id in both data maps. The operation of one data map changes nothing that the other
// one shows, and none of its rows.
func TestTwoDataMapsShareNothing(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		w := newWorld(t, db)
		id := subject(t, "1")
		for _, operation := range operations {
			for _, of := range []struct {
				acting, other *app.Integration
				tables        []string
			}{{w.shop, w.people, []string{"employees"}}, {w.people, w.shop, []string{"customers", "invoices"}}} {
				before, rows := seen(t, of.other), w.rows(t, of.tables...)
				operation.run(t, of.acting, id)
				unchanged(t, operation.name, before, seen(t, of.other))
				if now := w.rows(t, of.tables...); now != rows {
					t.Errorf("%s of the other data map changed rows: %s, and before: %s", operation.name, now, rows)
				}
			}
		}
		for _, gdpr := range []*app.Integration{w.shop, w.people} {
			shown := seen(t, gdpr)
			if !strings.Contains(shown["known 1"], `"Life":"ended"`) || !strings.Contains(shown["known 2"], `"Life":""`) {
				t.Errorf("after the erasures, the subjects are %s and %s", shown["known 1"], shown["known 2"])
			}
		}
	})
}

// rows returns the rows of tables of the application as a text.
func (w *world) rows(t *testing.T, tables ...string) string {
	t.Helper()
	var all strings.Builder
	for _, table := range tables {
		var rows []map[string]any
		must(t, w.db.NewSelect().Table(table).Order("id").Scan(t.Context(), &rows))
		for _, row := range rows {
			for _, column := range []string{"id", "email", "address", "name", "phone"} {
				if value, ok := row[column]; ok {
					fmt.Fprintf(&all, "%s=%s ", column, value)
				}
			}
		}
	}
	return all.String()
}

// An installation that belongs to another data map refuses the first session, before it reads or writes anything.
func TestADataMapOfOtherPeopleIsRefused(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		w := newWorld(t, db)
		id := subject(t, "1")
		operations[0].run(t, w.shop, id)
		before := seen(t, w.shop)
		for name, use := range map[string]func(wrong *app.Integration) error{
			"Migrate": func(wrong *app.Integration) error { return wrong.Migrate(t.Context()) },
			"Erase":   func(wrong *app.Integration) error { _, err := wrong.Operator().Erase(t.Context(), id); return err },
			"Trail":   func(wrong *app.Integration) error { _, err := wrong.Operator().Trail(t.Context(), id.ID); return err },
			"Known": func(wrong *app.Integration) error {
				_, err := wrong.Operator().SubjectState(t.Context(), id.ID)
				return err
			},
			"Export": func(wrong *app.Integration) error {
				_, err := wrong.Operator().Export(t.Context(), id, &bytes.Buffer{})
				return err
			},
			"Status": func(wrong *app.Integration) error { _, err := wrong.Operator().Status(t.Context()); return err },
			"Consents": func(wrong *app.Integration) error {
				_, err := wrong.Operator().Consents(t.Context(), id.ID)
				return err
			},
			"Journal": func(wrong *app.Integration) error {
				_, err := wrong.Operator().Journal(t.Context(), &bytes.Buffer{}, journal.From{})
				return err
			},
			"RunOnce": func(wrong *app.Integration) error {
				_, err := wrong.Stack().Runner.RunOnce(t.Context())
				return err
			},
			"Find": func(wrong *app.Integration) error {
				_, err := wrong.Operator().Find(t.Context(), []string{"example.org"}, nil)
				return err
			},
			"a consent": func(wrong *app.Integration) error {
				return wrong.Sessions().Do(t.Context(), func(ctx context.Context, s ports.Session) error {
					_, err := wrong.Stack().Consent.Record(ctx, s, id.ID, domain.ConsentDecision{
						Purpose: "news", PolicyVersion: "1", Source: "test",
					})
					return err
				})
			},
			"a consent status": func(wrong *app.Integration) error {
				return wrong.Sessions().Do(t.Context(), func(ctx context.Context, s ports.Session) error {
					_, err := wrong.Stack().Consent.Status(ctx, s, id.ID, "news")
					return err
				})
			},
		} {
			var foreign *datamap.ForeignMapError
			err := use(newIntegration(t, db, employees, ""))
			if !errors.As(err, &foreign) || !errors.Is(err, domain.ErrConfiguration) {
				t.Errorf("%s: got %v", name, err)
				continue
			}
			for _, part := range []string{"customers (id bigint)", "employees (id bigint)", "Config.Name", "--accept-map"} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%s: the error does not say %s: %v", name, part, err)
				}
			}
		}
		rehearsal, err := newIntegration(t, db, employees, "").Operator().Rehearse(t.Context(), id)
		must(t, err)
		if rehearsal.Refused == nil || !strings.Contains(rehearsal.Refused.Message, "employees (id bigint)") {
			t.Errorf("the rehearsal is %+v", rehearsal)
		}
		unchanged(t, "refused calls", before, seen(t, w.shop))
	})
}

// A data map counts as recorded after the commit of a session. Rehearsals and sessions that read do not record it.
func TestTheFirstCommittedSessionRecordsTheDataMap(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		w := newWorld(t, db)
		id := subject(t, "1")
		undone := errors.New("undone")
		rolledBack := w.shop.Sessions().Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			_, err := s.Subjects().Lock(ctx, id.ID, time.Now())
			return errors.Join(err, undone)
		})
		if !errors.Is(rolledBack, undone) {
			t.Fatal(rolledBack)
		}
		_, err := w.shop.Operator().Rehearse(t.Context(), id)
		must(t, err)
		_, err = w.shop.Operator().Trail(t.Context(), id.ID)
		must(t, err)
		found, err := w.shop.Operator().Installation(t.Context())
		must(t, err)
		if found.SubjectTable != "" || found.ID == "" {
			t.Errorf("before the first committed session, the installation is %+v", found)
		}
		operations[0].run(t, newIntegration(t, db, employees, ""), id)
		_, err = newIntegration(t, db, customers, "").Operator().Erase(t.Context(), id)
		if !errors.Is(err, domain.ErrConfiguration) {
			t.Errorf("got %v", err)
		}
		_, err = w.people.Operator().Installation(t.Context())
		must(t, err)
	})
}

// Renamed is the table of customers under another name, with a key of another type.
type Renamed struct {
	bun.BaseModel `bun:"table:clients"`
	ID            int64  `bun:"id,pk" subject:"id"`
	Email         string `bun:"email" pii:"contact,erasure:anonymize"`
}

func TestARenamedTableIsAccepted(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		w := newWorld(t, db)
		id := subject(t, "1")
		operations[0].run(t, w.shop, id)
		databases.Execute(t, db, "ALTER TABLE customers RENAME TO clients")
		renamed := newIntegration(t, db, []any{(*Renamed)(nil)}, "")
		if err := renamed.Migrate(t.Context()); !errors.Is(err, domain.ErrConfiguration) {
			t.Errorf("got %v", err)
		}
		before, err := renamed.Operator().AcceptMap(t.Context())
		must(t, err)
		if before.Key() != "customers (id bigint)" {
			t.Errorf("before, the tables belonged to %s", before.Key())
		}
		must(t, newIntegration(t, db, []any{(*Renamed)(nil)}, "").Migrate(t.Context()))
		consents, err := renamed.Operator().Consents(t.Context(), id.ID)
		must(t, err)
		if len(consents.Consents) != 1 {
			t.Errorf("the consents are %+v", consents)
		}
	})
}

// While a first session is open, other first sessions of its data map do not wait for it. A session of another data map
// is refused.
func TestFirstSessionsDoNotWaitForEachOther(t *testing.T) {
	db := databases.PostgreSQL(t)
	w := newWorld(t, db)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second) // fails the test if a session waits
	defer cancel()
	must(t, w.shop.Sessions().Do(t.Context(), func(inner context.Context, s ports.Session) error {
		if _, err := s.Subjects().Lock(inner, subject(t, "1").ID, time.Now()); err != nil {
			return err
		}
		_, err := newIntegration(t, db, customers, "").Operator().Erase(ctx, subject(t, "2"))
		must(t, err)
		_, err = newIntegration(t, db, employees, "").Operator().Erase(ctx, subject(t, "2"))
		if !errors.Is(err, domain.ErrConflict) {
			t.Errorf("another data map got %v", err)
		}
		return nil
	}))
	found, err := w.shop.Operator().Installation(ctx)
	must(t, err)
	if found.Key() != "customers (id bigint)" {
		t.Errorf("the tables belong to %s", found.Key())
	}
	do(t, w.shop, func(ctx context.Context, s ports.Session) error {
		trail, err := s.Audit().Trail(ctx, subject(t, "2").ID)
		if len(trail) != 5 {
			t.Errorf("the trail of the other subject has %d events", len(trail))
		}
		return err
	})
}

// A session locks the ledgers of a subject until it ends. The ledgers of another data map are not among them, although
// its subject has the same id.
func TestTheLedgersOfTwoDataMapsHaveLocksOfTheirOwn(t *testing.T) {
	w := newWorld(t, databases.PostgreSQL(t))
	id := subject(t, "1").ID
	record := func(ctx context.Context, s ports.Session) error {
		err := s.Consents().Append(ctx, domain.ConsentRecord{
			SubjectID: id, Purpose: "news", PolicyVersion: "1", Granted: true, RecordedAt: time.Now(), Source: "test",
		})
		if err != nil {
			return err
		}
		_, err = s.Consents().History(ctx, id, "news") // sends the record, and so locks the ledger
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second) // fails the test if a session waits
	defer cancel()
	must(t, w.shop.Sessions().Do(t.Context(), func(inner context.Context, s ports.Session) error {
		if err := record(inner, s); err != nil {
			return err
		}
		return w.people.Sessions().Do(ctx, record)
	}))
}
