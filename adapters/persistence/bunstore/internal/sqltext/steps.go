package sqltext

import (
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/ledger"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/outbox"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/rows"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
)

// prefetchColumns reads the values of a Prefetched (values that an erasure needs after its steps) in additional columns
// of a statement. Instants have a fixed format, so that the settings of the session have no effect.
const prefetchColumns = `,
		EXISTS (SELECT FROM {outbox} WHERE ` + outbox.UnsentCorrections + `),
		(SELECT json_agg(json_build_array(purpose, policy_version, granted, source,
			to_char(recorded_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')))
		FROM (` + ledger.ReadConsentsInForce + `) AS in_force)`

// AddPrefetch adds the columns of a Prefetched (values that an erasure needs after its steps) to the statement of a
// group. The subject's id becomes the last parameter.
func AddPrefetch(w *rows.Writer, g *rows.StepGroup) {
	subject := syntax.Placeholder(len(g.Args(g.Steps, make([]any, len(w.DataMap.SubjectTable().SubjectKey)))) + 1)
	g.Text += w.Tables.Fill(prefetchColumns, "subject", subject, "until", "0") // the erasure withdraws all consents
}
