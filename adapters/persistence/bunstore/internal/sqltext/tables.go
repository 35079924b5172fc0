package sqltext

import "strings"

// Tables holds the quoted names of the tables of habeas.
type Tables struct {
	Consents, Restrictions, Events, Outbox, Erasures, Positions string
}

// tablesIn returns the quoted names of the tables of habeas in a schema. If schema is "", the names have no schema.
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

// fill replaces each {name} in a statement by a text. The parameter replacements is a list of pairs of a name and its
// text. In addition, fill replaces {consents}, {outbox} and so on by the names of these tables of habeas.
func (t Tables) fill(statement string, replacements ...string) string {
	return fill(statement, append(replacements, "consents", t.Consents, "restrictions", t.Restrictions, "events", t.Events,
		"outbox", t.Outbox, "erasures", t.Erasures, "positions", t.Positions)...)
}

// fill replaces each {name} in a statement by a text. The parameter replacements is a list of pairs of a name and its
// text. fill does not change other braces.
func fill(statement string, replacements ...string) string {
	var filled strings.Builder
	rest := strings.TrimSpace(statement)
	for {
		before, after, found := strings.Cut(rest, "{")
		filled.WriteString(before)
		if !found {
			return filled.String()
		}
		name, behind, _ := strings.Cut(after, "}")
		text, ok := replacementOf(name, replacements)
		if !ok {
			text, behind = "{", after
		}
		filled.WriteString(text)
		rest = behind
	}
}

func replacementOf(name string, replacements []string) (text string, ok bool) {
	for i := 0; i+1 < len(replacements); i += 2 {
		if replacements[i] == name {
			return replacements[i+1], true
		}
	}
	return "", false
}

// ownTables returns the names of all tables of habeas as a list of SQL constants.
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
