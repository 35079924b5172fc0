package names

import (
	"slices"
	"strings"
)

// Role is the role of a person for the rows of a table, guessed from the name of the column that refers to the person.
type Role int

// The roles, closest first.
const (
	Holder Role = iota // the row belongs to the person: user_id, sender_id, author
	Party              // the row is about the person, too: recipient_id, assignee
	Maker              // the person worked on the row: created_by, approver_id
	Other              // the name does not show the role
)

// ownRoles are words for the person that a row belongs to, such as owner.
var ownRoles = patterns(`
	owner, author, sender, poster, from, holder, payer, requester, follower, blocker, muter, origin, reporter, initiator,
	inviter, subject, self, absender, besitzer, inhaber, verfasser, expediteur, auteur, remitente, autor, proprietaire,
	propietario`)

// roleWords are the words that show a role. They match the last words of the name of a reference, without an ending
// such as _id.
var roleWords = map[Role][]pattern{
	Holder: append(slices.Clone(ownRoles), tableWords[People]...),
	Party: patterns(`
		recipient, receiver, target, to, addressee, assignee, assigned to, invitee, followee, followed, blocked, muted,
		friend, peer, partner, contact, mentioned, payee, beneficiary, participant, empfaenger, destinataire, destinatario,
		reply to, parent`),
	Maker: patterns(`
		by, creator, created by, updated by, modified by, deleted by, edited by, approved by, closed by, resolved by, locked
		by, merged by, reviewed by, invited by, added by, granted by, revoked by, archived by, uploaded by, last edited by,
		assigned by, doer, actor, editor, merger, reviewer, approver, moderator, admin, administrator, operator, agent,
		resolver, uploader, publisher, assigner, updater, granter, grantor, revoker, last poster, ersteller, bearbeiter`),
}

// sureRoles are the words that mean a person even if the column has no foreign key.
var sureRoles = patterns(`
	owner, author, sender, poster, creator, reporter, assignee, recipient, receiver, follower, followee, inviter,
	invitee, requester, reviewer, approver, uploader, doer, created by, updated by, modified by, deleted by, edited by,
	approved by, closed by, resolved by, locked by, merged by, reviewed by, invited by, added by, granted by, revoked by,
	archived by, uploaded by, written by, assigned by, assigned to, absender, besitzer, verfasser, auteur, autor`)

// IsRole reports whether the stem of a reference column (its name without an ending such as _id) ends with a role of a
// person, such as sender or created_by. It returns false for words for people themselves, such as user. See Stem.
func IsRole(stem string) bool { return endsIn(stem, sureRoles) }

// Names reports whether the name of a reference column means one of the people in the given table: it ends with the
// name of the table, such as sub_user_id for users, or with a role of a person, such as author_id and actor_id.
func Names(column, people string) bool {
	stem, isReference := Stem(column)
	return isReference && (EndsIn(stem, BaseName(people)) || IsRole(stem) || Acts(column))
}

// RoleOf returns the role of the person that the column refers to. The column must be a reference to people.
func RoleOf(column string) Role {
	stem, _ := Stem(column)
	parts := partsOf(stem)
	if len(parts) > 1 && endsIn(stem, tableWords[People]) && !slices.Contains(namesOfPeople, parts[0]) {
		role := roleOf(strings.Join(parts[:len(parts)-1], " ")) // to_user_id
		switch last := parts[len(parts)-2]; {
		case slices.Contains(decisions, last), last == "parent": // the row is about the child
			return Maker
		case role == Other:
			return Party
		}
		return role
	}
	return roleOf(stem)
}

// decisions are verbs that show the role of a maker if they stand before a word for people, such as revoke_user_id.
// Their participles do not: a revoked_user_id means the person whom the row is about.
var decisions = strings.Fields(`
	accept activate approve archive ban cancel close confirm curate deactivate decline delete disable edit enable grant
	handle hide lock merge moderate override pin process publish reject remove resolve restore review revoke suspend unban
	unblock unlock update upload verify`)

func roleOf(stem string) Role {
	for _, role := range []Role{Maker, Party, Holder} {
		if endsIn(stem, roleWords[role]) {
			return role
		}
	}
	return Other
}

// namesOfPeople are words that show no role if they stand before a word for people. For example, app_user_id does not
// show a role, but to_user_id does.
var namesOfPeople = []string{"user", "app", "auth", "local", "resource"}

// EndsIn reports whether the last words of name are the words of other. The last word may differ in singular and
// plural. For example, EndsIn returns true for target_account and accounts.
func EndsIn(name, other string) bool {
	parts := partsOf(name)
	for from := range parts {
		if Same(strings.Join(parts[from:], " "), other) {
			return true
		}
	}
	return false
}

var references = []string{"uuid", "guid", "uid", "id", "ref", "fk"}

// Stem returns the name of a reference column without an ending such as _id. For example, the stem of sender_id and
// senderId is sender. Stem returns the name itself and false if the name has no such ending, or if the name is only the
// ending.
func Stem(column string) (string, bool) {
	for _, ending := range references {
		stem, found := strings.CutSuffix(strings.ToLower(column), ending)
		if !found {
			continue
		}
		stem = column[:len(stem)]
		switch bare := strings.TrimRight(stem, "_- "); {
		case bare == "":
			return column, false
		case bare != stem, ending == "id", ending == "uuid", ending == "guid", column[len(stem)] == 'U': // userUid
			return bare, true
		}
	}
	return column, false
}

// Same reports whether two names consist of the same words. The last words may differ in singular and plural.
func Same(a, b string) bool { return Fold(a) == Fold(b) }

// Fold returns a text that is equal for two names that are the Same.
func Fold(name string) string {
	return remember(&folds, name, func() string {
		parts := partsOf(name)
		if len(parts) == 0 {
			return ""
		}
		last := len(parts) - 1
		return strings.Join(parts[:last], "") + Singular(parts[last])
	})
}

// Creates reports whether the name of a reference column means the person that created the row.
func Creates(column string) bool {
	stem, _ := Stem(column)
	return endsIn(stem, creators)
}

var creators = patterns("creator, created by, added by, uploaded by, uploader, ersteller")

// Writes reports whether the name of a reference column means the author of the row.
func Writes(column string) bool {
	stem, _ := Stem(column)
	return endsIn(stem, authors)
}

var authors = patterns("author, verfasser, auteur, autor")

// Acts reports whether the name of a reference column means the person who did what the row is about, or who made it.
func Acts(column string) bool {
	stem, _ := Stem(column)
	return endsIn(stem, actors) || Creates(column)
}

var actors = patterns("actor, doer, whodunnit, performed by, done by, triggered by, executed by")

// Invites reports whether the name of a reference column means the person who invited another one.
func Invites(column string) bool {
	stem, _ := Stem(column)
	return endsIn(stem, inviters)
}

var inviters = patterns("inviter")

// MeansPerson reports whether the name of a column that is no reference means a person by her role, such as written_by
// and student_name.
func MeansPerson(column string) bool {
	stem, _ := Stem(column)
	if parts := partsOf(stem); len(parts) > 1 && parts[len(parts)-1] == "name" {
		stem = strings.Join(parts[:len(parts)-1], " ")
		return IsRole(stem) || IsPeople(stem)
	}
	return IsRole(stem)
}

// Receives reports whether the name of a reference column means the person who receives something, such as to_user_id.
func Receives(column string) bool { return isRoleIn(column, receivers) }

// Sends reports whether the name of a reference column means the person who sends something, such as from_user_id.
func Sends(column string) bool { return isRoleIn(column, senders) }

var (
	receivers = patterns("to, recipient, receiver, addressee, target, empfaenger, destinataire, destinatario")
	senders   = patterns("from, sender, author, poster, origin, initiator, absender, expediteur, remitente")
)

// isRoleIn reports whether the name of a reference column ends with one of the roles, also before a word for people.
func isRoleIn(column string, roles []pattern) bool {
	stem, _ := Stem(column)
	parts := partsOf(stem)
	return endsIn(stem, roles) ||
		len(parts) > 1 && endsIn(stem, tableWords[People]) && endsIn(strings.Join(parts[:len(parts)-1], " "), roles)
}
