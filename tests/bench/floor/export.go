package floor

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/jackc/pgx/v5"

	"github.com/habeas-data/habeas/tests/bench/shop"
)

type bundle struct {
	SubjectID         string    `json:"subject_id"`
	GeneratedAt       time.Time `json:"generated_at"`
	SchemaVersion     int       `json:"schema_version"`
	Records           []record  `json:"records"`
	IncompleteSources []string  `json:"incomplete_sources"`
}

// record is one field of one row, with what Art. 15(1) GDPR wants to be said about it.
type record struct {
	field
	Row       string     `json:"row"`
	Value     any        `json:"value"`
	ExpiresAt *time.Time `json:"expires_at"`
}

// field is what is the same in all rows.
type field struct {
	Source          string  `json:"source"`
	Field           string  `json:"field"`
	Category        string  `json:"category"`
	LegalBasis      *string `json:"legal_basis"`
	Purpose         *string `json:"purpose"`
	RetentionReason *string `json:"retention_reason"`
}

var (
	contract   = pointer("contract")
	obligation = pointer("legal_obligation")
	interests  = pointer("legitimate_interests")
	account    = pointer("account")
	delivery   = pointer("delivery")
	security   = pointer("security")
	taxLaw     = pointer("§ 147 AO")

	userEmail    = field{"users", "email", "contact", contract, pointer("account login"), nil}
	userName     = field{"users", "name", "identity", contract, account, nil}
	userPhone    = field{"users", "phone", "contact", contract, delivery, nil}
	userLastSeen = field{"users", "last_seen", "technical", interests, security, nil}

	addressStreet   = field{"addresses", "street", "contact", contract, delivery, nil}
	addressPostcode = field{"addresses", "postcode", "location", contract, delivery, nil}
	addressCity     = field{"addresses", "city", "location", contract, delivery, nil}
	addressCountry  = field{"addresses", "country", "location", contract, delivery, nil}

	loginIP        = field{"logins", "ip", "technical", interests, security, nil}
	loginUserAgent = field{"logins", "user_agent", "technical", interests, security, nil}
	loginAt        = field{"logins", "logged_in_at", "behavioral", interests, security, nil}

	orderRecipient = field{"orders", "recipient", "identity", contract, delivery, nil}
	orderProduct   = field{"orders", "product", "behavioral", contract, delivery, nil}
	orderNote      = field{"orders", "note", "communication", contract, delivery, nil}

	invoiceAddress = field{"invoices", "address", "financial", obligation, nil, taxLaw}
	invoiceTotal   = field{"invoices", "total", "financial", obligation, nil, taxLaw}
	invoiceSentTo  = field{"invoices", "sent_to", "contact", contract, nil, nil}

	consentPurpose    = consentField("purpose")
	consentPolicy     = consentField("policy_version")
	consentGranted    = consentField("granted")
	consentRecordedAt = consentField("recorded_at")
	consentSource     = consentField("source")

	restrictionPurpose    = restrictionField("purpose")
	restrictionRestricted = restrictionField("restricted")
	restrictionReason     = field{"habeas_restriction_records", "reason", "communication", obligation, nil, nil}
	restrictionRecordedAt = restrictionField("recorded_at")
	restrictionSource     = restrictionField("source")
)

func consentField(name string) field {
	return field{"habeas_consent_records", name, "behavioral", obligation, nil, pointer("Art. 7(1) GDPR")}
}

func restrictionField(name string) field {
	return field{"habeas_restriction_records", name, "behavioral", obligation, nil, pointer("Art. 5(2) GDPR")}
}

func (a api) export(c *fiber.Ctx) error {
	user, err := shop.User(c)
	if err != nil {
		return err
	}
	result := bundle{SubjectID: strconv.FormatInt(user, 10), SchemaVersion: 1, IncompleteSources: []string{}}
	requested := newEvent("export_requested", payload{"refs": 1, "resolvers": 1})
	ctx := c.UserContext()
	snapshot := pgx.TxOptions{IsoLevel: pgx.RepeatableRead}
	err = pgx.BeginTxFunc(ctx, a.pool, snapshot, func(tx pgx.Tx) error {
		var err error
		if result.Records, err = readAll(ctx, tx, user); err != nil {
			return err
		}
		completed := newEvent("export_completed", payload{
			"records": len(result.Records), "incomplete_sources": "", "skipped_resolvers": "",
		})
		result.GeneratedAt = completed.At
		var batch pgx.Batch
		queueEvents(&batch, result.SubjectID, requested, completed)
		return tx.SendBatch(ctx, &batch).Close()
	})
	if err != nil {
		return err
	}
	return answer(c, result)
}

func readAll(ctx context.Context, tx pgx.Tx, user int64) ([]record, error) {
	records := make([]record, 0, 128)
	for _, read := range []func(context.Context, pgx.Tx, int64, []record) ([]record, error){
		readUser, readAddresses, readLogins, readOrders, readInvoices, readConsents, readRestrictions,
	} {
		var err error
		if records, err = read(ctx, tx, user, records); err != nil {
			return nil, err
		}
	}
	return records, nil
}

func readUser(ctx context.Context, tx pgx.Tx, user int64, records []record) ([]record, error) {
	rows, err := tx.Query(ctx, `SELECT email, name, phone, last_seen FROM users WHERE id = $1`, user)
	if err != nil {
		return nil, err
	}
	var email, name, phone string
	var lastSeen time.Time
	_, err = pgx.ForEachRow(rows, []any{&email, &name, &phone, &lastSeen}, func() error {
		row := strconv.FormatInt(user, 10)
		records = append(records,
			record{userEmail, row, email, nil},
			record{userName, row, name, nil},
			record{userPhone, row, phone, nil},
			record{userLastSeen, row, lastSeen.UTC(), nil})
		return nil
	})
	return records, err
}

func readAddresses(ctx context.Context, tx pgx.Tx, user int64, records []record) ([]record, error) {
	rows, err := tx.Query(ctx,
		`SELECT id, street, postcode, city, country FROM addresses WHERE user_id = $1 ORDER BY id`, user)
	if err != nil {
		return nil, err
	}
	var id int64
	var street, postcode, city, country string
	_, err = pgx.ForEachRow(rows, []any{&id, &street, &postcode, &city, &country}, func() error {
		row := strconv.FormatInt(id, 10)
		records = append(records,
			record{addressStreet, row, street, nil},
			record{addressPostcode, row, postcode, nil},
			record{addressCity, row, city, nil},
			record{addressCountry, row, country, nil})
		return nil
	})
	return records, err
}

func readLogins(ctx context.Context, tx pgx.Tx, user int64, records []record) ([]record, error) {
	rows, err := tx.Query(ctx, `SELECT id, ip, user_agent, logged_in_at FROM logins WHERE user_id = $1 ORDER BY id`, user)
	if err != nil {
		return nil, err
	}
	var id int64
	var ip, userAgent string
	var at time.Time
	_, err = pgx.ForEachRow(rows, []any{&id, &ip, &userAgent, &at}, func() error {
		row := strconv.FormatInt(id, 10)
		records = append(records,
			record{loginIP, row, ip, nil},
			record{loginUserAgent, row, userAgent, nil},
			record{loginAt, row, at.UTC(), nil})
		return nil
	})
	return records, err
}

func readOrders(ctx context.Context, tx pgx.Tx, user int64, records []record) ([]record, error) {
	rows, err := tx.Query(ctx, `SELECT id, recipient, product, note FROM orders WHERE user_id = $1 ORDER BY id`, user)
	if err != nil {
		return nil, err
	}
	var id int64
	var recipient, product string
	var note *string
	_, err = pgx.ForEachRow(rows, []any{&id, &recipient, &product, &note}, func() error {
		row := strconv.FormatInt(id, 10)
		records = append(records,
			record{orderRecipient, row, recipient, nil},
			record{orderProduct, row, product, nil},
			record{orderNote, row, note, nil})
		return nil
	})
	return records, err
}

func readInvoices(ctx context.Context, tx pgx.Tx, user int64, records []record) ([]record, error) {
	rows, err := tx.Query(ctx,
		`SELECT id, address, total::text, sent_to, issued_at FROM invoices WHERE user_id = $1 ORDER BY id`, user)
	if err != nil {
		return nil, err
	}
	var id int64
	var address, total, sentTo string
	var issuedAt time.Time
	_, err = pgx.ForEachRow(rows, []any{&id, &address, &total, &sentTo, &issuedAt}, func() error {
		row := strconv.FormatInt(id, 10)
		expires := issuedAt.UTC().AddDate(10, 0, 0)
		records = append(records,
			record{invoiceAddress, row, address, &expires},
			record{invoiceTotal, row, json.Number(total), &expires},
			record{invoiceSentTo, row, sentTo, nil})
		return nil
	})
	return records, err
}

func readConsents(ctx context.Context, tx pgx.Tx, user int64, records []record) ([]record, error) {
	rows, err := tx.Query(ctx, `SELECT seq, purpose, policy_version, granted, recorded_at, source
		FROM habeas_consent_records WHERE subject_id = $1 ORDER BY seq`, strconv.FormatInt(user, 10))
	if err != nil {
		return nil, err
	}
	var seq int64
	var purpose, policy, source string
	var granted bool
	var at time.Time
	_, err = pgx.ForEachRow(rows, []any{&seq, &purpose, &policy, &granted, &at, &source}, func() error {
		row := strconv.FormatInt(seq, 10)
		records = append(records,
			record{consentPurpose, row, purpose, nil},
			record{consentPolicy, row, policy, nil},
			record{consentGranted, row, granted, nil},
			record{consentRecordedAt, row, at.UTC(), nil},
			record{consentSource, row, source, nil})
		return nil
	})
	return records, err
}

func readRestrictions(ctx context.Context, tx pgx.Tx, user int64, records []record) ([]record, error) {
	rows, err := tx.Query(ctx, `SELECT seq, purpose, restricted, reason, recorded_at, source
		FROM habeas_restriction_records WHERE subject_id = $1 ORDER BY seq`, strconv.FormatInt(user, 10))
	if err != nil {
		return nil, err
	}
	var seq int64
	var purpose, reason *string
	var source string
	var restricted bool
	var at time.Time
	_, err = pgx.ForEachRow(rows, []any{&seq, &purpose, &restricted, &reason, &at, &source}, func() error {
		row := strconv.FormatInt(seq, 10)
		records = append(records,
			record{restrictionPurpose, row, purpose, nil},
			record{restrictionRestricted, row, restricted, nil},
			record{restrictionReason, row, reason, nil},
			record{restrictionRecordedAt, row, at.UTC(), nil},
			record{restrictionSource, row, source, nil})
		return nil
	})
	return records, err
}
