package sqltext

import "github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"

// Ledgers holds the statements that read the ledgers of a subject (consents and restrictions) and its audit trail. $1
// is the id of the subject. After the columns of a record, the statements on the latest records and on the consents in
// force return whether the record belongs to an earlier life of the id, or NULL if the subject has no mark. The
// statements on the histories leave out such records, except ConsentsOfAllLives.
type Ledgers struct {
	// LatestConsent reads the latest consent for the purpose $2. It is the most frequent statement, because it runs before
	// each use of personal data.
	LatestConsent      string
	LatestConsentAsOf  string // the latest consent for the purpose $2 that was recorded at or before $3
	LatestConsents     string // the latest consent for each [subject, purpose] of the array $1, and the number of the pair
	ConsentsInForce    string // the latest consent for each purpose; the last column is the purpose
	ConsentHistory     string // all consents for the purpose $2
	ConsentsOfAllLives string // all consents for the purpose $2, of all lives of the id

	LatestRestriction  string // the latest restriction without a purpose
	LatestRestrictions string // the latest restriction without a purpose, and the latest restriction for the purpose $2
	GlobalHistory      string // all restrictions without a purpose
	PurposeHistory     string // all restrictions for the purpose $2

	Trail string // the audit trail
}

const (
	// readEarlierUntil is the highest number of a record that belongs to an earlier life of the id, or NULL.
	readEarlierUntil = `(SELECT m.{column} FROM {erasures} AS m WHERE m.subject_id = {subject})`

	latestConsent = `
		SELECT policy_version, granted, recorded_at, source, seq <= {until}
		FROM {consents}
		WHERE subject_id = $1 AND purpose = $2
		ORDER BY seq DESC LIMIT 1`

	latestConsentAsOf = `
		SELECT policy_version, granted, recorded_at, source, seq <= {until}
		FROM {consents}
		WHERE subject_id = $1 AND purpose = $2 AND recorded_at <= $3
		ORDER BY seq DESC LIMIT 1`

	latestConsents = `
		SELECT policy_version, granted, recorded_at, source, seq <= {until of pair}, n
		FROM json_array_elements(CAST($1 AS json)) WITH ORDINALITY AS pairs (pair, n)
		CROSS JOIN LATERAL (
			SELECT policy_version, granted, recorded_at, source, seq
			FROM {consents}
			WHERE subject_id = pair ->> 0 AND purpose = pair ->> 1
			ORDER BY seq DESC LIMIT 1
		) AS latest`

	consentsInForce = `
		SELECT policy_version, granted, recorded_at, source, seq <= {until}, purpose
		FROM {consents}
		WHERE subject_id = {subject}
			AND seq IN (SELECT max(seq) FROM {consents} WHERE subject_id = {subject} GROUP BY purpose)
		ORDER BY seq`

	consentHistory = `
		SELECT policy_version, granted, recorded_at, source
		FROM {consents}
		WHERE subject_id = $1 AND purpose = $2 AND seq > COALESCE({until}, 0)
		ORDER BY seq`

	// ORDER BY contains the column "purpose", although this column has only one value here. Without the column, PostgreSQL
	// does not use the order of the index for the condition purpose IS NULL.
	latestRestriction = `
		SELECT * FROM (
			SELECT purpose, restricted, reason, recorded_at, source, seq <= {until}
			FROM {restrictions}
			WHERE subject_id = $1 AND purpose IS NULL
			ORDER BY purpose, seq DESC LIMIT 1
		) AS everywhere`

	latestRestrictions = latestRestriction + `
		UNION ALL
		SELECT * FROM (
			SELECT purpose, restricted, reason, recorded_at, source, seq <= {until}
			FROM {restrictions}
			WHERE subject_id = $1 AND purpose = $2
			ORDER BY purpose, seq DESC LIMIT 1
		) AS scoped`

	globalHistory = `
		SELECT purpose, restricted, reason, recorded_at, source
		FROM {restrictions}
		WHERE subject_id = $1 AND purpose IS NULL AND seq > COALESCE({until}, 0)
		ORDER BY seq`

	purposeHistory = `
		SELECT purpose, restricted, reason, recorded_at, source
		FROM {restrictions}
		WHERE subject_id = $1 AND purpose = $2 AND seq > COALESCE({until}, 0)
		ORDER BY seq`

	trail = `
		SELECT event_id, event_type, occurred_at, payload
		FROM {events}
		WHERE subject_ref = $1
		ORDER BY seq`
)

// NewLedgers returns the statements on the ledgers.
func NewLedgers(tables syntax.Tables) Ledgers {
	consents := func(statement, until string) string {
		return tables.Fill(statement, "until", until, "until of pair", earlierUntil(tables, Consents, "pair ->> 0"),
			"subject", "$1")
	}
	restrictions := func(statement string) string {
		return tables.Fill(statement, "until", earlierUntil(tables, Restrictions, "$1"))
	}
	until := earlierUntil(tables, Consents, "$1")
	return Ledgers{
		LatestConsent:      consents(latestConsent, until),
		LatestConsentAsOf:  consents(latestConsentAsOf, until),
		LatestConsents:     consents(latestConsents, until),
		ConsentsInForce:    consents(consentsInForce, until),
		ConsentHistory:     consents(consentHistory, until),
		ConsentsOfAllLives: consents(consentHistory, "NULL"),
		LatestRestriction:  restrictions(latestRestriction),
		LatestRestrictions: restrictions(latestRestrictions),
		GlobalHistory:      restrictions(globalHistory),
		PurposeHistory:     restrictions(purposeHistory),
		Trail:              tables.Fill(trail),
	}
}

// earlierUntil returns the expression for the highest number of a record in a ledger that belongs to an earlier life of
// the subject's id. It is NULL if the subject has no mark.
func earlierUntil(t syntax.Tables, ledger Kind, subject string) string {
	column := "consents_until"
	if ledger == Restrictions {
		column = "restrictions_until"
	}
	return t.Fill(readEarlierUntil, "column", column, "subject", subject)
}
