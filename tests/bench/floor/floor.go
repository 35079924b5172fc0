// Package floor is the yardstick: the four endpoints written by hand for this one shop, with Fiber and pgx, and without
// an abstraction that the next shop could use. It writes the same rows as habeas, in transactions of the same strength,
// and gives the same answers. pgx prepares each statement once per connection, by its statement cache.
package floor

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/habeas-data/habeas/tests/bench/shop"
)

// New returns the application.
func New(pool *pgxpool.Pool) *fiber.App {
	server := fiber.New(fiber.Config{DisableStartupMessage: true, ErrorHandler: fail})
	api := api{pool}
	me := server.Group("/me")
	me.Post("/consent", api.recordConsent)
	me.Get("/consent/:purpose", api.consentStatus)
	me.Get("/export", api.export)
	me.Delete("/", api.erase)
	return server
}

type api struct{ pool *pgxpool.Pool }

// Open opens a pool of at most so many connections.
func Open(ctx context.Context, databaseURL string, size int) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(databaseURL)
	if err != nil {
		return nil, err
	}
	config.MaxConns = int32(size)
	return pgxpool.NewWithConfig(ctx, config)
}

// fail answers with the status of an error, and keeps the text of what went wrong inside away from the client.
func fail(c *fiber.Ctx, err error) error {
	var refusal *fiber.Error
	if !errors.As(err, &refusal) {
		slog.Error("request failed", "method", c.Method(), "route", c.Route().Path, "error", err)
		refusal = fiber.ErrInternalServerError
	}
	return c.Status(refusal.Code).JSON(fiber.Map{"title": refusal.Message, "status": refusal.Code})
}

// answer sends personal data, which no cache may keep.
func answer(c *fiber.Ctx, body any) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(body)
}

// now is the time in the precision of PostgreSQL, so that answers show what is stored.
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
	err = pgx.BeginFunc(ctx, a.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, insertConsent, record.SubjectID, record.Purpose, record.PolicyVersion, record.Granted,
			record.RecordedAt, record.Source)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, insertEvent, event.ID, event.Type, record.SubjectID, event.At, event.Payload)
		return err
	})
	if err != nil {
		return err
	}
	return answer(c, record)
}

// consent is a record, or the status that follows from the latest one; what is nil then is that there is none.
type consent struct {
	SubjectID     string     `json:"subject_id"`
	Purpose       string     `json:"purpose"`
	PolicyVersion *string    `json:"policy_version"`
	Granted       bool       `json:"granted"`
	RecordedAt    *time.Time `json:"recorded_at"`
	Source        *string    `json:"source"`
}

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
	err = a.pool.QueryRow(c.UserContext(), latestConsent, status.SubjectID, status.Purpose).
		Scan(&status.PolicyVersion, &status.Granted, &status.RecordedAt, &status.Source)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	if status.RecordedAt != nil {
		*status.RecordedAt = status.RecordedAt.UTC()
	}
	return answer(c, status)
}

// event is a line of the audit trail.
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

const insertEvent = `
	INSERT INTO habeas_audit_events (event_id, event_type, subject_ref, occurred_at, payload)
	VALUES ($1, $2, $3, $4, $5)`

// queueEvents adds events to a batch, which travels to the server in one go.
func queueEvents(batch *pgx.Batch, subject string, events ...event) {
	for _, event := range events {
		batch.Queue(insertEvent, event.ID, event.Type, subject, event.At, event.Payload)
	}
}
