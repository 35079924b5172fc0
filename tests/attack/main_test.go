package attack

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/tests/postgres"
)

func TestMain(m *testing.M) { postgres.Main(m) }

type Person struct {
	bun.BaseModel `bun:"table:persons"`
	ID            int64  `bun:"id,pk,autoincrement" subject:"id"`
	Email         string `bun:"email" pii:"contact"`
}

type Note struct {
	bun.BaseModel `bun:"table:notes"`
	ID            int64   `bun:"id,pk,autoincrement"`
	PersonID      int64   `bun:"person_id"`
	Person        *Person `bun:"rel:belongs-to,join:person_id=id"`
	Body          string  `bun:"body" pii:"communication"`
}

var models = []any{(*Person)(nil), (*Note)(nil)}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

type safeLog struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *safeLog) Write(p []byte) (int, error) { l.mu.Lock(); defer l.mu.Unlock(); return l.b.Write(p) }
func (l *safeLog) String() string              { l.mu.Lock(); defer l.mu.Unlock(); return l.b.String() }

func integrate(t testing.TB, db *bun.DB, config app.Config) (*app.Integration, *safeLog) {
	t.Helper()
	must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
	for _, model := range models {
		_, err := db.NewCreateTable().Model(model).IfNotExists().Exec(t.Context())
		must(t, err)
	}
	log := &safeLog{}
	config.DB, config.Models, config.Logger = db, models, slog.New(slog.NewTextHandler(log, nil))
	gdpr, err := app.New(config)
	must(t, err)
	return gdpr, log
}

func one(c *fiber.Ctx) (domain.Subject, error) { return domain.NewSubject("1") }

func subjectID(t testing.TB, id string) domain.SubjectID {
	t.Helper()
	s, err := domain.NewSubjectID(id)
	must(t, err)
	return s
}

func listen(t testing.TB, server *fiber.App) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	go func() { _ = server.Listener(listener) }()
	t.Cleanup(func() { _ = server.ShutdownWithTimeout(5 * time.Second) })
	return "http://" + listener.Addr().String()
}

func call(t testing.TB, method, url, body string) (int, string, http.Header) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	must(t, err)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return response.StatusCode, string(text) + " BROKEN " + err.Error(), response.Header
	}
	return response.StatusCode, string(text), response.Header
}

func status(t testing.TB, f ports.SessionFactory, gdpr *app.Integration, purpose string) (status domain.ConsentStatus) {
	t.Helper()
	must(t, f.Do(t.Context(), func(ctx context.Context, s ports.Session) (err error) {
		status, err = gdpr.Stack().Consent.Status(ctx, s, subjectID(t, "1"), purpose)
		return err
	}))
	return status
}

func record(t testing.TB, f ports.SessionFactory, gdpr *app.Integration, purpose string, granted bool) {
	t.Helper()
	must(t, f.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		_, err := gdpr.Stack().Consent.Record(ctx, s, subjectID(t, "1"), domain.ConsentDecision{
			Purpose: purpose, PolicyVersion: "1", Granted: granted, Source: "test",
		})
		return err
	}))
}
