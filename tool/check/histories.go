package check

import (
	"cmp"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// isHistory reports whether a table seems to be a history of other tables. It is named like a history, and has a column
// that can store complete rows, such as a JSON column. Or it has the columns of a history.
func (s *schema) isHistory(table datamap.CatalogTable) bool {
	isHistory := names.Is(table.Name, names.Activities) ||
		hasWord(table.Name, "audit", "history", "archive", "versions", "log", "logs", "shadow", "journal")
	return versionOf(table) != "" || isHistory && slices.ContainsFunc(table.Columns, func(c datamap.CatalogColumn) bool {
		return family(c.Type) == datamap.TypeJSON || strings.Contains(c.Declared, "hstore") || c.Type == datamap.TypeText &&
			hasWord(c.Name, "old", "data", "row", "values", "payload", "changes", "diff", "snapshot")
	})
}

// documentOf returns the column with the documents of a table of sessions, or of a history. It returns "" if the table
// has none.
func (s *schema) documentOf(table datamap.CatalogTable) string {
	isSession := hasWord(table.Name, "session", "sessions", "sess", "sitzungen")
	if column := sessionOf(table); column != "" && !isSession {
		return column
	}
	if !isSession && !hasWord(table.Name, "audit", "audits", "history", "log", "logs", "activity", "activities", "trail",
		"journal", "versions") {
		return cmp.Or(claimsOf(table), rawOf(table), eventOf(table), s.copyOf(table))
	}
	i := slices.IndexFunc(table.Columns, func(c datamap.CatalogColumn) bool {
		switch family(c.Type) { //nolint:exhaustive // the other types hold no documents
		case datamap.TypeJSON:
			return c.Type == datamap.TypeJSON && (isSession || !hasWord(c.Name, "state"))
		case datamap.TypeText, datamap.TypeBytes:
			isExchange := hasWord(c.Name, "request", "response") && hasWord(c.Name, "body")
			return (isExchange || hasWord(c.Name, "sess", "data", "payload", "attribute", "old", "new", "changes", "diff",
				"snapshot", "row", "object")) && names.IsLong(c) && !names.Describes(c.Name)
		default:
			return false
		}
	})
	switch {
	case !isSession && s.isHistoryOfThing(table):
		return ""
	case i < 0:
		return s.copyOf(table)
	}
	return table.Columns[i].Name
}

// claimsOf returns the column in which a table of OpenID Connect, or of tokens, holds the claims of a token or a
// session as a document. It returns "" if there is none.
func claimsOf(table datamap.CatalogTable) string {
	if !hasWord(table.Name, "oidc", "token", "tokens") {
		return ""
	}
	for _, column := range table.Columns {
		if isDocument(column) && hasWord(column.Name, "payload", "data", "claims", "session") {
			return column.Name
		}
	}
	return ""
}

// sessionOf returns the column with the documents of a table that has the columns of a store of sessions: the id of a
// session, its end and its data. Instead of its end, it may have the last activity beside a payload; its id may then
// have any name. It returns "" if there is none.
func sessionOf(table datamap.CatalogTable) (document string) {
	_, isActive := table.Column("last_activity")
	hasID, hasEnd := isActive, isActive
	for _, column := range table.Columns {
		name := strings.Join(names.Words(column.Name), " ")
		hasID = hasID || slices.Contains([]string{"sid", "sess id", "session id", "session key"}, name)
		hasEnd = hasEnd || hasWord(name, "expire", "expires", "expiry", "expiration", "lifetime") ||
			column.Type == datamap.TypeTime && hasWord(name, "touched", "accessed", "seen", "active", "activity", "access")
		if (names.IsLong(column) || isDocument(column)) &&
			(hasWord(name, "sess", "session", "payload") || hasWord(name, "data", "value") && !isActive) &&
			!hasWord(name, "id", "key", "token") {
			document = column.Name
		}
	}
	if !hasID || !hasEnd {
		return ""
	}
	return document
}

// eventOf returns the column with the documents of a table of all events of the application, such as event_stream. It
// returns "" if there is none.
func eventOf(table datamap.CatalogTable) string {
	if !hasWord(table.Name, "event", "events") ||
		!hasWord(table.Name, "stream", "streams", "store", "stored", "domain", "sourced") {
		return ""
	}
	for _, column := range table.Columns {
		if isDocument(column) && hasWord(column.Name, "body", "data", "payload", "event") {
			return column.Name
		}
	}
	return ""
}

// rawOf returns the column with documents as another system has sent them, such as raw_payload. It returns "" if there
// is none.
func rawOf(table datamap.CatalogTable) string {
	for _, column := range table.Columns {
		if isDocument(column) && hasWord(column.Name, "raw") {
			return column.Name
		}
	}
	return ""
}

// versionOf returns the column of a table in which documents hold the rows of other tables before a change, such as
// old_row. It returns "" if there is none. A column before counts only beside a column after.
func versionOf(table datamap.CatalogTable) string {
	has := func(name string) bool {
		return slices.ContainsFunc(table.Columns, func(c datamap.CatalogColumn) bool {
			return isDocument(c) && strings.EqualFold(c.Name, name)
		})
	}
	for _, column := range table.Columns {
		isOld := hasWord(column.Name, "old", "before", "prev", "previous")
		ofRow := hasWord(column.Name, "row", "data", "values", "record", "object", "attributes", "fields", "tuple")
		isPair := has("before") && has("after") || has("old") && has("new")
		if isDocument(column) && isOld && (ofRow || isPair) {
			return column.Name
		}
	}
	return ""
}

// isDocument reports whether a column holds a document, or a list of documents.
func isDocument(column datamap.CatalogColumn) bool {
	return column.Type == datamap.TypeJSON || strings.Contains(column.Declared, "hstore") ||
		column.Type == datamap.TypeArray && strings.HasPrefix(column.Declared, "json")
}

// reportBackup reports a table outside the data map that seems to be a copy of a table of the data map. A table of
// things, such as sites, is no copy, although a site may have the columns of a person.
func (s *schema) reportBackup(table datamap.CatalogTable) bool {
	if s.isDecided(table.Name) {
		return false
	}
	for _, original := range s.Declared() {
		live, ok := s.live[original.Name]
		copied := s.copied(original, table)
		if !ok || len(copied) == 0 && !original.Owned ||
			!isNamedAsCopy(table, live) &&
				(len(copied) == 0 ||
					original.Name == s.SubjectTable().Name && (isThing(table.Name) || hasOwnPeople(table, live)) ||
					!hasMostColumnsOf(table, live) || refersElsewhere(table, live) ||
					!s.tellsPerson(table, original)) {
			continue
		}
		at := place{table: table.Name, column: list(copied)}
		s.report(tablePersonal, at,
			"The table seems to be a copy of "+original.Name+", but is not in the data map. Exports and erasures ignore it.",
			"Drop the table, or add it to the data map, with a relation by a column that identifies the person. If it is not a "+
				"copy, accept the finding.")
		return true
	}
	return false
}

// hasOwnPeople reports whether a table seems to hold other people than another one: their key has another name. A copy
// keeps the name.
func hasOwnPeople(table, people datamap.CatalogTable) bool {
	return len(table.PrimaryKey) == 1 && len(people.PrimaryKey) == 1 && names.IsPeople(table.Name) &&
		!strings.EqualFold(table.PrimaryKey[0], people.PrimaryKey[0])
}

// isNamedAsCopy reports whether a table has the name of another table and a word for a copy, such as users_backup, and
// has a column of it besides its key.
func isNamedAsCopy(table, original datamap.CatalogTable) bool {
	kept, marked := []string{}, strings.ContainsAny(names.BaseName(table.Name), "0123456789") // users_2024
	for _, word := range names.Words(names.BaseName(table.Name)) {
		if slices.Contains(copyWords, word) {
			marked = true
			continue
		}
		kept = append(kept, word)
	}
	return marked && names.Same(strings.Join(kept, " "), names.BaseName(original.Name)) &&
		slices.ContainsFunc(table.Columns, func(c datamap.CatalogColumn) bool {
			_, ok := original.Column(c.Name)
			return ok && !hasName(original, original.PrimaryKey, c.Name)
		})
}

// isNamedAsCopy reports whether a table is named as the copy of a table of the data map.
func (s *schema) isNamedAsCopy(table datamap.CatalogTable) bool {
	return slices.ContainsFunc(s.Declared(), func(t datamap.Table) bool { return isNamedAsCopy(table, s.live[t.Name]) })
}

// copyWords are words in the names of tables that are copies.
var copyWords = terms(`
	backup, backups, bak, bkp, old, copy, archive, archived, tmp, temp, orig, original, snapshot, dump`)

// hasMostColumnsOf reports whether most columns of a table have the names of columns of another table, and at least
// three of these names do not occur in many tables.
func hasMostColumnsOf(table, original datamap.CatalogTable) bool {
	same, telling := 0, 0
	for _, column := range table.Columns {
		if _, ok := original.Column(column.Name); !ok {
			continue
		}
		same++
		if !slices.Contains(common, strings.Join(names.Words(column.Name), " ")) {
			telling++
		}
	}
	return telling >= 3 && same*3 >= len(table.Columns)*2
}

// tellsPerson reports whether a table outside the data map has the columns by which the rows of another table refer to
// their person. A copy has them. A table with similar columns that are about nobody, such as a template for mails, does
// not. It returns true if the other table is the subject's.
func (s *schema) tellsPerson(table datamap.CatalogTable, original datamap.Table) bool {
	return slices.ContainsFunc(s.Paths(original.Name), func(p datamap.Path) bool {
		return len(p.Relations) == 0 || hasAll(table, p.Relations[0].Columns)
	})
}

// refersElsewhere reports whether a foreign key of a table refers to a table to which the other one does not refer. A
// copy does not.
func refersElsewhere(table, original datamap.CatalogTable) bool {
	return slices.ContainsFunc(table.ForeignKeys, func(key datamap.CatalogForeignKey) bool {
		return !slices.ContainsFunc(original.ForeignKeys, func(other datamap.CatalogForeignKey) bool {
			return other.References == key.References
		})
	})
}

// common are names of columns that many tables have.
var common = terms(`
	id, uuid, name, title, description, slug, status, state, type, kind, position, rank, color, icon, url, content, body,
	text, note, notes, data, metadata, settings, enabled, active, is active, version, count, amount, price, currency,
	value, key, code, label, tags, user id, owner id, account id, tenant id, parent id, created by, updated by, deleted by,
	created at, updated at, deleted at, created, updated, created time, last modified time, last modified by, modified at,
	expires at, started at, ended at, date, created on, updated on, inserted at`)
