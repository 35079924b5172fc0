package bunmodels

import (
	"errors"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

type tag struct {
	annotation datamap.Annotation
	surrogate  string
	always     bool
	zone       string
}

// notPersonal is the pii tag of a column without personal data. This tag has no options.
const notPersonal = "none"

// always is the only option of a pii tag without a value, see datamap.Column.Always.
const always = "always"

// options are the options that can follow the category in a pii tag.
var options = []string{
	"erasure", "basis", "purpose", "reason", "retain", "since", "from", "zone", "surrogate", "export", "via", "ref",
}

// parseTag parses a pii tag and returns all problems of its syntax. The data map checks the values later. If a part of
// the tag cannot be parsed, parseTag sets a valid value for it, so that the data map does not report the same mistake
// again.
func parseTag(text string) (tag, []domain.Problem) {
	parts, err := splitTag(text)
	if err != nil {
		return tag{annotation: datamap.Annotation{Category: domain.CategorySpecial}}, []domain.Problem{{
			Message: err.Error(), Found: text,
			Remedy: "put the complete value in single quotes, and write each single quote inside it twice",
		}}
	}
	if parts[0] == notPersonal {
		return tag{annotation: datamap.Annotation{Category: domain.CategorySpecial}}, []domain.Problem{{
			Message: "its pii tag is none (no personal data), but has options", Found: text,
			Remedy: `use pii:"none" without options, or give the category`,
		}}
	}
	t := tag{annotation: datamap.Annotation{Category: domain.Category(parts[0])}}
	var problems []domain.Problem
	var seen, unread []string
	for _, part := range parts[1:] {
		name, value, found := strings.Cut(part, ":")
		if found == (name == always) || slices.Contains(seen, name) {
			problems = append(problems, domain.Problem{
				Message:  "its pii tag must be a category and then options like erasure:anonymize, each once",
				Found:    part,
				Possible: append(without(options, seen), without([]string{always}, seen)...),
			})
			continue
		}
		seen = append(seen, name)
		if name == always {
			t.always = true
			continue
		}
		if problem := t.set(name, value); problem.Message != "" {
			problems, unread = append(problems, problem), append(unread, name)
		}
	}
	if slices.Contains(unread, "retain") || slices.Contains(unread, "since") {
		t.annotation.Retain, t.annotation.Since, t.annotation.From = datamap.Period{}, "", ""
	}
	if slices.Contains(unread, "reason") && t.annotation.Strategy == domain.StrategyRetain {
		t.annotation.Reason = text
	}
	return t, problems
}

func without(list, taken []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(name string) bool { return slices.Contains(taken, name) })
}

// set sets an option. It returns an empty problem if the option is valid.
func (t *tag) set(name, quoted string) domain.Problem {
	if !slices.Contains(options, name) {
		return domain.Problem{Message: "its pii tag has an unknown option: " + name, Found: name, Possible: options}
	}
	value, err := unquote(quoted)
	switch {
	case err != nil:
		return domain.Problem{
			Message: err.Error(), Found: name + ":" + quoted,
			Remedy: "put the complete value in single quotes, and write each single quote inside it twice",
		}
	case value == "" && name == "surrogate" && strings.TrimSpace(quoted) != "":
		value = datamap.EmptySurrogate
	case value == "":
		return domain.Problem{
			Message: "its pii tag has an empty " + name, Remedy: "give a value, or leave the option out",
		}
	}
	switch name {
	case "erasure":
		t.annotation.Strategy = domain.Strategy(value)
	case "basis":
		t.annotation.Basis = domain.LegalBasis(value)
	case "purpose":
		t.annotation.Purpose = value
	case "reason":
		t.annotation.Reason = value
	case "retain":
		if t.annotation.Retain, err = datamap.ParsePeriod(value); err != nil {
			var wrong *domain.Error
			errors.As(err, &wrong)
			return domain.Problem{Message: "its pii tag has a retain that " + wrong.Message, Found: value}
		}
	case "since":
		t.annotation.Since = value
	case "from":
		t.annotation.From = value
	case "zone":
		t.zone = value
	case "surrogate":
		t.surrogate = value
	case "via":
		t.annotation.Via = value
	case "export":
		t.annotation.Export = datamap.Export(value)
	case "ref":
		t.annotation.Ref = value
	}
	return domain.Problem{}
}

// splitTag splits a tag at each comma that is not inside single quotes.
func splitTag(text string) ([]string, error) {
	var parts []string
	quoted, start := false, 0
	for i := range len(text) {
		switch {
		case text[i] == '\'':
			quoted = !quoted
		case text[i] == ',' && !quoted:
			parts, start = append(parts, strings.TrimSpace(text[start:i])), i+1
		}
	}
	if quoted {
		return nil, errors.New("its pii tag has a quote that is not closed")
	}
	return append(parts, strings.TrimSpace(text[start:])), nil
}

// unquote removes the single quotes around a value. Inside the quotes, it replaces two single quotes by one.
func unquote(value string) (string, error) {
	value = strings.TrimSpace(value)
	inner, opened := strings.CutPrefix(value, "'")
	if !opened {
		if strings.Contains(value, "'") {
			return "", errors.New("its pii tag has a quote inside a value that is not quoted")
		}
		return value, nil
	}
	inner, closed := strings.CutSuffix(inner, "'")
	if !closed || strings.Contains(strings.ReplaceAll(inner, "''", ""), "'") {
		return "", errors.New("its pii tag has text after a quoted value")
	}
	return strings.ReplaceAll(inner, "''", "'"), nil
}
