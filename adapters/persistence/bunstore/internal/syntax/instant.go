package syntax

import (
	"fmt"
	"time"
)

// instantFormat has a fixed width, so that texts sort in the order of their instants.
const instantFormat = "2006-01-02T15:04:05.000000Z"

// Instant is a point in time. It implements sql.Scanner for the values that the drivers of both databases return.
type Instant time.Time

// Scan implements sql.Scanner.
func (i *Instant) Scan(value any) error {
	switch value := value.(type) {
	case time.Time:
		*i = Instant(value.UTC())
		return nil
	case string:
		t, err := time.Parse(instantFormat, value)
		*i = Instant(t)
		return err
	default:
		return fmt.Errorf("an instant must be a time or a text, not a %T", value)
	}
}

// OptionalInstant scans a column that holds an instant, NULL or an invalid value. It implements sql.Scanner.
type OptionalInstant struct {
	Time    *time.Time // nil for NULL and for an invalid value
	Invalid bool
}

// OrZero returns the instant, or the zero time.
func (o *OptionalInstant) OrZero() time.Time {
	if o.Time == nil {
		return time.Time{}
	}
	return *o.Time
}

func (o *OptionalInstant) Scan(value any) error {
	if value == nil {
		return nil
	}
	var read Instant
	if err := read.Scan(value); err != nil {
		o.Invalid = true
		return nil //nolint:nilerr // o.invalid reports the error
	}
	at := time.Time(read)
	o.Time = &at
	return nil
}
