package names

import (
	"slices"
	"strings"
)

// Role is the part that a person has in the rows of a table, by the name of the column that refers to the person.
type Role int

// The roles, the closest first.
const (
	Holder Role = iota // the row belongs to the person: user_id, sender_id, author
	Party              // the row is about the person, too: recipient_id, assignee
	Maker              // the person has worked on the row: created_by, approver_id
	Other              // the name says nothing of that kind
)

// roleWords are the last words of the names of references, without the ending that says that they are one.
var roleWords = map[Role][]pattern{
	Holder: append(patterns("owner, author, sender, poster, from, holder, payer, requester, follower, blocker, muter, origin, "+
		"reporter, initiator, inviter, subject, self, absender, besitzer, inhaber, verfasser, expediteur, auteur, remitente, "+
		"autor, proprietaire, propietario"), tableWords[People]...),
	Party: patterns("recipient, receiver, target, to, addressee, assignee, assigned to, invitee, followee, followed, " +
		"blocked, muted, friend, peer, partner, contact, mentioned, payee, beneficiary, participant, empfaenger, " +
		"destinataire, destinatario, other user, target account, reply to, parent author"),
	Maker: patterns("creator, created by, updated by, modified by, deleted by, edited by, approved by, closed by, " +
		"resolved by, locked by, merged by, reviewed by, invited by, added by, granted by, revoked by, archived by, " +
		"uploaded by, last edited by, assigned by, doer, actor, editor, merger, reviewer, approver, moderator, admin, " +
		"administrator, operator, agent, resolver, uploader, publisher, assigner, updater, last poster, ersteller, bearbeiter"),
}

// RoleOf returns the role of the person that the columns of a reference lead to.
func RoleOf(column string) Role {
	stem, _ := Stem(column)
	for _, role := range []Role{Maker, Party, Holder} {
		if endsIn(stem, roleWords[role]) {
			return role
		}
	}
	return Other
}

var references = []string{"uuid", "guid", "uid", "id", "ref", "fk"}

// Stem returns the name of a reference without the ending that says that it is one: sender of sender_id, and sender of
// senderId. Returns false and the name itself if it has no such ending, and for a name that is nothing else.
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
		case bare != stem, ending == "id", ending == "uuid", ending == "guid":
			return bare, true
		}
	}
	return column, false
}

// Same reports whether two names have the same words, the plural of the last one aside.
func Same(a, b string) bool { return slices.Equal(singular(a), singular(b)) }

func singular(name string) []string {
	parts := partsOf(name)
	if len(parts) > 0 {
		parts[len(parts)-1] = Singular(parts[len(parts)-1])
	}
	return []string{strings.Join(parts, "")}
}
