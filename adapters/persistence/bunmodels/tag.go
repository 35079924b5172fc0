package bunmodels

import (
	"errors"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// tag is what a pii struct tag says.
type tag struct {
	annotation domain.Annotation
	surrogate  string
}

// parseTag reads a pii struct tag. Whether its values are known is checked with the data map.
func parseTag(text string) (tag, error) {
	parts, err := splitTag(text)
	if err != nil {
		return tag{}, err
	}
	t := tag{annotation: domain.Annotation{Category: domain.Category(parts[0])}}
	seen := map[string]bool{}
	for _, part := range parts[1:] {
		name, value, found := strings.Cut(part, ":")
		if !found || seen[name] {
			return tag{}, errors.New("its pii tag must be a category and then options like erasure:anonymize, each once")
		}
		seen[name] = true
		value, err := unquote(value)
		if err != nil {
			return tag{}, err
		}
		if err := t.set(name, value); err != nil {
			return tag{}, err
		}
	}
	return t, nil
}

func (t *tag) set(name, value string) (err error) {
	if value == "" {
		return errors.New("its pii tag has an empty " + name)
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
		if t.annotation.Retain, err = domain.ParsePeriod(value); err != nil {
			return errors.New(`its pii tag has a retain that is not like "10y", "6m", "30d" or "1y6m"`)
		}
	case "since":
		t.annotation.Since = value
	case "surrogate":
		t.surrogate = value
	default:
		return errors.New("its pii tag has an unknown option: " + name)
	}
	return nil
}

// splitTag splits at commas that are not in single quotes.
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

// unquote takes the single quotes off a value; two of them inside are one.
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
		return "", errors.New("its pii tag has text behind a quoted value")
	}
	return strings.ReplaceAll(inner, "''", "'"), nil
}
