package floor

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/habeas-data/habeas/tests/bench/shop"
)

type bundle struct {
	SubjectID         string    `json:"subject_id"`
	GeneratedAt       time.Time `json:"generated_at"`
	SchemaVersion     int       `json:"schema_version"`
	Records           []record  `json:"records"`
	IncompleteSources []string  `json:"incomplete_sources"`
}

// record is the value of one column in one row of the user, with the information that Art. 15(1) GDPR requires.
type record struct {
	field
	Row       string     `json:"row"`
	Value     any        `json:"value"`
	ExpiresAt *time.Time `json:"expires_at"`
	Erased    bool       `json:"erased,omitempty"`
}

// field has the parts of a record that are equal for all rows.
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
)

// table is a statement that reads the rows of a user. Its columns have this order:
//
//   - the id of the row
//   - the retained fields
//   - the other fields
//   - if the table has retained fields: the instant at which the retention period of ten years begins
type table struct {
	text     string
	fields   []field
	retained int  // number of retained fields
	ledger   bool // if true, $1 is the number of the user as text
}

var tables = []table{
	{text: `SELECT id, email, name, phone, last_seen FROM users WHERE id = $1`, fields: []field{
		{"users", "email", "contact", contract, pointer("account login"), nil},
		{"users", "name", "identity", contract, account, nil},
		{"users", "phone", "contact", contract, delivery, nil},
		{"users", "last_seen", "technical", interests, security, nil},
	}},
	{text: `SELECT id, street, postcode, city, country FROM addresses WHERE user_id = $1 ORDER BY id`, fields: []field{
		{"addresses", "street", "contact", contract, delivery, nil},
		{"addresses", "postcode", "location", contract, delivery, nil},
		{"addresses", "city", "location", contract, delivery, nil},
		{"addresses", "country", "location", contract, delivery, nil},
	}},
	{text: `SELECT id, ip, user_agent, logged_in_at FROM logins WHERE user_id = $1 ORDER BY id`, fields: []field{
		{"logins", "ip", "technical", interests, security, nil},
		{"logins", "user_agent", "technical", interests, security, nil},
		{"logins", "logged_in_at", "behavioral", interests, security, nil},
	}},
	{text: `SELECT id, recipient, product, note FROM orders WHERE user_id = $1 ORDER BY id`, fields: []field{
		{"orders", "recipient", "identity", contract, delivery, nil},
		{"orders", "product", "behavioral", contract, delivery, nil},
		{"orders", "note", "communication", contract, delivery, nil},
	}},
	{
		text: `SELECT id, address, CAST(total AS text), sent_to, issued_at FROM invoices WHERE user_id = $1 ORDER BY id`,
		fields: []field{
			{"invoices", "address", "financial", obligation, nil, taxLaw},
			{"invoices", "total", "financial", obligation, nil, taxLaw},
			{"invoices", "sent_to", "contact", contract, nil, nil},
		},
		retained: 2,
	},
	{
		text: `SELECT seq, purpose, policy_version, granted, recorded_at, source
			FROM habeas_consent_records WHERE subject_id = $1
			AND seq > COALESCE((SELECT consents_until FROM habeas_subject_erasures WHERE subject_id = $1), 0) ORDER BY seq`,
		fields: ledger("habeas_consent_records", pointer("Art. 7(1) GDPR"),
			"purpose", "policy_version", "granted", "recorded_at", "source"),
		ledger: true,
	},
	{
		text: `SELECT seq, purpose, restricted, reason, recorded_at, source
			FROM habeas_restriction_records WHERE subject_id = $1
			AND seq > COALESCE((SELECT restrictions_until FROM habeas_subject_erasures WHERE subject_id = $1), 0)
			ORDER BY seq`,
		fields: ledger("habeas_restriction_records", pointer("Art. 5(2) GDPR"),
			"purpose", "restricted", "reason", "recorded_at", "source"),
		ledger: true,
	},
}

func ledger(source string, reason *string, names ...string) (fields []field) {
	for _, name := range names {
		fields = append(fields, field{source, name, "behavioral", obligation, nil, reason})
	}
	return fields
}

// wasErased returns a row if the user has been erased, and no row otherwise.
const wasErased = `SELECT 1 FROM habeas_subject_erasures WHERE subject_id = $1 AND erasures > 0`

// markErased marks the values of a row that an erasure has overwritten. An erased row contains at least one random
// text, so a row without random texts is left unchanged.
func markErased(row []record) {
	isText := func(r record) bool {
		text, _ := r.Value.(string)
		return strings.HasPrefix(text, "anon-")
	}
	if !slices.ContainsFunc(row, isText) {
		return
	}
	for i, r := range row {
		instant, isTime := r.Value.(time.Time)
		if isText(r) || r.Value == json.Number("0") || isTime && instant.Equal(time.Unix(0, 0)) {
			row[i].Value, row[i].ExpiresAt, row[i].Erased = nil, r.ExpiresAt, true
		}
	}
}

func (t table) read(
	ctx context.Context, tx transaction, user int64, erased bool, records []record,
) ([]record, error) {
	var key any = user
	if t.ledger {
		key = strconv.FormatInt(user, 10)
	}
	err := tx.eachRow(ctx, func(values []any) {
		number, _ := values[0].(int64)
		row := strconv.FormatInt(number, 10)
		var expires *time.Time
		if t.retained > 0 {
			since, _ := values[len(values)-1].(time.Time)
			end := since.UTC().AddDate(10, 0, 0)
			expires = &end
		}
		for i, field := range t.fields {
			r := record{field: field, Row: row, Value: values[i+1]}
			if i < t.retained {
				r.ExpiresAt = expires
			}
			switch value := r.Value.(type) {
			case time.Time:
				r.Value = value.UTC()
			case string:
				if field.Field == "total" {
					r.Value = json.Number(value)
				}
			}
			records = append(records, r)
		}
		if erased && !t.ledger {
			markErased(records[len(records)-len(t.fields):])
		}
	}, t.text, key)
	return records, err
}

func (a api) export(c *fiber.Ctx) error {
	user, err := shop.User(c)
	if err != nil {
		return err
	}
	result := bundle{
		SubjectID: strconv.FormatInt(user, 10), SchemaVersion: 1, IncompleteSources: []string{},
		Records: make([]record, 0, 128),
	}
	requested := newEvent("export_requested", payload{"refs": 1, "resolvers": 1})
	ctx := c.UserContext()
	err = a.read(ctx, func(tx transaction) error {
		erased := false
		if err := tx.eachRow(ctx, func([]any) { erased = true }, wasErased, result.SubjectID); err != nil {
			return err
		}
		for _, table := range tables {
			var err error
			if result.Records, err = table.read(ctx, tx, user, erased, result.Records); err != nil {
				return err
			}
		}
		completed := newEvent("export_completed", payload{
			"records": len(result.Records), "incomplete_sources": "", "skipped_resolvers": "",
		})
		result.GeneratedAt = completed.At
		var last []statement
		for _, e := range requested.operation(completed) {
			last = append(last, a.insertEvent(result.SubjectID, e))
		}
		return tx.send(ctx, last)
	})
	if err != nil {
		return err
	}
	return respond(c, result)
}
