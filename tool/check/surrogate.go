package check

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/habeas-data/habeas/domain/datamap"
)

// surrogate is an example of the value that an erasure writes into a column. A real surrogate may have other random
// digits.
type surrogate struct {
	column   datamap.Column
	text     string             // the surrogate as text
	wants    datamap.ColumnType // the type of the SQL expression; empty for a literal, which takes the type of its column
	examples []any              // for ports.CatalogReader.Satisfies; several if the surrogate has random digits
}

// samples are examples of the random digits in surrogates.
var samples = []string{
	"0123456789abcdef0123456789abcdef", "c7f19b3a5d8240e6b1f47c9e2a60d835", "97b2e05fd14c4a8f8e36a1d7c05b29f4",
	"e4a8d61c03974b2fa5d8f96e71b3c20a",
}

// surrogateOf returns the surrogate of a column that an erasure does not set to NULL.
func surrogateOf(column datamap.Column) surrogate {
	s := surrogate{column: column}
	constant, ok := column.Constant()
	switch {
	case column.Digits() > 0:
		s.wants = datamap.TypeText
		for _, digits := range samples {
			s.examples = append(s.examples, column.Filled(digits))
		}
		s.text = column.Filled(samples[0])
	case ok:
		s.text, s.examples = constant, []any{constantValue(column.Type, constant)}
	default:
		s.ofType()
	}
	return s
}

// ofType sets the default surrogate (replacement value) of the column's type.
func (s *surrogate) ofType() {
	switch s.column.Type { //nolint:exhaustive // the others are JSON and arrays
	case datamap.TypeText:
		s.wants, s.text = datamap.TypeText, s.column.DefaultText(samples[0])
		for _, digits := range samples {
			s.examples = append(s.examples, s.column.DefaultText(digits))
		}
	case datamap.TypeUUID:
		s.wants, s.text = datamap.TypeUUID, "6f9619ff-8b86-4d01-b42d-00cf4fc964ff"
		s.examples = []any{s.text}
	case datamap.TypeSmallInt, datamap.TypeInteger, datamap.TypeBigInt, datamap.TypeNumber:
		s.wants, s.text, s.examples = datamap.TypeNumber, "0", []any{int64(0)}
	case datamap.TypeBoolean:
		s.wants, s.text, s.examples = datamap.TypeBoolean, "false", []any{false}
	case datamap.TypeTime:
		s.text, s.examples = "1970-01-01 00:00:00+00:00", []any{"1970-01-01 00:00:00+00:00"}
	case datamap.TypeBytes:
		s.examples = []any{[]byte{}}
	default:
		s.text, s.examples = "{}", []any{"{}"}
	}
}

// constantValue returns the constant of a column as a number or a boolean if the column has such a type.
func constantValue(t datamap.ColumnType, constant string) any {
	switch family(t) { //nolint:exhaustive // a constant of another type is treated as a text
	case datamap.TypeNumber:
		if n, err := strconv.ParseInt(constant, 10, 64); err == nil {
			return n
		}
		if n, err := strconv.ParseFloat(constant, 64); err == nil {
			return n
		}
	case datamap.TypeBoolean:
		if b, err := strconv.ParseBool(constant); err == nil {
			return b
		}
	}
	return constant
}

// fits reports whether the database accepts the surrogate as a value of the column's type. It returns true if this is
// unknown. It must not be used for SQLite, which does not check types.
func (s surrogate) fits(live datamap.CatalogColumn) bool {
	switch {
	case live.Type == "" && s.wants == datamap.TypeText:
		return false // text has no implicit conversion to another type
	case live.Type == "":
		return s.fitsUnknown(live)
	case s.wants == "":
		return s.literalFits(live)
	case live.Type == datamap.TypeText:
		return true // every value has a text form
	default:
		return family(s.wants) == family(live.Type)
	}
}

// fitsUnknown does the check of the method fits for a column whose type the data map does not support, such as inet.
func (s surrogate) fitsUnknown(live datamap.CatalogColumn) bool {
	if !strings.HasPrefix(live.Declared, "inet") && !strings.HasPrefix(live.Declared, "cidr") {
		return true
	}
	_, noAddress := netip.ParseAddr(s.text)
	_, noPrefix := netip.ParsePrefix(s.text)
	return noAddress == nil || noPrefix == nil
}

// literalFits reports whether the database can parse the literal as a value of the column's type.
func (s surrogate) literalFits(live datamap.CatalogColumn) bool {
	switch live.Type { //nolint:exhaustive // texts and bytes take any literal
	case datamap.TypeSmallInt:
		_, err := strconv.ParseInt(s.text, 10, 16)
		return err == nil
	case datamap.TypeInteger:
		_, err := strconv.ParseInt(s.text, 10, 32)
		return err == nil
	case datamap.TypeBigInt:
		_, err := strconv.ParseInt(s.text, 10, 64)
		return err == nil
	case datamap.TypeNumber:
		_, err := strconv.ParseFloat(s.text, 64)
		return err == nil
	case datamap.TypeBoolean:
		return strings.Contains(" t true f false y yes n no on off 1 0 ", " "+strings.ToLower(s.text)+" ")
	case datamap.TypeUUID:
		return datamap.IsUUID(strings.ToLower(s.text))
	case datamap.TypeJSON:
		return json.Valid([]byte(s.text))
	case datamap.TypeArray:
		return strings.HasPrefix(s.text, "{") && strings.HasSuffix(s.text, "}")
	case datamap.TypeTime: // has more forms than can be listed
		return s.text != "" && (strings.Contains(s.text, "-") || strings.Contains("epoch infinity now today", s.text))
	default:
		return true
	}
}

// checkSurrogates reports surrogates that the database refuses because of the type or the length of the column.
func (s *schema) checkSurrogates() {
	s.eachPresent(func(table datamap.Table, _ datamap.CatalogTable) {
		for _, column := range s.writtenColumns(table.Name) {
			at := place{table: table.Name, column: column.Name}
			switch {
			case column.live.Generated:
				s.report("generated-written", at,
					"The database computes the column from other columns and refuses to write it. The erasure fails.",
					"Remove its annotation, and annotate the columns that it is computed from.")
			case column.live.Identity:
				s.report("generated-written", at,
					"The database numbers the column (GENERATED ALWAYS AS IDENTITY) and refuses to write it. The erasure fails.",
					"Declare it as GENERATED BY DEFAULT AS IDENTITY, or remove its annotation.")
			case column.null:
				s.checkNull(column, at)
			case s.catalog.Untyped:
				s.checkAffinity(column, at)
			default:
				s.checkFit(column, at)
			}
		}
	})
}

func (s *schema) checkNull(column written, at place) {
	if column.live.Nullable {
		return
	}
	remedy := "Overwrite it with a surrogate ({anonymize}), or drop NOT NULL."
	if !column.IsNulled() {
		remedy = "Have the erasure delete the row ({delete} on the path), keep the reference, or drop NOT NULL."
	}
	s.report("null-refused", at, "An erasure sets the column to NULL, but it is NOT NULL. Every erasure is refused.",
		remedy)
}

// checkAffinity reports texts that an erasure writes into number columns. A database without column types (SQLite)
// accepts them.
func (s *schema) checkAffinity(column written, at place) {
	written := surrogateOf(column.Column)
	if written.wants == datamap.TypeText && family(column.live.Type) == datamap.TypeNumber {
		s.report("type-differs", at,
			"An erasure writes a text into the column, which the database declares as "+column.live.Declared+
				". The application may fail to read it.",
			"Use the type "+string(column.live.Type)+" in the data map, or give a surrogate that is a number.")
	}
}

func (s *schema) checkFit(column written, at place) {
	written := surrogateOf(column.Column)
	switch {
	case column.live.Values != nil:
		s.checkLabel(column, written, at)
	case !written.fits(column.live):
		s.report("surrogate-type", at,
			"An erasure writes "+written.called()+", but the type of the column is "+column.live.Declared+
				". The database refuses it, and the erasure fails.",
			"Use the type of the database in the data map, "+column.nullRemedy()+"or give a surrogate of that type.")
	case column.live.Length > 0 && column.live.Type == datamap.TypeText &&
		utf8.RuneCountInString(written.text) > column.live.Length:
		s.report("surrogate-length", at,
			"An erasure writes "+characters(utf8.RuneCountInString(written.text))+", but the column takes "+
				strconv.Itoa(column.live.Length)+". The database refuses them, and the erasure fails.",
			"Set the length "+strconv.Itoa(column.live.Length)+" in the data map, or give a shorter surrogate.")
	}
}

func (s *schema) checkLabel(column written, written surrogate, at place) {
	if written.wants == "" && slices.Contains(column.live.Values, written.text) {
		return
	}
	s.report("enum-refuses", at,
		"An erasure writes "+written.called()+", which is not a label of the enum "+column.live.Declared+
			". The database refuses it, and the erasure fails.",
		"Use one of the labels as the surrogate, "+column.nullRemedy()+"or change the type.")
}

func characters(n int) string { return strconv.Itoa(n) + " characters" }

// called returns a phrase that names the surrogate in a message. The message may show a constant, because a constant is
// part of the data map and holds no personal data.
func (s surrogate) called() string {
	if constant, ok := s.column.Constant(); ok {
		return "the surrogate " + strconv.Quote(constant)
	}
	return "the surrogate of the type " + string(s.column.Type)
}
