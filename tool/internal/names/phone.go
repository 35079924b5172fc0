package names

import (
	"slices"
	"strings"
)

// IsPhoneNumber reports whether the name of a column means a telephone number by the person who has it, such as
// recipient_number, or by the table, as number in user_phone_numbers.
func IsPhoneNumber(table, column string) bool {
	parts := partsOf(column)
	if len(parts) == 0 || parts[len(parts)-1] != "number" {
		return false
	}
	if len(parts) == 1 {
		return slices.ContainsFunc(partsOf(BaseName(table)), func(word string) bool {
			return slices.Contains(phoneWords, word) || strings.HasSuffix(word, "phone") || strings.HasSuffix(word, "phones")
		})
	}
	return len(parts) == 2 && slices.Contains(callers, parts[0])
}

var (
	phoneWords = []string{"sms", "call", "calls", "mobile", "mobiles", "telephone", "whatsapp", "fax"}
	callers    = []string{
		"recipient", "receiver", "sender", "caller", "callee", "called", "calling", "destination", "emergency", "sms",
	}
)
