package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/habeas-data/habeas/adapters/supportdesk"
	"github.com/habeas-data/habeas/domain/datamap"
)

// bundle is the body of an export response.
type bundle struct {
	Records           []record `json:"records"`
	IncompleteSources []string `json:"incomplete_sources"`
}

type record struct {
	Source          string          `json:"source"`
	Field           string          `json:"field"`
	Row             string          `json:"row"`
	Category        string          `json:"category"`
	Value           json.RawMessage `json:"value"`
	LegalBasis      *string         `json:"legal_basis"`
	RetentionReason *string         `json:"retention_reason"`
	ExpiresAt       *string         `json:"expires_at"`
}

// table formats the export as a text table.
func (b bundle) table() string {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "   source\trow\tfield\tvalue\tkept until (reason)")
	for _, r := range b.Records {
		kept := ""
		if r.ExpiresAt != nil && r.RetentionReason != nil {
			date, _, _ := strings.Cut(*r.ExpiresAt, "T")
			kept = date + " (" + *r.RetentionReason + ")"
		}
		row := strings.ReplaceAll(r.Row, "\x1f", "/") // a composite key
		fmt.Fprintf(table, "   %s\t%s\t%s\t%s\t%s\n", r.Source, row, r.Field, r.Value, kept)
	}
	_ = table.Flush() // cannot fail: it writes to memory
	return trailingSpace.ReplaceAllString(text.String(), "\n")
}

var trailingSpace = regexp.MustCompile(" +\n")

// split returns the records of the application's tables and the records of the support desk. It omits the records of
// the consent ledger and of the restriction ledger.
func (b bundle) split() (local, external []record) {
	for _, r := range b.Records {
		switch {
		case r.Source == supportdesk.Name:
			external = append(external, r)
		case !isLedger(r):
			local = append(local, r)
		}
	}
	return local, external
}

// ledgers returns the number of distinct rows of the consent ledger and of the restriction ledger in the export.
func (b bundle) ledgers() int {
	lines := map[string]bool{}
	for _, r := range b.Records {
		if isLedger(r) {
			lines[r.Source+" "+r.Row] = true
		}
	}
	return len(lines)
}

func isLedger(r record) bool {
	return r.Source == datamap.ConsentLedgerSource || r.Source == datamap.RestrictionLedgerSource
}

func (b bundle) find(other record) (record, bool) {
	i := slices.IndexFunc(b.Records, func(r record) bool {
		return r.Source == other.Source && r.Field == other.Field && r.Row == other.Row
	})
	if i < 0 {
		return record{}, false
	}
	return b.Records[i], true
}

func equalJSON(a, b json.RawMessage) bool { return string(a) == string(b) }
