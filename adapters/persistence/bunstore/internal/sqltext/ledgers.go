package sqltext

// Ledgers are the statements on the ledgers of a subject, whose id is $1.
type Ledgers struct {
	// Of LatestConsent, the purpose is $2. Nothing is asked more often, for it is asked before each use of personal data.
	LatestConsent     string
	LatestConsentAsOf string // at the instant $3
	LatestConsents    string // $1 is a JSON array of pairs of a subject and a purpose; behind each is its number, from 1
	ConsentsInForce   string // behind each is its purpose
	ConsentHistory    string // for the purpose $2

	LatestRestriction  string // that is for no purpose
	LatestRestrictions string // also the one for the purpose $2
	GlobalHistory      string // of restrictions for no purpose
	PurposeHistory     string // of restrictions for the purpose $2

	Trail string
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

	// By purpose first, which is the same in all of them: so PostgreSQL sees that the index has the order, also for NULL.
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

// NewLedgers writes the statements.
func NewLedgers(tables Tables) Ledgers {
	return Ledgers{
		LatestConsent:      tables.in(latestConsent),
		LatestConsentAsOf:  tables.in(latestConsentAsOf),
		LatestConsents:     tables.in(latestConsents),
		ConsentsInForce:    tables.in(consentsInForce, "subject", "$1"),
		ConsentHistory:     tables.in(consentHistory),
		LatestRestriction:  tables.in(latestRestriction),
		LatestRestrictions: tables.in(latestRestrictions),
		GlobalHistory:      tables.in(globalHistory),
		PurposeHistory:     tables.in(purposeHistory),
		Trail:              tables.in(trail),
	}
}
