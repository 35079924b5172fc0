package sqltext

import "strings"

// Tables holds the quoted names of the tables of habeas.
type Tables struct {
	Consents, Restrictions, Events, Outbox, Erasures, Positions string
}

// tablesIn returns the names of the tables in a schema. If schema is "", the names are unqualified.
func tablesIn(schema string) Tables {
	prefix := ""
	if schema != "" {
		prefix = Quote(schema) + "."
	}
	return Tables{
		Consents:     prefix + "habeas_consent_records",
		Restrictions: prefix + "habeas_restriction_records",
		Events:       prefix + "habeas_audit_events",
		Outbox:       prefix + "habeas_outbox",
		Erasures:     prefix + "habeas_subject_erasures",
		Positions:    prefix + "habeas_positions",
	}
}

// in replaces {consents} and so on in a statement by the tables, and {name} by the text that follows the name in names.
func (t Tables) in(statement string, names ...string) string {
	return fill(statement, append(names, "consents", t.Consents, "restrictions", t.Restrictions, "events", t.Events,
		"outbox", t.Outbox, "erasures", t.Erasures, "positions", t.Positions)...)
}

// fill replaces {name} in a statement by the text that follows the name in names. Other braces stay.
func fill(statement string, names ...string) string {
	var filled strings.Builder
	rest := strings.TrimSpace(statement)
	for {
		before, after, found := strings.Cut(rest, "{")
		filled.WriteString(before)
		if !found {
			return filled.String()
		}
		name, behind, _ := strings.Cut(after, "}")
		text, ok := textOf(name, names)
		if !ok {
			text, behind = "{", after
		}
		filled.WriteString(text)
		rest = behind
	}
}

func textOf(name string, names []string) (text string, ok bool) {
	for i := 0; i+1 < len(names); i += 2 {
		if names[i] == name {
			return names[i+1], true
		}
	}
	return "", false
}

// ownTables returns the list of the tables of habeas, as constants.
func ownTables() string {
	names := tablesIn("")
	own := []string{
		"habeas_migrations", names.Consents, names.Restrictions, names.Events, names.Outbox, names.Erasures, names.Positions,
	}
	for i, name := range own {
		own[i] = literal(name)
	}
	return strings.Join(own, ", ")
}
