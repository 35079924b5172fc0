// Package floor is the baseline of the benchmark: the four endpoints, hand-written for this one shop with Fiber and
// without reusable abstractions. It writes the same rows as habeas, in transactions of the same isolation, and sends
// the same responses. On PostgreSQL it uses pgx, which prepares each statement once per connection. On SQLite it uses
// database/sql with the same driver as habeas.
package floor

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/url"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/habeas-data/habeas/tests/bench/shop"
)

// New returns the application on a database and a function that closes the database. PostgreSQL has a pool with the
// given maximum of connections. SQLite has one connection for writes and the given maximum for reads.
func New(ctx context.Context, databaseURL string, connections int) (*fiber.App, func(), error) {
	open := openPostgres
	if shop.IsSQLite(databaseURL) {
		open = openSQLite
	}
	database, err := open(ctx, databaseURL, connections)
	if err != nil {
		return nil, nil, err
	}
	server := fiber.New(fiber.Config{DisableStartupMessage: true, ErrorHandler: fail})
	api := api{database}
	me := server.Group("/me")
	me.Post("/consent", api.recordConsent)
	me.Get("/consent/:purpose", api.consentStatus)
	me.Get("/export", api.export)
	me.Delete("/", api.erase)
	return server, database.close, nil
}

type api struct{ database }

// database is PostgreSQL or SQLite. Statements name their parameters $1 and so on.
type database interface {
	// instant returns the parameter for a point in time in the tables of habeas. time returns it for the tables of the
	// shop.
	instant(t time.Time) any
	time(t time.Time) any
	// lockUser waits for transactions that insert rows of the user, so that later statements see these rows.
	lockUser() string
	// latest completes the status of a consent if a record exists.
	latest(ctx context.Context, status *consent) error
	// write runs a transaction.
	write(ctx context.Context, fn func(transaction) error) error
	// read runs a transaction that sees one snapshot. If others can write concurrently, the appended statements run in the
	// same transaction. Otherwise they run after it.
	read(ctx context.Context, fn func(transaction) error) error
	close()
}

// transaction runs statements.
type transaction interface {
	exec(ctx context.Context, text string, args ...any) (rows int64, err error)
	// each calls a function with the values of every row. The function may keep the values.
	each(ctx context.Context, fn func(values []any), text string, args ...any) error
	// send runs statements whose results are not needed.
	send(ctx context.Context, statements []statement) error
}

type statement struct {
	text string
	args []any
}

// fail responds with the status of an error and hides the text of internal errors from the client.
func fail(c *fiber.Ctx, err error) error {
	var refusal *fiber.Error
	if !errors.As(err, &refusal) {
		slog.Error("request failed", "method", c.Method(), "route", c.Route().Path, "error", err)
		refusal = fiber.ErrInternalServerError
	}
	return c.Status(refusal.Code).JSON(fiber.Map{"title": refusal.Message, "status": refusal.Code})
}

// respond sends personal data, which no cache may store.
func respond(c *fiber.Ctx, body any) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(body)
}

// now returns the time with the precision of PostgreSQL, so that responses show the stored instants.
func now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

func pointer(text string) *string { return &text }

func validText(text string) bool {
	n := utf8.RuneCountInString(text)
	return 1 <= n && n <= 255
}

const insertConsent = `
	INSERT INTO habeas_consent_records (subject_id, purpose, policy_version, granted, recorded_at, source)
	VALUES ($1, $2, $3, $4, $5, $6)`

func (a api) recordConsent(c *fiber.Ctx) error {
	user, err := shop.User(c)
	if err != nil {
		return err
	}
	var body struct {
		Purpose       string `json:"purpose"`
		PolicyVersion string `json:"policy_version"`
		Granted       *bool  `json:"granted"`
	}
	if err := c.BodyParser(&body); err != nil {
		return fiber.ErrBadRequest
	}
	if !validText(body.Purpose) || !validText(body.PolicyVersion) || body.Granted == nil {
		return fiber.ErrUnprocessableEntity
	}
	event := newEvent("consent_withdrawn", payload{"source": "api"})
	if *body.Granted {
		event.Type = "consent_granted"
	}
	record := consent{
		SubjectID: strconv.FormatInt(user, 10), Purpose: body.Purpose, PolicyVersion: &body.PolicyVersion,
		Granted: *body.Granted, RecordedAt: &event.At, Source: pointer("api"),
	}
	ctx := c.UserContext()
	err = a.write(ctx, func(tx transaction) error {
		_, err := tx.exec(ctx, insertConsent, record.SubjectID, record.Purpose, body.PolicyVersion, record.Granted,
			a.instant(event.At), "api")
		if err != nil {
			return err
		}
		insert := a.insertEvent(record.SubjectID, event)
		_, err = tx.exec(ctx, insert.text, insert.args...)
		return err
	})
	if err != nil {
		return err
	}
	return respond(c, record)
}

// consent is a record, or the status that follows from the latest record. Fields are nil if there is no record.
type consent struct {
	SubjectID     string     `json:"subject_id"`
	Purpose       string     `json:"purpose"`
	PolicyVersion *string    `json:"policy_version"`
	Granted       bool       `json:"granted"`
	RecordedAt    *time.Time `json:"recorded_at"`
	Source        *string    `json:"source"`
}

// latestConsent reads the fields of a consent except the subject and the purpose.
const latestConsent = `
	SELECT policy_version, granted, recorded_at, source FROM habeas_consent_records
	WHERE subject_id = $1 AND purpose = $2 ORDER BY seq DESC LIMIT 1`

func (a api) consentStatus(c *fiber.Ctx) error {
	user, err := shop.User(c)
	if err != nil {
		return err
	}
	purpose, err := url.PathUnescape(c.Params("purpose"))
	if err != nil || !validText(purpose) {
		return fiber.ErrUnprocessableEntity
	}
	status := consent{SubjectID: strconv.FormatInt(user, 10), Purpose: purpose}
	if err := a.latest(c.UserContext(), &status); err != nil {
		return err
	}
	if status.RecordedAt != nil {
		*status.RecordedAt = status.RecordedAt.UTC()
	}
	return respond(c, status)
}

// event is an event of the audit trail.
type event struct {
	ID      string
	Type    string
	At      time.Time
	Payload payload
}

type payload map[string]any

func newEvent(eventType string, payload payload) event {
	return event{ID: uuid.Must(uuid.NewV7()).String(), Type: eventType, At: now(), Payload: payload}
}

// operation sets the operation id of later events to the id of the first event.
func (e event) operation(events ...event) []event {
	all := append([]event{e}, events...)
	for i := range all {
		all[i].Payload["operation_id"] = e.ID
	}
	return all
}

func (a api) insertEvent(subject string, e event) statement {
	text, _ := json.Marshal(e.Payload) // cannot fail for this payload
	return statement{`
	INSERT INTO habeas_audit_events (event_id, event_type, subject_ref, occurred_at, payload)
	VALUES ($1, $2, $3, $4, $5)`, []any{e.ID, e.Type, subject, a.instant(e.At), string(text)}}
}
