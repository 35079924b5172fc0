package scaffold

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// addressKey returns the column with the email address of a person by which alone each row is identified, as email in
// login_states (email). It returns "" if there is none.
func (t *table) addressKey() string {
	keys := [][]string{t.PrimaryKey}
	for _, u := range t.Uniques {
		if isPlain(u) {
			keys = append(keys, u.Columns)
		}
	}
	for _, key := range keys {
		if len(key) != 1 {
			continue
		}
		if c, ok := t.Column(key[0]); ok && !c.Nullable && t.isAddress(c) {
			return c.Name
		}
	}
	return ""
}

// isAddress reports whether a column holds the email address of the person of a row, and not that of another person or
// of a thing, such as contact_email.
func (t *table) isAddress(c datamap.CatalogColumn) bool {
	if c.Type != datamap.TypeText {
		return false
	}
	m, ok := names.Find(t.Name, c.Name, c.Type)
	if !ok || m.Means != names.Email || m.Secret || len(m.Behind) > 0 {
		return false
	}
	of := flat(strings.TrimSuffix(strings.Join(names.Words(c.Name), " "), m.Word))
	return of == "" || of == "login" || slices.Contains(peopleWords, of)
}

// isOfAddress reports whether the rows belong to the person because her address identifies them. The rows of contacts,
// the entries of logs, and things with an address of their own do not.
func (d *draft) isOfAddress(t *table) bool {
	key := t.addressKey()
	return key != "" && !t.isAddressOfThing(key) && !d.isNamedForOthers(key) && len(t.paths) == 1 &&
		(!names.IsPeople(t.Name) || t.isProfile()) && !names.Is(t.Name, names.Trails) &&
		d.otherParent(t) == nil && !d.hasOthers(t)
}

// isAddressOfThing reports whether a unique address may be that of the thing in the row, such as the email of a clinic:
// the rows have a name and another primary key, and the name of the column does not say that the address is a person's.
func (t *table) isAddressOfThing(key string) bool {
	return t.hasWord(ofNames) && !slices.Contains(t.PrimaryKey, key) &&
		!slices.ContainsFunc(names.Words(key), func(word string) bool {
			return word == "login" || slices.Contains(peopleWords, word)
		})
}

// preferKeys chooses another key for the tables that are identified by an address, because an erasure cannot overwrite
// a column of the key. An export shows the key, so a secret is none.
func (d *draft) preferKeys() {
	holds := func(t *table, key []string) bool {
		return slices.ContainsFunc(key, func(name string) bool {
			c, ok := t.Column(name)
			m, _ := names.Find(t.Name, name, c.Type)
			return !ok || c.Nullable || m.Secret || t.isAddress(c)
		})
	}
	for _, t := range d.tables {
		if t == d.subject || !t.canBeMapped() || !holds(t, t.key) {
			continue
		}
		i := slices.IndexFunc(t.Uniques, func(u datamap.CatalogUnique) bool { return isPlain(u) && !holds(t, u.Columns) })
		if i >= 0 {
			t.key = t.Uniques[i].Columns
		}
	}
}

// dropAddresses drops the references to the people by an address that is not their key. A relation by such an address
// would prevent an erasure from overwriting it. It keeps a reference that is the only one of its table or means another
// person, unless the database gives the address a new value in the referring rows, too (ON UPDATE CASCADE).
func (d *draft) dropAddresses() {
	isByAddress := func(r *reference) bool {
		return r.to == d.subject && slices.ContainsFunc(r.referenced, func(name string) bool {
			c, ok := d.subject.Column(name)
			return ok && d.subject.isAddress(c) && !slices.Contains(d.subjectID, name)
		})
	}
	for _, r := range slices.Clone(d.subject.in) {
		isOnly := !slices.ContainsFunc(r.from.out, func(other *reference) bool {
			return other.to == d.subject && !isByAddress(other)
		})
		if !isByAddress(r) || (isOnly || r.meansOther()) && !r.follows {
			continue
		}
		r.drop()
		switch {
		case isOnly:
			r.from.byAddress = r.label()
		case r.meansOther():
			r.from.ofTwo = true
			r.from.ask(r.label(), "It leads to another person, but only by an address, which an erasure overwrites in both "+
				"rows. Does the row belong to that person, too?", "no", eraseInHook)
		}
	}
}

// meansOther reports whether the name of a reference to a person means another one than the person of the row, such as
// blocked_user_id and recipient_email.
func (r *reference) meansOther() bool {
	return names.MeansRelative(r.label()) || slices.ContainsFunc(names.Words(r.label()), func(word string) bool {
		role := names.RoleOf(word)
		return !names.Same(word, r.to.base) && (role == names.Party || role == names.Maker || names.MeansRelative(word))
	})
}

// drop drops a reference. Unless the database gives a new value to both rows, an erasure still cannot overwrite the
// columns to which the reference leads.
func (r *reference) drop() {
	dropped := func(other *reference) bool { return other == r }
	r.from.out = slices.DeleteFunc(r.from.out, dropped)
	if r.follows {
		r.to.in = slices.DeleteFunc(r.to.in, dropped)
	}
}

// dropTwins drops the references to the people by another column than their key, if each row also refers to a person by
// the key, and goes with both people (ON DELETE CASCADE). Both references then seem to name the same person, unless the
// name of the column means another person, such as blocked_user_id.
func (d *draft) dropTwins() {
	isByKey := func(r *reference) bool {
		return r.to == d.subject && slices.ContainsFunc(r.referenced, func(name string) bool {
			return slices.Contains(d.subjectID, name)
		})
	}
	for _, r := range slices.Clone(d.subject.in) {
		i := slices.IndexFunc(r.from.out, func(other *reference) bool {
			return isByKey(other) && other.owns()
		})
		if i < 0 || isByKey(r) || r.from == d.subject || !r.owns() || r.meansOther() {
			continue
		}
		r.from.ask(r.label(), "It refers to "+d.subject.Name+" by another key than "+r.from.out[i].label()+
			". Do both always name the same person?", "yes", "no: add a relation with path")
		r.drop()
	}
}

// askForAddress asks about the rows of a table that an address identifies, but from which no relation leads to the
// people.
func (d *draft) askForAddress(t *table, column string) {
	if t.byAddress != "" {
		t.ask(t.byAddress, "It leads to "+d.subject.Name+", but only by an address, which an erasure overwrites in both "+
			"rows. Are they the person's own rows?", "no: leave the table out", eraseInHook)
		return
	}
	t.ask(column, "It identifies a row, and seems to be the address of a person, but no relation leads to "+d.subject.Name+
		", so an erasure does not find the row. Do the rows belong to people?", "no: leave the table out",
		"yes: delete the person's rows in the hook BeforeErasure", "yes: add a relation by another column")
}
