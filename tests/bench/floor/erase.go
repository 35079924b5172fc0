package floor

import (
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/habeas-data/habeas/tests/bench/shop"
)

type erasure struct {
	SubjectID        string           `json:"subject_id"`
	CompletedAt      time.Time        `json:"completed_at"`
	Deleted          map[string]int64 `json:"deleted"`
	Anonymized       map[string]int64 `json:"anonymized"`
	Retained         map[string]int64 `json:"retained"`
	EnqueuedExternal []string         `json:"enqueued_external"`
}

const (
	// lockErasure lets one erasure of a subject run after the other, and leaves a mark.
	lockErasure = `
	INSERT INTO habeas_subject_erasures AS e (subject_id, erased_at, erasures) VALUES ($1, $2, 1)
	ON CONFLICT (subject_id) DO UPDATE SET erased_at = excluded.erased_at, erasures = e.erasures + 1`

	// lockUser waits for transactions that are inserting rows of the user, so that the statements after it see them.
	lockUser = `SELECT 1 FROM users WHERE id = $1 FOR UPDATE`

	deleteAddresses = `DELETE FROM addresses WHERE user_id = $1`
	deleteLogins    = `DELETE FROM logins WHERE user_id = $1`

	anonymous       = `'anon-' || replace(gen_random_uuid()::text, '-', '')`
	anonymizeOrders = `
	UPDATE orders SET recipient = ` + anonymous + `, product = ` + anonymous + `, note = ` + anonymous + `
	WHERE user_id = $1`
	// anonymizeInvoices also overwrites what had to be kept for ten years that are over.
	anonymizeInvoices = `
	UPDATE invoices SET sent_to = ` + anonymous + `,
		address = CASE WHEN issued_at <= $2 THEN ` + anonymous + ` ELSE address END,
		total = CASE WHEN issued_at <= $2 THEN 0 ELSE total END
	WHERE user_id = $1`
	countRetained = `SELECT count(*) FROM invoices WHERE user_id = $1 AND issued_at > $2`
	anonymizeUser = `
	UPDATE users SET email = ` + anonymous + `, name = ` + anonymous + `, phone = ` + anonymous + `, last_seen = 'epoch'
	WHERE id = $1`

	cancelCorrections = `
	UPDATE habeas_outbox SET status = 'abandoned', last_error = 'erased', next_attempt_at = NULL, lease_token = NULL,
		ref = NULL, corrections = NULL
	WHERE subject_id = $1 AND operation = 'rectify' AND stage = 0`
	// withdrawConsents ends every consent that is in force.
	withdrawConsents = `
	INSERT INTO habeas_consent_records (subject_id, purpose, policy_version, granted, recorded_at, source)
	SELECT subject_id, purpose, policy_version, FALSE, $2, 'erasure' FROM (
		SELECT DISTINCT ON (purpose) * FROM habeas_consent_records WHERE subject_id = $1 ORDER BY purpose, seq DESC
	) AS latest WHERE granted`
	clearReasons = `
	UPDATE habeas_restriction_records SET reason = NULL WHERE subject_id = $1 AND reason IS NOT NULL`

	insertOutbox = `
	INSERT INTO habeas_outbox (entry_id, subject_id, resolver, ref, operation, status, attempts, enqueued_at)
	VALUES ($1, $2, $3, $4, 'erase', 'pending', 0, $5)`
)

func (a api) erase(c *fiber.Ctx) error {
	user, err := shop.User(c)
	if err != nil {
		return err
	}
	subject := strconv.FormatInt(user, 10)
	result := erasure{
		SubjectID:        subject,
		Deleted:          map[string]int64{},
		Anonymized:       map[string]int64{},
		Retained:         map[string]int64{},
		EnqueuedExternal: []string{"desk"},
	}
	ctx := c.UserContext()
	err = pgx.BeginFunc(ctx, a.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, lockErasure, subject, now()); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, lockUser, user); err != nil {
			return err
		}
		tenYearsAgo := now().AddDate(-10, 0, 0)
		trail := []event{newEvent("erasure_requested", payload{"local_steps": 6, "external_steps": 1, "refs": 1})}
		for _, step := range []struct {
			strategy, table, statement string
			rows                       map[string]int64
		}{
			{"delete", "addresses", deleteAddresses, result.Deleted},
			{"delete", "logins", deleteLogins, result.Deleted},
			{"anonymize", "orders", anonymizeOrders, result.Anonymized},
			{"anonymize", "invoices", anonymizeInvoices, result.Anonymized},
			{"anonymize", "users", anonymizeUser, result.Anonymized},
		} {
			args := []any{user}
			if step.table == "invoices" {
				args = append(args, tenYearsAgo)
			}
			tag, err := tx.Exec(ctx, step.statement, args...)
			if err != nil {
				return err
			}
			step.rows[step.table] = tag.RowsAffected()
			trail = append(trail, newEvent("erasure_step_succeeded", payload{
				"target": step.table, "strategy": step.strategy, "rows": tag.RowsAffected(),
			}))
			if step.table == "invoices" {
				var retained int64
				if err := tx.QueryRow(ctx, countRetained, user, tenYearsAgo).Scan(&retained); err != nil {
					return err
				}
				result.Retained["invoices"] = retained
				trail = append(trail, newEvent("erasure_step_succeeded", payload{
					"target": "invoices", "strategy": "retain", "rows": retained,
				}))
			}
		}
		if _, err := tx.Exec(ctx, cancelCorrections, subject); err != nil {
			return err
		}
		withdrawn, err := tx.Exec(ctx, withdrawConsents, subject, now())
		if err != nil {
			return err
		}
		for range withdrawn.RowsAffected() {
			trail = append(trail, newEvent("consent_withdrawn", payload{"source": "erasure"}))
		}
		completed := newEvent("erasure_local_completed", payload{
			"deleted": sum(result.Deleted), "anonymized": sum(result.Anonymized), "retained": sum(result.Retained),
			"enqueued": 1, "skipped_resolvers": "",
		})
		result.CompletedAt = completed.At
		var batch pgx.Batch
		batch.Queue(clearReasons, subject)
		batch.Queue(insertOutbox, uuid.Must(uuid.NewV7()).String(), subject, "desk",
			map[string]string{"kind": "desk", "value": "contact-" + subject}, completed.At)
		queueEvents(&batch, subject, append(trail, completed)...)
		return tx.SendBatch(ctx, &batch).Close()
	})
	if err != nil {
		return err
	}
	return answer(c, result)
}

func sum(counts map[string]int64) int64 {
	var total int64
	for _, n := range counts {
		total += n
	}
	return total
}
