package names

import (
	"slices"
	"strings"
)

// MeansAgent reports whether the stem of a reference is a word for someone who does something, such as submitter and
// pusher, by the ending of the word, or for someone who takes part, such as participant. Words for things with the same
// ending do not count.
func MeansAgent(stem string) bool {
	parts := partsOf(stem)
	if len(parts) == 0 {
		return false
	}
	last := parts[len(parts)-1]
	const shortest = 5
	isAgent := len(last) >= shortest && (strings.HasSuffix(last, "er") || strings.HasSuffix(last, "or"))
	return TakesPart(stem) || isAgent && !slices.Contains(noAgents, last) && !Is(stem, Things) && !Is(stem, Groups) &&
		!Is(stem, Reference) && !Is(stem, Machinery) && !Is(stem, Messages) && !Is(stem, Addresses) && !Is(stem, Duties)
}

// TakesPart reports whether the stem of a reference is a word for a person whom the row is about, such as participant.
func TakesPart(stem string) bool {
	parts := partsOf(stem)
	return len(parts) > 0 && slices.Contains(partakers, parts[len(parts)-1])
}

var partakers = strings.Fields(`
	participant student pupil patient attendee applicant candidate respondent employee citizen mentee trainee invitee
	nominee requestor`)

// noAgents are words for things and companies that end like words for people.
var noAgents = strings.Fields(`
	order folder number server provider header footer container layer chapter character parameter filter trigger scheduler
	timer color sensor vendor monitor router adapter controller cluster printer paper letter newsletter banner sticker
	marker buffer register master worker runner broker carrier supplier retailer manufacturer distributor center error
	floor factor vector processor connector indicator identifier pointer counter browser computer player tower power water
	chamber corner border quarter semester master folder locker issuer docker helper loader reader render cover anchor
	cursor selector descriptor simulator generator operator mirror calculator elevator tracker wrapper handler listener
	observer publisher other after under never over discover transfer offer ledger charger`)
