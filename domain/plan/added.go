package plan

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// addedAtNames are the usual names of a column with the instant at which a row was added, in lower case and without
// underscores.
var addedAtNames = []string{"createdat", "createdon", "created", "insertedat", "registeredat"}

// AddedAt returns the column with the instant at which a row of the table was added, which is the creation time of the
// row. It is a column with one of the usual names created_at, created_on, created, inserted_at and
// registered_at. The comparison ignores case and underscores. If several columns match, the first of these names wins.
//
// The column can hold times, texts or numbers (see ReadAddedAt). A column of TypeTime, or without a type, wins over the
// columns of TypeText, TypeInteger, TypeBigInt and TypeNumber. Columns of other types do not count. A column that an
// erasure overwrites in rows that stay does not count either, because it then holds a surrogate.
func AddedAt(t datamap.Table) (datamap.Column, bool) {
	deleted := t.RowsDeleted()
	for _, types := range [][]datamap.ColumnType{
		{datamap.TypeTime, ""}, {datamap.TypeText, datamap.TypeInteger, datamap.TypeBigInt, datamap.TypeNumber},
	} {
		for _, name := range addedAtNames {
			for _, column := range t.Columns {
				called := strings.ToLower(strings.ReplaceAll(column.Name, "_", ""))
				if called == name && slices.Contains(types, column.Type) && (column.Personal == nil || deleted) {
					return column, true
				}
			}
		}
	}
	return datamap.Column{}, false
}

// ReadAddedAt reads the value of a column that AddedAt returns. Every store reads these values in the same way,
// without an error, and returns the instant in UTC, in whole microseconds. A value of another form is unreadable.
// ReadAddedAt then returns false.
//
//   - A time.Time. The zero time is unreadable.
//   - A text with a date, or with a date, a space or T, and the time of day. Seconds, a fraction of a second and a zone
//     may follow. The zone is Z or an offset (+02, +0200 or +02:00) of less than 15 hours, with or without a space
//     before it. As in time.Time.String, any text may follow after +0200 and a space. A text without a zone is in UTC.
//     Further digits of the fraction are cut off. Years before 2 and after 9998 are unreadable.
//   - A number, or the text of a number, in seconds, milliseconds, microseconds or nanoseconds since 1970. The
//     magnitude of the number tells the unit. It must be from 10^8, 10^11, 10^14 or 10^17 up to 45 times as much, which
//     is between 1973 and 2112.
//   - A number from 2,000,000 to 3,000,000, or the text of such a number, is a Julian day as SQLite writes it, if it is
//     between 1973 and 2112. A floating-point number of this magnitude tells times 40 microseconds apart.
//
// Spaces at the end of a text are ignored.
func ReadAddedAt(value any) (at time.Time, ok bool) { return readAdded(value, "Z") }

// EarliestAddedAt does the same as ReadAddedAt, but returns the earliest instant that the value can mean. A text
// without a zone may be in the local time of any zone. The zone that is the furthest ahead of UTC is 14 hours ahead of
// it.
func EarliestAddedAt(value any) (at time.Time, ok bool) { return readAdded(value, "+1400") }

// ReadStart reads the start of a retention duty from a time or from a text. It accepts the values that ReadAddedAt
// accepts, and the year 1, in which programs write a time that is long ago. If a value is unreadable, the duty has no
// known end. Every store reads the values of its columns in the same forms.
func ReadStart(value any) (start datamap.Start, ok bool) {
	text, isText := value.(string)
	if at, isTime := value.(time.Time); isTime && at.UTC().Year() <= 1 || isText && strings.HasPrefix(text, "0001-") {
		return datamap.Start{At: time.Time{}}, true
	}
	at, ok := readAdded(value, "Z")
	if parts := addedText.FindStringSubmatch(strings.TrimRight(text, " ")); parts != nil {
		start.Local = parts[5]+parts[6] == ""
	}
	start.At = at
	return start, ok
}

// readAdded reads a value for ReadAddedAt. The parameter zone is the zone of a text without a zone.
func readAdded(value any, zone string) (at time.Time, ok bool) {
	switch value := value.(type) {
	case time.Time:
		return domain.Instant(value), hasYearAdded(value.UTC())
	case string:
		text := strings.TrimRight(value, " ")
		if addedNumber.MatchString(text) {
			return numberAdded(text)
		}
		return textAdded(text, zone)
	case domain.Number:
		return readAdded(string(value), zone)
	case int64:
		return readAdded(strconv.FormatInt(value, 10), zone)
	case float64:
		return readAdded(strconv.FormatFloat(value, 'f', -1, 64), zone)
	default:
		return time.Time{}, false
	}
}

// hasYearAdded reports whether the year is readable. The zero time of Go is in the year 1, and some programs write the
// year 9999 for a time that never comes.
func hasYearAdded(at time.Time) bool { return at.Year() >= 2 && at.Year() <= 9998 }

var (
	addedNumber = regexp.MustCompile(`^[1-9][0-9]{6,18}([.][0-9]+)?$`)

	// The groups are the date, the hour and the minute, the second, the fraction, and two forms of the zone.
	addedText = regexp.MustCompile(`(?s)^([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[ T]((?:[01][0-9]|2[0-3]):[0-5][0-9])` +
		`(?::([0-5][0-9])(?:[.]([0-9]+))?)?(?: ?(Z|[+-](?:0[0-9]|1[0-4])(?::?[0-5][0-9])?)` +
		`| ?([+-](?:0[0-9]|1[0-4])[0-5][0-9]) .*)?)?$`)
)

func textAdded(text, defaultZone string) (at time.Time, ok bool) {
	parts := addedText.FindStringSubmatch(text)
	if parts == nil {
		return time.Time{}, false
	}
	zone := strings.ReplaceAll(parts[5]+parts[6], ":", "")
	if len(zone) == len("+02") {
		zone += "00"
	}
	at, err := time.Parse("2006-01-02 15:04:05 .999999999 Z0700", parts[1]+" "+cmp.Or(parts[2], "00:00")+":"+
		cmp.Or(parts[3], "00")+" ."+(parts[4] + "000000")[:6]+" "+cmp.Or(zone, defaultZone))
	return at.UTC(), err == nil && hasYearAdded(at)
}

// numberAdded computes as the databases do, in floating-point numbers. They hold half microseconds before 2112 exactly.
func numberAdded(text string) (at time.Time, ok bool) {
	n, err := strconv.ParseFloat(text, 64)
	micros := n
	switch {
	case err != nil:
		return time.Time{}, false
	case n >= 1e17:
		integer, _, _ := strings.Cut(text, ".")
		nanos, err := strconv.ParseInt(integer, 10, 64)
		if err != nil {
			return time.Time{}, false
		}
		micros = float64(nanos / 1000)
	case n >= 1e14:
	case n >= 1e11:
		micros = n * 1e3
	case n >= 1e8:
		micros = n * 1e6
	case n >= 2e6 && n < 3e6:
		micros = (n - 2440587.5) * 86400e6 // 1970 is the Julian day 2440587.5
	default:
		return time.Time{}, false
	}
	micros = math.Floor(micros + 0.5)
	return time.UnixMicro(int64(micros)).UTC(), micros >= 1e14 && micros < 45e14
}
