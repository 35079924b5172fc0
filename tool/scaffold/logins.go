package scaffold

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// isLogin reports whether the rows are the login state of people, such as sessions, tokens and magic links: they have a
// secret, an end or the device of the person. A session of a game has none of them.
func (t *table) isLogin() bool {
	return names.Is(t.Name, names.Sessions) && !t.isKeyOfThing() && !t.isInstalled() &&
		slices.ContainsFunc(t.Columns, func(c datamap.CatalogColumn) bool {
			m, ok := t.found[c.Name]
			return ok && (m.Secret || isOfDevice(c, m)) || isEnd(c.Name)
		})
}

// isInstalled reports whether the rows seem to be devices that measure or control something, and no devices from which
// people log in: they have a serial number or the like, or a name and nothing about a login.
func (t *table) isInstalled() bool {
	isLogin := func(c datamap.CatalogColumn) bool {
		m, ok := t.found[c.Name]
		return ok && (m.Secret || isOfDevice(c, m) && m.Word != "model" && m.Word != "device name") || isEnd(c.Name)
	}
	isOfLogin := t.hasWord(ofLogins) || slices.ContainsFunc(t.Columns, isLogin)
	return lastWord(t.base) == "device" &&
		(t.hasWord(ofDevices) || (t.isNamed() || t.hasWord(ofParts)) && !isOfLogin)
}

var (
	ofDevices = strings.Fields("serial firmware imei sensor mac")
	ofParts   = strings.Fields("hardware manufacturer") // also of the telephones of people
	ofLogins  = strings.Fields(`
		platform os browser agent ip endpoint push fcm apns token fingerprint session login used seen`)
)

// isOnlyLogin reports whether the rows hold a secret, and refer only to the person, so that they can belong to nobody
// else.
func (t *table) isOnlyLogin() bool {
	return len(t.out) == 1 && slices.ContainsFunc(t.Columns, func(c datamap.CatalogColumn) bool {
		return t.found[c.Name].Secret
	})
}

// isEnd reports whether the name of a column means the end of the time in which a login is valid, such as expires_at.
func isEnd(column string) bool {
	return slices.ContainsFunc(names.Words(column), func(word string) bool {
		return slices.Contains([]string{"expires", "expiry", "expire", "expiration", "expired"}, word)
	})
}

// namesLogin reports whether only the name of a column suggests that rows of another table refer to the login state of
// a person, as events do by session_id. The database does not miss the login state if it is deleted.
func (r *reference) namesLogin() bool {
	return r.guessed && r.to.rowsDeleted && r.to.isLogin() && (!r.isPath() || r.from.fate == left)
}

// dropLogins makes sure that the data map has no relation by which rows refer to a deleted login state, but have their
// own way to the person.
func (d *draft) dropLogins() {
	for _, t := range d.tables {
		for _, r := range t.in {
			if r.namesLogin() && !r.isPath() && !r.isSamePerson() {
				r.kept = false
			}
		}
	}
}
