package app_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/journal"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/internal/tests/shop"
)

var paid = time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)

// shelf is a journal in memory that sends a signal for each call of Append.
type shelf struct {
	mu    sync.Mutex
	text  []byte
	calls chan string
}

func (*shelf) Name() string { return "shelf" }

func (s *shelf) Append(_ context.Context, lines []byte) error {
	s.mu.Lock()
	s.text = append(s.text, lines...)
	s.mu.Unlock()
	s.calls <- string(lines)
	return nil
}

func (s *shelf) Open(context.Context) (io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return io.NopCloser(bytes.NewReader(s.text)), nil
}

// newCustomers returns an integration with customers 1 to 3. Each customer has an invoice.
func newCustomers(t *testing.T, c app.Config) (*app.Integration, *bun.DB) {
	t.Helper()
	c.DB, c.Models = databases.SQLite(t), shop.WithInvoices
	shop.Open(t, c.DB, shop.WithInvoices)
	shop.AddCustomers(t, c.DB, 3, 0)
	for id := range int64(3) {
		databases.Insert(t, c.DB, &shop.Invoice{CustomerID: id + 1, Address: "Main Street", IssuedAt: paid})
	}
	gdpr, err := app.New(c)
	must(t, err)
	return gdpr, c.DB
}

func eraseCustomer(t *testing.T, gdpr *app.Integration, id string) {
	t.Helper()
	subject := fixture.MustSubject(t, id)
	_, err := gdpr.Operator().Erase(t.Context(), subject)
	must(t, err)
}

// addresses returns the number of invoices whose address is retained.
func addresses(t *testing.T, db *bun.DB) int {
	t.Helper()
	var count int // Count returns int or int64, depending on the version of bun
	query := db.NewSelect().Table("invoices").ColumnExpr("count(*)").Where("address = 'Main Street'")
	must(t, query.Scan(t.Context(), &count))
	return count
}

func TestTheWorkerSweepsAndWritesTheJournal(t *testing.T) {
	clock, journal := fixture.NewClock(paid.AddDate(0, 1, 0)), &shelf{calls: make(chan string, 9)}
	gdpr, db := newCustomers(t, app.Config{
		Clock: clock, SweepInterval: 24 * time.Hour, Journal: journal, JournalInterval: time.Millisecond,
		PollInterval: time.Hour,
	})
	eraseCustomer(t, gdpr, "1")
	gdpr.Worker().Start()
	if line := <-journal.calls; !strings.HasPrefix(line, `{"v":2,"installation":"`) ||
		!strings.HasSuffix(line, `,"number":1,"after":0,"subject":["1"],"erased_at":"2024-04-01T12:00:00Z"}`+"\n") {
		t.Errorf("the journal has %s", line)
	}
	eraseCustomer(t, gdpr, "2")
	if line := <-journal.calls; !strings.Contains(line, `"number":2,"after":1,"subject":["2"]`) {
		t.Errorf("the journal has %s", line)
	}
	must(t, gdpr.Worker().Stop(time.Minute))
	if kept := addresses(t, db); kept != 3 {
		t.Errorf("before the end of the retention, %d addresses are kept", kept)
	}
	clock.Set(paid.AddDate(10, 0, 1))
	gdpr.Worker().Start()
	eventually(t, func() bool { return addresses(t, db) == 1 })
	must(t, gdpr.Worker().Stop(time.Minute))
}

// eventually polls until the condition is true. It fails if that takes too long.
func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the condition is still false")
		}
	}
}

func TestAnIntegrationSweepsAndReplays(t *testing.T) {
	clock := fixture.NewClock(paid.AddDate(0, 1, 0))
	gdpr, db := newCustomers(t, app.Config{Clock: clock})
	eraseCustomer(t, gdpr, "1")
	clock.Set(paid.AddDate(10, 0, 1))
	for what, sweep := range map[string]func(context.Context, func(domain.SweepReport)) (domain.SweepReport, error){
		"a rehearsal": gdpr.Operator().RehearseSweep, "another": gdpr.Operator().RehearseSweep,
	} {
		report, err := sweep(t.Context(), nil)
		if err != nil || report.Rows["invoices"] != 1 || addresses(t, db) != 3 {
			t.Errorf("%s: got %+v, %v", what, report, err)
		}
	}
	report, err := gdpr.Operator().Sweep(t.Context(), nil)
	if err != nil || report.Rows["invoices"] != 1 || addresses(t, db) != 2 {
		t.Errorf("got %+v, %v", report, err)
	}

	var lines bytes.Buffer
	if n, err := gdpr.Operator().Journal(t.Context(), &lines, journal.From{}); err != nil || n != 1 {
		t.Errorf("%d lines were written: %v", n, err)
	}
	first, _, err := domain.ParseJournalLine(lines.Bytes())
	must(t, err)
	first.SubjectID, first.Number, first.After = fixture.MustID(t, "2"), first.Number+1, first.Number
	lines.Write(first.AppendLine(nil))
	var progress []int64
	replayed, err := gdpr.Operator().Replay(t.Context(), &lines, app.ReplayOptions{
		Expect:   first.Number,
		Progress: func(r domain.ReplayReport) { progress = append(progress, r.Erased) },
	})
	var emails []string
	must(t, db.NewSelect().Model((*shop.Customer)(nil)).Column("email").Order("id").Scan(t.Context(), &emails))
	if err != nil || replayed.Erased != 1 || replayed.Current != 1 || len(progress) != 1 ||
		emails[0] == shop.Email(1) || emails[1] == shop.Email(2) || emails[2] != shop.Email(3) {
		t.Errorf("got %+v, %v", replayed, err)
	}
}

func TestSettingsOfTasksAreValidated(t *testing.T) {
	gdpr, db := newIntegration(t)
	for name, c := range map[string]app.Config{
		"a negative sweep":    {DB: db, Models: models, SweepInterval: -1},
		"a negative delay":    {DB: db, Models: models, VerifyAfter: -1},
		"a negative interval": {DB: db, Models: models, JournalInterval: -1},
		"a nameless journal":  {DB: db, Models: models, Journal: nameless{&shelf{}}},
	} {
		if _, err := app.New(c); !errors.Is(err, domain.ErrConfiguration) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := gdpr.Operator().Replay(t.Context(), strings.NewReader(""), app.ReplayOptions{Workers: -1}); err == nil {
		t.Error("a negative number of workers is accepted")
	}
	wired := gdpr.Stack()
	wired.Verifier = nil
	if _, err := app.New(app.Config{Stack: &wired, VerifyAfter: time.Hour}); !errors.Is(err, domain.ErrConfiguration) {
		t.Errorf("without a verifier: got %v", err)
	}
	// The worker also sweeps and writes a journal if the application has set Config.Stack.
	wired = gdpr.Stack()
	if _, err := app.New(app.Config{Stack: &wired, SweepInterval: time.Hour, Journal: &shelf{}}); err != nil {
		t.Error(err)
	}
}

type nameless struct{ *shelf }

func (nameless) Name() string { return "" }
