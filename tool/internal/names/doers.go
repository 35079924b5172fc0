package names

import (
	"slices"
	"strings"
)

// Doer returns the part of the name of a column that means the person who did something, such as "invited by" for
// invited_by_email and "approver" for approver_name. The rest of the name says which value about this person the column
// holds. Doer returns false if the name has no such part, or no rest.
func Doer(column string) (doer string, ok bool) {
	parts := partsOf(column)
	for n := 1; n < len(parts); n++ {
		if isDoneBy(parts[:n]) || endsWith(parts[:n], doers) {
			return strings.Join(parts[:n], " "), true
		}
	}
	return "", false
}

// doers are words for a person who decided about a row of another person.
var doers = patterns("inviter, referrer, approver, moderator, assigner, granter, grantor, revoker")

// SameDoer reports whether two names of the person who did something have the same verb, as "invited by" and "inviter".
func SameDoer(a, b string) bool { return Same(a, b) || verbOf(a) != "" && verbOf(a) == verbOf(b) }

// verbOf returns the stem of the verb in the name of the person who did something, or "" if there is none.
func verbOf(doer string) string {
	parts := partsOf(doer)
	if len(parts) > 1 && parts[len(parts)-1] == "by" {
		parts = parts[:len(parts)-1]
	}
	if len(parts) == 0 {
		return ""
	}
	last := parts[len(parts)-1]
	for _, ending := range []string{"ed", "er", "or"} {
		if verb, ok := strings.CutSuffix(last, ending); ok {
			return verb
		}
	}
	return ""
}

// WritesDown reports whether the name of the person who did something means the author of a text.
func WritesDown(doer string) bool { return endsIn(doer, writers) }

var writers = patterns("written by, posted by, sent by, submitted by, commented by, published by")

// Judges reports whether the name of a reference column means a person who only decided about a row of another person,
// or changed it, such as awarder_id, approved_by and updated_by.
func Judges(column string) bool {
	stem, _ := Stem(column)
	return endsIn(stem, judges)
}

var judges = patterns(`
	approver, awarder, grader, moderator, granter, grantor, revoker, resolver, approved by, awarded by, graded by,
	moderated by, granted by, revoked by, resolved by, reviewed by, verified by, rejected by, updated by, modified by,
	changed by, edited by, deleted by`)

// Gives reports whether two names of references mean the two people of a grant: the one who gives, as grantor_id, and
// the one who gets, as grantee_id.
func Gives(giver, getter string) bool {
	gives, _ := Stem(giver)
	gets, _ := Stem(getter)
	verb, ok := strings.CutSuffix(strings.Join(partsOf(gets), ""), "ee")
	return ok && verb != "" && slices.Contains([]string{verb + "or", verb + "er"}, strings.Join(partsOf(gives), ""))
}

// IsFrom reports whether the name of a column means the sender of a message, as sent_from and sender_address do.
func IsFrom(column string) bool { return isEndOfMessage(column, []string{"from", "sender"}) }

// IsTo reports whether the name of a column means the recipient of a message, as sent_to and recipient_address do.
func IsTo(column string) bool {
	return isEndOfMessage(column, []string{"to", "recipient", "recipients", "receiver", "receivers", "addressee"})
}

func isEndOfMessage(column string, ends []string) bool {
	parts := partsOf(column)
	for len(parts) > 1 && slices.Contains(ofAddresses, parts[len(parts)-1]) {
		parts = parts[:len(parts)-1]
	}
	if len(parts) == 0 || !slices.Contains(ends, parts[len(parts)-1]) {
		return false
	}
	return !slices.ContainsFunc(parts[:len(parts)-1], func(word string) bool { return !slices.Contains(ofMail, word) })
}

var (
	ofAddresses = strings.Fields("email mail address addresses addr emails name names phone number id uuid")
	ofMail      = strings.Fields("sent mail email message msg envelope header")
)
