package search

import (
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"
)

// MinEncodedLength is the minimum length in bytes of a value whose encoded copies a search finds in texts. Shorter
// copies would also occur by chance.
const MinEncodedLength = 5

// EncodedForm describes the copies of a value in an encoding. Each element holds the characters that a copy can have at
// this position. There are several, because a search ignores case, and because the encoding has several alphabets.
type EncodedForm []string

// byteSets returns the bytes that a value can have at each position, in upper or lower case. It ignores letters whose
// other case has another number of bytes.
func byteSets(value string) (sets [][]byte) {
	for _, r := range value {
		first := len(sets)
		sets = append(sets, make([][]byte, utf8.RuneLen(r))...)
		for _, folded := range Foldings(r) {
			if utf8.RuneLen(folded) != utf8.RuneLen(r) {
				continue
			}
			for i, b := range []byte(string(folded)) {
				sets[first+i] = append(sets[first+i], b)
			}
		}
	}
	return sets
}

// HexForm returns the form of a value in hexadecimal digits, two for each byte.
func HexForm(value string) EncodedForm {
	const digits = "0123456789abcdef"
	var form EncodedForm
	for _, set := range byteSets(value) {
		var high, low string
		for _, b := range set {
			high += digits[b>>4 : b>>4+1]
			low += digits[b&15 : b&15+1]
		}
		form = append(form, bothCases(high), bothCases(low))
	}
	return form
}

// Base64Forms returns the three forms of a value in base64. They differ by the position of the value in the encoded
// text, because a group of four characters encodes three bytes. The forms omit characters that also encode a byte
// before or after the value. They include the alphabet for URLs.
func Base64Forms(value string) (forms []EncodedForm) {
	sets := byteSets(value)
	for before := range 3 {
		var form EncodedForm
		for bit := 0; bit < 8*(before+len(sets)); bit += 6 {
			first, last := bit/8-before, (bit+5)/8-before
			if first >= 0 && last < len(sets) {
				form = append(form, base64Characters(sets[first], sets[last], bit%8))
			}
		}
		forms = append(forms, form)
	}
	return forms
}

// base64Characters returns the characters for six bits, which begin at the given bit of the byte first.
func base64Characters(first, last []byte, bit int) string {
	var set string
	for _, a := range first {
		for _, b := range last {
			word := uint16(a)<<8 | uint16(b)
			six := [3]byte{2: byte(word >> (10 - bit) & 63)}
			for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
				set += encoding.EncodeToString(six[:])[3:]
			}
		}
	}
	return distinct(set)
}

func bothCases(digits string) string { return distinct(digits + strings.ToUpper(digits)) }

// distinct returns each character once. A minus is last, so that the result has the same meaning between brackets.
func distinct(characters string) string {
	all := []byte(characters)
	slices.Sort(all)
	all = slices.Compact(all)
	if i := slices.Index(all, '-'); i >= 0 {
		all = append(slices.Delete(all, i, i+1), '-')
	}
	return string(all)
}

// Pattern returns the form as a pattern of a regular expression or of GLOB: each position is a set in brackets.
func (f EncodedForm) Pattern() string { return f.joined("") }

// wrappedPattern is Pattern for a text in lines: PostgreSQL and MIME break lines in base64 after 76 characters.
func (f EncodedForm) wrappedPattern() string { return f.joined(`[\r\n]*`) }

func (f EncodedForm) joined(between string) string {
	sets := make([]string, len(f))
	for i, set := range f {
		sets[i] = "[" + set + "]"
	}
	return strings.Join(sets, between)
}
