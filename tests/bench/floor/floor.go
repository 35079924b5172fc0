// Package floor is the baseline of the benchmark. It has four endpoints, hand-written for the shop of the benchmark
// with Fiber and without reusable abstractions. It writes the same rows as habeas, in transactions of the same
// isolation level, and sends the same responses. Like habeas, it does not show the records of an erased person to the
// next person with the same number. On PostgreSQL it uses pgx, which prepares each statement once per connection. On
// SQLite it uses database/sql with the same driver as habeas.
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

// New returns the application on a database, and a function that closes the database. On PostgreSQL, the pool has at
// most the given number of connections. On SQLite, there is one connection for writes, and at most the given number for
// reads.
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

// database is PostgreSQL or SQLite. The parameters in statements are $1, $2 and so on.
type database interface {
	// instant converts an instant to an argument for the tables of habeas.
	instant(t time.Time) any
	// time converts an instant to an argument for the tables of the shop, which use another format.
	time(t time.Time) any
	// lockUser returns a statement that waits for transactions that are inserting rows of the user $1. Later statements in
	// the transaction then see these rows.
	lockUser() string
	// latest reads the latest consent record of the subject status.SubjectID for the purpose status.Purpose, and sets the
	// other fields of status from this record. If there is no record, it changes nothing. The result earlier is true if an
	// erased person with the same number may have given the consent.
	latest(ctx context.Context, status *consent) (earlier bool, err error)
	// isRegistered reports whether the number belongs to a person who is not erased.
	isRegistered(ctx context.Context, user int64) (registered bool, err error)
	write(ctx context.Context, fn func(transaction) error) error
	// read runs fn in a transaction in which all reads see the same snapshot. fn passes its writes to the method send. On
	// PostgreSQL, these writes run in the same transaction. On SQLite, these writes run in a second transaction after fn.
	read(ctx context.Context, fn func(transaction) error) error
	close()
}

type transaction interface {
	exec(ctx context.Context, text string, args ...any) (rows int64, err error)
	// eachRow calls fn with the values of every row. fn may keep the slice.
	eachRow(ctx context.Context, fn func(values []any), text string, args ...any) error
	// send runs statements whose results the caller does not need.
	send(ctx context.Context, statements []statement) error
}

type statement struct {
	text string
	args []any
}

// fail responds with the status of an error. It does not show the text of internal errors to the client.
func fail(c *fiber.Ctx, err error) error {
	var refusal *fiber.Error
	if !errors.As(err, &refusal) {
		slog.Error("request failed", "method", c.Method(), "route", c.Route().Path, "error", err)
		refusal = fiber.ErrInternalServerError
	}
	return c.Status(refusal.Code).JSON(fiber.Map{"title": refusal.Message, "status": refusal.Code})
}

// respond sends a response with personal data. The header Cache-Control forbids caches to store the response.
func respond(c *fiber.Ctx, body any) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(body)
}

// now returns the current time in microseconds, which is the precision of PostgreSQL. Responses then show exactly the
// stored instants.
func now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

func pointer(text string) *string { return &text }

func validText(text string) bool {
	n := utf8.RuneCountInString(text)
	return 1 <= n && n <= 255
}

const (
	insertConsent = `
	INSERT INTO habeas_consent_records (subject_id, purpose, policy_version, granted, recorded_at, source)
	VALUES ($1, $2, $3, $4, $5, $6)`

	// keepFromNext makes the new record belong to the erased person $1, if the number $2 has not been given again.
	keepFromNext = `
	UPDATE habeas_subject_erasures SET
		consents_until = (SELECT max(seq) FROM habeas_consent_records WHERE subject_id = $1)
	WHERE subject_id = $1 AND NOT EXISTS (SELECT 1 FROM users WHERE id = $2 AND email NOT LIKE 'anon-%')`
)

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
		return tx.send(ctx, []statement{
			a.insertEvent(record.SubjectID, event), {keepFromNext, []any{record.SubjectID, user}},
		})
	})
	if err != nil {
		return err
	}
	return respond(c, record)
}

// consent is a response with the latest record of a consent. If there is no record, the pointers are nil.
type consent struct {
	SubjectID     string     `json:"subject_id"`
	Purpose       string     `json:"purpose"`
	PolicyVersion *string    `json:"policy_version"`
	Granted       bool       `json:"granted"`
	RecordedAt    *time.Time `json:"recorded_at"`
	Source        *string    `json:"source"`
}

// latestConsent reads the latest record of the subject $1 for the purpose $2. The last column is true if the record is
// not later than the last erasure of the subject.
const latestConsent = `
	SELECT policy_version, granted, recorded_at, source,
		COALESCE(seq <= (SELECT consents_until FROM habeas_subject_erasures WHERE subject_id = $1), FALSE)
	FROM habeas_consent_records
	WHERE subject_id = $1 AND purpose = $2 ORDER BY seq DESC LIMIT 1`

// isRegistered reports whether the user $1 exists, and no erasure has overwritten the user.
const isRegistered = `SELECT EXISTS (SELECT 1 FROM users WHERE id = $1 AND email NOT LIKE 'anon-%')`

func (a api) consentStatus(c *fiber.Ctx) error {
	user, err := shop.User(c)
	if err != nil {
		return err
	}
	purpose, err := url.PathUnescape(c.Params("purpose"))
	if err != nil || !validText(purpose) {
		return fiber.ErrUnprocessableEntity
	}
	none := consent{SubjectID: strconv.FormatInt(user, 10), Purpose: purpose}
	status := none
	earlier, err := a.latest(c.UserContext(), &status)
	if err != nil {
		return err
	}
	if earlier { // only the erased person may see the consent
		again, err := a.isRegistered(c.UserContext(), user)
		if err != nil {
			return err
		}
		if again {
			status = none
		}
	}
	if status.RecordedAt != nil {
		*status.RecordedAt = status.RecordedAt.UTC()
	}
	return respond(c, status)
}

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

// operation returns the event e followed by the given events. It sets the operation id of all of them to the id of e.
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
