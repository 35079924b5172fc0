package check

import (
	_ "embed" // for listed
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
)

// Rule is a rule that Run applies to a data map.
type Rule struct {
	Code string `json:"code"` // never changes
	// Severity is the severity of the findings. A finding of delete-cascades or delete-undecided is an error if the
	// database deletes rows of other people. One of delete-restricted is a warning if a trigger may change the referring
	// rows, one of partition-missing is a warning if it is not certain, and one of encoding-other can be a notice.
	Severity datamap.Severity `json:"severity"`
	Title    string           `json:"title"` // describes a violation of the rule, as a sentence without a full stop

	texts []string // see listed
}

const (
	failure = datamap.SeverityError
	warning = datamap.SeverityWarning
)

// listed has the rules in the order of their danger: an erasure leaves personal data or changes the data of other
// people, then it fails, then it is slow, or the data map needs care. A rule has a line with its severity, code and
// title. Indented below it are the reason and the remedy of its findings, or only the remedy, unless they depend on the
// place. Lines that are indented twice continue a text.
//
//go:embed rules.txt
var listed string

var rules = readRules()

func readRules() (all []Rule) {
	for line := range strings.Lines(strings.ReplaceAll(listed, "\n\t\t", " ")) {
		line = strings.TrimSuffix(line, "\n")
		if text, ok := strings.CutPrefix(line, "\t"); ok {
			all[len(all)-1].texts = append(all[len(all)-1].texts, text)
			continue
		}
		severity, rest, _ := strings.Cut(line, " ")
		code, title, _ := strings.Cut(rest, " ")
		all = append(all, Rule{Code: code, Severity: datamap.Severity(severity), Title: title})
	}
	return all
}

// Rules returns all rules that Run applies, in the order of their danger.
func Rules() []Rule { return slices.Clone(rules) }

func severityOf(code string) datamap.Severity { return rules[indexOf(code)].Severity }
