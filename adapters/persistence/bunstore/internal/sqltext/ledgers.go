package sqltext

// Ledgers holds the statements that read the ledgers of a subject (consents and restrictions) and its audit trail. $1
// is the id of the subject.
type Ledgers struct {
	// LatestConsent reads the latest consent for the purpose $2. It is the most frequent statement, because it runs before
	// each use of personal data.
	LatestConsent     string
	LatestConsentAsOf string // the latest consent for the purpose $2 that was recorded at or before $3
	LatestConsents    string // the latest consent for each [subject, purpose] of the array $1, and the number of the pair
	ConsentsInForce   string // the latest consent for each purpose; the last column is the purpose
	ConsentHistory    string // all consents for the purpose $2

	LatestRestriction  string // the latest restriction without a purpose
	LatestRestrictions string // the latest restriction without a purpose, and the latest restriction for the purpose $2
	GlobalHistory      string // all restrictions without a purpose
	PurposeHistory     string // all restrictions for the purpose $2

	Trail string // the audit trail
}

const (
	latestConsent = `
		SELECT policy_version, granted, recorded_at, source
		FROM {consents}
		WHERE subject_id = $1 AND purpose = $2
		ORDER BY seq DESC LIMIT 1`

	latestConsentAsOf = `
		SELECT policy_version, granted, recorded_at, source
		FROM {consents}
		WHERE subject_id = $1 AND purpose = $2 AND recorded_at <= $3
		ORDER BY seq DESC LIMIT 1`

	latestConsents = `
		SELECT policy_version, granted, recorded_at, source, n
		FROM json_array_elements(CAST($1 AS json)) WITH ORDINALITY AS pairs (pair, n)
		CROSS JOIN LATERAL (
			SELECT policy_version, granted, recorded_at, source
			FROM {consents}
			WHERE subject_id = pair ->> 0 AND purpose = pair ->> 1
			ORDER BY seq DESC LIMIT 1
		) AS latest`

	consentsInForce = `
		SELECT policy_version, granted, recorded_at, source, purpose
		FROM {consents}
		WHERE subject_id = {subject}
			AND seq IN (SELECT max(seq) FROM {consents} WHERE subject_id = {subject} GROUP BY purpose)
		ORDER BY seq`

	consentHistory = `
		SELECT policy_version, granted, recorded_at, source
		FROM {consents}
		WHERE subject_id = $1 AND purpose = $2
		ORDER BY seq`

	// ORDER BY contains the column "purpose", although this column has only one value here. Without the column, PostgreSQL
	// does not use the order of the index for the condition purpose IS NULL.
	latestRestriction = `
		SELECT * FROM (
			SELECT purpose, restricted, reason, recorded_at, source
			FROM {restrictions}
			WHERE subject_id = $1 AND purpose IS NULL
			ORDER BY purpose, seq DESC LIMIT 1
		) AS everywhere`

	latestRestrictions = latestRestriction + `
		UNION ALL
		SELECT * FROM (
			SELECT purpose, restricted, reason, recorded_at, source
			FROM {restrictions}
			WHERE subject_id = $1 AND purpose = $2
			ORDER BY purpose, seq DESC LIMIT 1
		) AS scoped`

	globalHistory = `
		SELECT purpose, restricted, reason, recorded_at, source
		FROM {restrictions}
		WHERE subject_id = $1 AND purpose IS NULL
		ORDER BY seq`

	purposeHistory = `
		SELECT purpose, restricted, reason, recorded_at, source
		FROM {restrictions}
		WHERE subject_id = $1 AND purpose = $2
		ORDER BY seq`

	trail = `
		SELECT event_id, event_type, occurred_at, payload
		FROM {events}
		WHERE subject_ref = $1
		ORDER BY seq`
)

// NewLedgers returns the statements on the ledgers.
func NewLedgers(tables Tables) Ledgers {
	return Ledgers{
		LatestConsent:      tables.fill(latestConsent),
		LatestConsentAsOf:  tables.fill(latestConsentAsOf),
		LatestConsents:     tables.fill(latestConsents),
		ConsentsInForce:    tables.fill(consentsInForce, "subject", "$1"),
		ConsentHistory:     tables.fill(consentHistory),
		LatestRestriction:  tables.fill(latestRestriction),
		LatestRestrictions: tables.fill(latestRestrictions),
		GlobalHistory:      tables.fill(globalHistory),
		PurposeHistory:     tables.fill(purposeHistory),
		Trail:              tables.fill(trail),
	}
}
