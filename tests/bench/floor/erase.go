package floor

import (
	"context"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/habeas-data/habeas/tests/bench/shop"
)

type erasure struct {
	SubjectID        string           `json:"subject_id"`
	CompletedAt      time.Time        `json:"completed_at"`
	Deleted          map[string]int64 `json:"deleted"`
	Anonymized       map[string]int64 `json:"anonymized"`
	Retained         map[string]int64 `json:"retained"`
	EnqueuedExternal []string         `json:"enqueued_external"`
	RetainedFields   []retained       `json:"retained_fields,omitempty"`
	Remedies         remedies         `json:"remedies,omitzero"`
}

// retained is a column that had to be kept.
type retained struct {
	Source   string `json:"source"`
	Field    string `json:"field"`
	Category string `json:"category"`
	Reason   string `json:"reason"`
	Until    struct {
		After  string    `json:"after"`
		Since  string    `json:"since"`
		Latest time.Time `json:"latest,omitzero"`
	} `json:"until"`
}

type remedies struct {
	Judicial bool `json:"judicial"`
}

// keep adds the columns of the invoices that had to be kept to the answer, with the start of the last duty.
func (e *erasure) keep(last time.Time) {
	for _, name := range []string{"address", "total"} {
		field := retained{Source: "invoices", Field: name, Category: "financial", Reason: "§ 147 AO"}
		field.Until.After, field.Until.Since, field.Until.Latest = "10y", "issued_at", last.UTC().AddDate(10, 0, 0)
		e.RetainedFields = append(e.RetainedFields, field)
	}
	e.Remedies.Judicial = true
}

// instantOf returns the instant of a value that SQLite returns as a text, because it is computed.
func instantOf(value any) time.Time {
	switch value := value.(type) {
	case time.Time:
		return value
	case string:
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999-07:00"} {
			if at, err := time.Parse(layout, value); err == nil {
				return at
			}
		}
	}
	return time.Time{}
}

const (
	// lockErasure inserts or updates the row that records the erasures of a subject. The lock on this row serializes
	// erasures of the subject.
	lockErasure = `
	INSERT INTO habeas_subject_erasures AS e (subject_id, erased_at, erasures) VALUES ($1, $2, 1)
	ON CONFLICT (subject_id) DO UPDATE SET erased_at = excluded.erased_at, erasures = e.erasures + 1,
		intake = excluded.intake`

	deleteAddresses = `DELETE FROM addresses WHERE user_id = $1`
	deleteLogins    = `DELETE FROM logins WHERE user_id = $1`

	anonymizeOrders = `
	UPDATE orders SET recipient = :anonymous, product = :anonymous, note = CASE WHEN note IS NOT NULL THEN :anonymous END
	WHERE user_id = $1`
	// anonymizeInvoices overwrites the email address. If the retention period of ten years has ended, it also overwrites
	// the retained columns. $1 is the user. $2 is the instant ten years ago.
	anonymizeInvoices = `
	UPDATE invoices SET sent_to = :anonymous,
		address = CASE WHEN issued_at <= $2 THEN :anonymous ELSE address END,
		total = CASE WHEN issued_at <= $2 THEN 0 ELSE total END
	WHERE user_id = $1`
	countRetained = `SELECT count(*), max(issued_at) FROM invoices WHERE user_id = $1 AND issued_at > $2`
	anonymizeUser = `
	UPDATE users SET email = :anonymous, name = :anonymous, phone = :anonymous, last_seen = '1970-01-01 00:00:00+00:00'
	WHERE id = $1`

	cancelCorrections = `
	UPDATE habeas_outbox SET status = 'abandoned', last_error = 'erased', next_attempt_at = NULL, lease_token = NULL,
		ref = NULL, corrections = NULL
	WHERE subject_id = $1 AND operation = 'rectify' AND stage = 0`
	// withdrawConsents inserts a withdrawal for every consent in force. A consent is in force if the latest record of its
	// purpose is granted.
	withdrawConsents = `
	INSERT INTO habeas_consent_records (subject_id, purpose, policy_version, granted, recorded_at, source)
	SELECT subject_id, purpose, policy_version, FALSE, $2, 'erasure' FROM habeas_consent_records
	WHERE granted AND seq IN (SELECT max(seq) FROM habeas_consent_records WHERE subject_id = $1 GROUP BY purpose)`
	clearReasons = `
	UPDATE habeas_restriction_records SET reason = NULL WHERE subject_id = $1 AND reason IS NOT NULL`

	// closeLedgers makes the records of the subject belong to an earlier person: the number may be given again.
	closeLedgers = `
	UPDATE habeas_subject_erasures SET
		consents_until = COALESCE((SELECT max(seq) FROM habeas_consent_records WHERE subject_id = $1), 0),
		restrictions_until = COALESCE((SELECT max(seq) FROM habeas_restriction_records WHERE subject_id = $1), 0)
	WHERE subject_id = $1`

	insertOutbox = `
	INSERT INTO habeas_outbox (entry_id, subject_id, resolver, ref, operation, status, attempts, enqueued_at, requested_at,
		operation_id)
	VALUES ($1, $2, $3, $4, 'erase', 'pending', 0, $5, $6, $7)`
)

func (a api) erase(c *fiber.Ctx) error {
	user, err := shop.User(c)
	if err != nil {
		return err
	}
	result := erasure{
		SubjectID:        strconv.FormatInt(user, 10),
		Deleted:          map[string]int64{},
		Anonymized:       map[string]int64{},
		Retained:         map[string]int64{},
		EnqueuedExternal: []string{"desk"},
	}
	ctx := c.UserContext()
	if err := a.write(ctx, func(tx transaction) error { return a.eraseIn(ctx, tx, user, &result) }); err != nil {
		return err
	}
	return respond(c, result)
}

func (a api) eraseIn(ctx context.Context, tx transaction, user int64, result *erasure) error {
	subject := result.SubjectID
	if _, err := tx.exec(ctx, lockErasure, subject, a.instant(now())); err != nil {
		return err
	}
	if err := tx.eachRow(ctx, func([]any) {}, a.lockUser(), user); err != nil {
		return err
	}
	tenYearsAgo := a.time(now().AddDate(-10, 0, 0))
	trail := []event{newEvent("erasure_requested", payload{"local_steps": 6, "external_steps": 1, "refs": 1})}
	for _, step := range []struct {
		strategy, table, statement string
		rows                       map[string]int64
		args                       []any
	}{
		{"delete", "addresses", deleteAddresses, result.Deleted, []any{user}},
		{"delete", "logins", deleteLogins, result.Deleted, []any{user}},
		{"anonymize", "orders", anonymizeOrders, result.Anonymized, []any{user}},
		{"anonymize", "invoices", anonymizeInvoices, result.Anonymized, []any{user, tenYearsAgo}},
		{"anonymize", "users", anonymizeUser, result.Anonymized, []any{user}},
	} {
		rows, err := tx.exec(ctx, step.statement, step.args...)
		if err != nil {
			return err
		}
		step.rows[step.table] = rows
		trail = append(trail, newEvent("erasure_step_succeeded", payload{
			"target": step.table, "strategy": step.strategy, "rows": rows,
		}))
	}
	var latest time.Time
	if err := tx.eachRow(ctx, func(values []any) {
		result.Retained["invoices"], _ = values[0].(int64)
		latest = instantOf(values[1])
	}, countRetained, user, tenYearsAgo); err != nil {
		return err
	}
	if result.Retained["invoices"] > 0 {
		result.keep(latest)
	}
	trail = append(trail, newEvent("erasure_step_succeeded", payload{
		"target": "invoices", "strategy": "retain", "rows": result.Retained["invoices"],
	}))
	if _, err := tx.exec(ctx, cancelCorrections, subject); err != nil {
		return err
	}
	withdrawn, err := tx.exec(ctx, withdrawConsents, subject, a.instant(now()))
	if err != nil {
		return err
	}
	for range withdrawn {
		trail = append(trail, newEvent("consent_withdrawn", payload{"source": "erasure"}))
	}
	completed := newEvent("erasure_local_completed", payload{
		"deleted": sum(result.Deleted), "anonymized": sum(result.Anonymized), "retained": sum(result.Retained),
		"enqueued": 1, "skipped_resolvers": "",
	})
	result.CompletedAt = completed.At
	last := []statement{{clearReasons, []any{subject}}, {closeLedgers, []any{subject}}, {insertOutbox, []any{
		uuid.Must(uuid.NewV7()).String(), subject, "desk", `{"kind":"desk","value":"contact-` + subject + `"}`,
		a.instant(completed.At), a.instant(trail[0].At), trail[0].ID,
	}}}
	for _, e := range trail[0].operation(append(trail[1:], completed)...) {
		last = append(last, a.insertEvent(subject, e))
	}
	return tx.send(ctx, last)
}

func sum(counts map[string]int64) int64 {
	var total int64
	for _, n := range counts {
		total += n
	}
	return total
}
