package request

import (
	"math/big"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// Number identifies a request, and opens its receipt to whoever has it. It is 100 random bits, as 20 characters of
// Crockford's base 32 in upper case. It belongs in no log.
type Number string

const (
	alphabet     = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	numberLength = 20
	groupLength  = 5
	// NumberBytes is the number of random bytes that NewNumber needs.
	NumberBytes = 13
)

// NewNumber returns the number for NumberBytes random bytes. It uses 100 of their 104 bits.
func NewNumber(random [NumberBytes]byte) Number {
	rest := new(big.Int).SetBytes(random[:])
	base, digit := big.NewInt(int64(len(alphabet))), new(big.Int)
	text := make([]byte, numberLength)
	for i := range text {
		rest.DivMod(rest, base, digit)
		text[i] = alphabet[digit.Int64()]
	}
	return Number(text)
}

var likeDigits = strings.NewReplacer(" ", "", "-", "", "O", "0", "I", "1", "L", "1")

// ParseNumber reads a number as people write it. It ignores case, spaces and hyphens, and takes O for 0, I and L for
// 1. It returns domain.ErrInvalid, without the text, for anything else.
func ParseNumber(text string) (Number, error) {
	number := likeDigits.Replace(strings.ToUpper(text))
	isForeign := func(r rune) bool { return !strings.ContainsRune(alphabet, r) }
	if len(number) != numberLength || strings.ContainsFunc(number, isForeign) {
		return "", &domain.Error{
			Code: domain.ErrInvalid, Op: "request", Message: "is not the number of a request",
			Fields: []domain.FieldError{{
				Field: "number", Code: domain.FieldType, Message: "is not like 4RZ3K-0V9QD-7TM2X-HB61C",
			}},
		}
	}
	return Number(number), nil
}

// Grouped returns the number in groups of five characters, joined by hyphens.
func (n Number) Grouped() string {
	var groups []string
	for rest := string(n); rest != ""; {
		size := min(groupLength, len(rest))
		groups, rest = append(groups, rest[:size]), rest[size:]
	}
	return strings.Join(groups, "-")
}
