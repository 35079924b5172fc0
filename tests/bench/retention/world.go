// Package retention measures two tasks. A replay repeats many erasures after a restore of a backup. A sweep overwrites
// values whose retention period has ended, and may slow down erasures that run concurrently.
package retention

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/tests/bench/habeas"
	"github.com/habeas-data/habeas/tests/bench/shop"
)

// Config describes the measurement.
type Config struct {
	ServerURL string // PostgreSQL server
	Pool      int    // connections
	Subjects  int    // erased subjects
	Progress  func(text string)
}

// Customer is a subject.
type Customer struct {
	bun.BaseModel `bun:"table:customers"`
	ID            int64  `bun:"id,pk" subject:"id"`
	Email         string `bun:"email" pii:"contact,erasure:anonymize"`
	Name          string `bun:"name" pii:"identity,erasure:anonymize"`
}

// Invoice is retained for ten years after its issue.
type Invoice struct {
	bun.BaseModel `bun:"table:invoices"`
	ID            int64     `bun:"id,pk"`
	CustomerID    int64     `bun:"customer_id"`
	Customer      *Customer `bun:"rel:belongs-to,join:customer_id=id"`
	Address       string    `bun:"address" pii:"financial,erasure:retain,reason:'tax law',retain:10y,since:issued_at"`
	IssuedAt      time.Time `bun:"issued_at"`
}

// Note is deleted by an erasure.
type Note struct {
	bun.BaseModel `bun:"table:notes" subject:"owned"`
	ID            int64     `bun:"id,pk"`
	CustomerID    int64     `bun:"customer_id"`
	Customer      *Customer `bun:"rel:belongs-to,join:customer_id=id"`
	Text          string    `bun:"text" pii:"communication"`
}

// world is a database with customers 1 to n, each with two invoices and two notes.
type world struct {
	db   *bun.DB
	gdpr *app.Integration
}

func (c Config) open(ctx context.Context, name string, customers int, issued time.Time) (*world, error) {
	url, err := shop.Empty(ctx, c.ServerURL, name)
	if err != nil {
		return nil, err
	}
	db, err := habeas.Open(url, habeas.DefaultDriver, c.Pool)
	if err != nil {
		return nil, err
	}
	if err := bunstore.Migrate(ctx, db, bunstore.Options{}); err != nil {
		return nil, err
	}
	models := []any{(*Customer)(nil), (*Invoice)(nil), (*Note)(nil)}
	for _, model := range models {
		if _, err := db.NewCreateTable().Model(model).WithForeignKeys().Exec(ctx); err != nil {
			return nil, err
		}
	}
	rows := strings.NewReplacer(":n", fmt.Sprint(customers), ":issued", issued.UTC().Format(time.RFC3339)).Replace(`
		INSERT INTO customers SELECT n, 'c' || n || '@example.org', 'Name ' || n FROM generate_series(1, :n) AS n;
		INSERT INTO invoices SELECT 2 * n + i, n, 'Main Street ' || n, ':issued'
			FROM generate_series(1, :n) AS n, generate_series(0, 1) AS i;
		INSERT INTO notes SELECT 2 * n + i, n, 'a note' FROM generate_series(1, :n) AS n, generate_series(0, 1) AS i;
		CREATE INDEX ON invoices (customer_id); CREATE INDEX ON notes (customer_id)`)
	for _, statements := range []string{rows, "VACUUM ANALYZE"} {
		if err := shop.Execute(ctx, url, statements); err != nil {
			return nil, err
		}
	}
	gdpr, err := app.New(app.Config{DB: db, Models: models}) //nolint:contextcheck // its log needs no context
	return &world{db, gdpr}, err
}

func (w *world) close() { _ = w.db.Close() }

// installation returns the id of the installation, which the lines of a journal name.
func (w *world) installation(ctx context.Context) (id string, err error) {
	err = w.gdpr.Stack().Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		found, err := s.Installation().Read(ctx)
		id = found.ID
		return err
	})
	return id, err
}

// lines returns a journal (a list of erasures) with one erasure of each of the customers 1 to n.
func lines(installation string, n int, at time.Time) io.Reader {
	reader, writer := io.Pipe()
	go func() {
		var text []byte
		for id := 1; id <= n; id++ {
			subject, err := domain.NewSubjectID(fmt.Sprint(id))
			if err != nil {
				_ = writer.CloseWithError(err)
				return
			}
			text = domain.JournalEntry{
				Installation: installation, Number: int64(id), After: int64(id - 1), SubjectID: subject, ErasedAt: at,
			}.AppendLine(text)
			if id%1000 == 0 || id == n {
				if _, err := writer.Write(text); err != nil {
					return
				}
				text = text[:0]
			}
		}
		_ = writer.Close()
	}()
	return reader
}
