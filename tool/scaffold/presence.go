package scaffold

import (
	"slices"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// absent is the reason why NULL suits a column better than a surrogate.
const absent = "NULL often means that there is no such thing, for example no password, no pending address or no login."

// meansState reports whether a value that is not NULL means that the person is in a state, so that a surrogate in a
// cell that is NULL would be a false fact. Examples are the address in blocked_email, the instant in last_sign_in_at,
// and the reason in lock_reason. A birthday means no state.
func meansState(c datamap.CatalogColumn, m names.Match) bool {
	isInstant := c.Type == datamap.TypeTime || names.MayBeInstant(c.Name, c.Type) || isInstant(c, m)
	return c.Type != datamap.TypeBoolean && len(c.Values) == 0 && !names.IsFlag(c) &&
		(isInstant && m.Category != domain.CategoryIdentity || isState(c.Name) || isOfState(c.Name) ||
			m.Means == names.Authenticator)
}

// isOfState reports whether the name of a column says in which state its value is, such as blocked_email and
// new_phone_number.
func isOfState(column string) bool {
	parts := names.Words(column)
	return len(parts) > 1 && slices.ContainsFunc(parts, func(word string) bool {
		return slices.Contains(ofStates, word)
	})
}

var ofStates = []string{
	"blocked", "banned", "suspended", "locked", "unconfirmed", "unverified", "unapproved", "pending", "requested",
	"proposed", "changed", "change", "new", "old", "previous", "prev", "former", "deleted", "removed",
}

// isState reports whether the last word of the name of a column suggests that a value that is not NULL means a state,
// such as the reason why a person is locked.
func isState(column string) bool {
	parts := names.Words(column)
	return len(parts) > 0 && slices.Contains([]string{"reason", "at", "since", "until", "by"}, parts[len(parts)-1])
}
