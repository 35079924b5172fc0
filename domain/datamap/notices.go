package datamap

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/internal/words"
)

// Notice is a hint at possible personal data that the data map does not cover, or at a word of the data map that has no
// effect. A notice is not an error.
type Notice struct{ Table, Column, Message string }

// String returns the notice in one line.
func (n Notice) String() string { return n.Table + "." + n.Column + ": " + n.Message }

// Notices returns the notices about the data map, in this order:
//
//   - a notice if the id of the subjects is a text that seems to have a meaning, such as a user name
//   - for each table, a notice for each primary-key column that has the name of a secret and is contained in exports,
//     then a notice for each surrogate (Column.Surrogate) that no erasure writes, because it deletes the row, and then
//     a notice for each relation to another table of the map, unless a path begins with this relation, or a decision
//     about the table shows it (Decision.Seen)
//   - in the place of that relation, a notice for each relation with an option erasure that has no effect, and for each
//     relation of a table to itself to which rows of other people may hold on after an erasure has deleted rows
//   - the notices of WithNotices
func (m DataMap) Notices() []Notice {
	notices := m.naturalKeys()
	for _, table := range m.tables {
		notices = append(notices, m.exposedKeys(table)...)
		notices = append(notices, m.unwrittenSurrogates(table)...)
		for _, relation := range table.Relations {
			if message := m.noticeOf(table, relation); message != "" {
				notices = append(notices, Notice{table.Name, strings.Join(relation.Columns, ", "), message})
			}
		}
	}
	return append(notices, m.notices...)
}

// naturalKeys returns a notice for each text in the key of the subjects whose name does not say that it is an id.
func (m DataMap) naturalKeys() (notices []Notice) {
	subject := m.SubjectTable()
	for _, name := range subject.SubjectKey {
		if column, _ := subject.Column(name); column.Type == TypeText && !strings.HasSuffix(strings.ToLower(name), "id") {
			notices = append(notices, Notice{
				subject.Name, name, `is the id of a person (subject:"id"), and is a text that may have a meaning, such as a user` +
					" name: the audit trail keeps it after an erasure, and a new person may get it. Use a second key without a" +
					` meaning, see "Natural keys" in the cookbook`,
			})
		}
	}
	return notices
}

// noticeOf returns the message of the notice for a relation, or "".
func (m DataMap) noticeOf(table Table, relation Relation) string {
	_, inMap := m.index[relation.References]
	begun := slices.DeleteFunc(slices.Clone(m.paths[table.Name]), func(p Path) bool { return !p.begins(relation) })
	switch {
	case !inMap:
		return ""
	case relation.References == table.Name:
		return m.noticeOfSelf(table, relation)
	case len(begun) == 0 && (relation.SamePerson || m.isSeen(table, relation)):
		return ""
	case len(begun) == 0:
		return "refers to " + relation.References +
			", but is not a path: exports and erasures of the person at the end of the relation skip the row"
	case relation.OnErasure != "" && !slices.ContainsFunc(begun, func(p Path) bool { return p.OnErasure() != "" }):
		return "has erasure:" + string(relation.OnErasure) + " on the relation to " + relation.References +
			", which has no effect: an erasure keeps the rows of " + relation.References +
			", and the rows of this table may be about other people"
	}
	return ""
}

// isSeen reports whether a question about the table shows the relation, so that its answer chooses the paths.
func (m DataMap) isSeen(table Table, relation Relation) bool {
	return slices.ContainsFunc(m.decisions, func(d Decision) bool {
		return d.Object == table.Name && slices.Contains(d.Seen,
			strings.Join(relation.Columns, ", ")+" -> "+relation.References)
	})
}

// noticeOfSelf is noticeOf for a relation of a table to itself.
func (m DataMap) noticeOfSelf(table Table, relation Relation) string {
	deleting := m.deletingPaths(table)
	switch {
	case relation.OnErasure != "" && len(deleting) == 0:
		return "has erasure:" + string(relation.OnErasure) + " on the relation to its own table, which has no effect: an " +
			"erasure keeps the rows of the table"
	case relation.OnErasure != "" || relation.SetsNull || relation.SamePerson || relation.When != nil,
		len(deleting) == 0:
		return ""
	case !slices.ContainsFunc(deleting, func(p Path) bool { return len(p.Relations) == 0 || !p.isWithin(relation) }):
		return "" // rows that refer to each other belong to the same person
	}
	return "refers to its own table, which is not a path: a row of another person may refer to a row that an erasure " +
		"deletes. Set erasure:null on the relation to clear such references, or declare ON DELETE SET NULL"
}

// isWithin reports whether a relation of the table to itself contains all columns of the first relation of the path.
func (p Path) isWithin(self Relation) bool {
	return !slices.ContainsFunc(p.Relations[0].Columns, func(name string) bool {
		i := slices.Index(self.Columns, name)
		return i < 0 || self.ReferencedColumns[i] != name
	})
}

// exposedKeys returns a notice for each column of the primary key that is named like a secret and is not annotated, if
// an export shows rows of the table. An export identifies a row by its primary key, so it would show the secret.
func (m DataMap) exposedKeys(table Table) (notices []Notice) {
	if len(m.ExportedColumns(table)) == 0 || !table.NamesRowsByKey() {
		return nil
	}
	for _, name := range table.PrimaryKey {
		if column, _ := table.Column(name); column.Personal == nil && words.IsSecret(name) {
			notices = append(notices, Notice{table.Name, name, "is named like a secret, and an export names each row by it: " +
				"annotate the column and set export:no, or export:yes if the person may read it"})
		}
	}
	return notices
}

// WithNotices returns the data map with the additional notices of the reader that created the data map.
func (m DataMap) WithNotices(notices ...Notice) DataMap {
	m.notices = slices.Concat(m.notices, notices)
	return m
}
