package sqlitestore

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// layout is how instants are kept, as texts whose order is that of time.
const layout = "2006-01-02T15:04:05.000000Z"

func stamp(t time.Time) string { return domain.Instant(t).Format(layout) }

func optionalStamp(t *time.Time) any {
	if t == nil {
		return nil
	}
	return stamp(*t)
}

// optional is a copy of the value, or NULL.
func optional[T any](value *T) any {
	if value == nil {
		return nil
	}
	return *value
}

// cell is what a text column of habeas's own is scanned into; NULL leaves it as it is.
type cell func(text string) error

// Scan implements sql.Scanner.
func (c cell) Scan(stored any) error {
	switch stored := stored.(type) {
	case nil:
		return nil
	case string:
		return c(stored)
	default:
		return errors.New("a stored value is no text")
	}
}

func subject(into *domain.SubjectID) cell {
	return func(text string) (err error) { *into, err = domain.ParseSubjectID(text); return err }
}

func instant(into *time.Time) cell {
	return func(text string) (err error) { *into, err = time.Parse(layout, text); return err }
}

func optionalInstant(into **time.Time) cell {
	return func(text string) error { *into = new(time.Time); return instant(*into)(text) }
}

func document(into any) cell {
	return func(text string) error { return json.Unmarshal([]byte(text), into) }
}

// exactDocument leaves numbers as they are, as json.Number.
func exactDocument(into any) cell {
	return func(text string) error {
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		return decoder.Decode(into)
	}
}
