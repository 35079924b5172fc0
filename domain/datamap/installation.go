package datamap

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// maxMapName is the maximum length of the name of a data map. With it, the names of all objects of habeas fit the
// limit of PostgreSQL, which is 63 bytes.
const maxMapName = 20

// CheckMapName returns domain.ErrConfiguration if name is not a valid name of a data map. The name distinguishes the
// data maps of one database. It is empty, or it consists of 1 to 20 of the characters a to z and 0 to 9.
func CheckMapName(op, name string) error {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	if len(name) > maxMapName || strings.Trim(name, letters) != "" {
		return domain.Misconfigured(op, "Name must have 1 to 20 of the characters a to z and 0 to 9, or be empty")
	}
	return nil
}

// ObjectPrefix returns the first part of the names of all tables, indexes, triggers and functions of habeas for the
// data map with the given name. It is habeas_ for the data map without a name, and habeas_<name>_ for another one.
func ObjectPrefix(name string) string {
	if name == "" {
		return "habeas_"
	}
	return "habeas_" + name + "_"
}

// Installation identifies one set of the tables of habeas in one database, and the data map to which they belong. The
// id of a subject has a meaning only in an installation: another data map, or a copy of the database that lives on, has
// other people under the same ids.
type Installation struct {
	// ID is random. The migration that creates the table of the installation makes it. A restored backup and a physical
	// replica have the same ID. A clone that lives on needs a new one, see ports.InstallationStore.Renew.
	ID string `json:"installation"`
	// SubjectTable and KeyColumns are those of the data map to which the tables belong. They are empty until the first
	// session that writes has been committed.
	SubjectTable string      `json:"subject_table,omitempty"`
	KeyColumns   []KeyColumn `json:"key_columns,omitempty"`
	// Ancestors are the earlier ids of the installation, oldest first.
	Ancestors []Ancestor `json:"ancestors,omitempty"`
	// Started is what the worker that started last has written. It is nil before the first start of a worker.
	Started *StartedWorker `json:"started,omitempty"`
	// Registers reports whether the application has ever called Registered, for any person of the data map.
	Registers bool `json:"registers,omitempty"`
}

// KeyColumn is a key column of a subject table, with its type.
type KeyColumn struct {
	Name string     `json:"name"`
	Type ColumnType `json:"type"`
}

// Ancestor is an earlier id of an installation. A journal line with this id counts as a line of the installation if its
// number is at most Until.
type Ancestor struct {
	ID    string `json:"installation"`
	Until int64  `json:"until"` // the highest ErasureMark.Intake at the time of the renewal
}

// StartedWorker describes the erasures of the process whose worker started last. A program without the code of the
// application, such as the stand-alone command, reads it to find out whether its own erasures would be incomplete.
type StartedWorker struct {
	Resolvers []string `json:"resolvers"` // the names of the resolvers, sorted
	Hooks     bool     `json:"hooks"`     // whether functions of the application run before or after erasures
}

// InstallationOf returns the SubjectTable and the KeyColumns of the data map. The other fields are empty.
func InstallationOf(m DataMap) Installation {
	table := m.SubjectTable()
	of := Installation{SubjectTable: table.Name}
	for _, name := range table.SubjectKey {
		column, _ := table.Column(name)
		of.KeyColumns = append(of.KeyColumns, KeyColumn{name, column.Type})
	}
	return of
}

// Key returns the subject table with its key columns and their types, such as users (id bigint). It is the form in
// which messages name a data map.
func (i Installation) Key() string {
	columns := make([]string, len(i.KeyColumns))
	for j, column := range i.KeyColumns {
		columns[j] = strings.TrimSpace(column.Name + " " + string(column.Type))
	}
	return i.SubjectTable + " (" + strings.Join(columns, ", ") + ")"
}

// Check returns domain.ErrConfiguration, which wraps a ForeignMapError, if the tables of habeas belong to another data
// map than m: if the subject's table or its key columns differ. Check returns nil as long as SubjectTable is empty.
func (i Installation) Check(m DataMap) error {
	own := InstallationOf(m)
	if i.SubjectTable == "" || i.SubjectTable == own.SubjectTable && slices.Equal(i.KeyColumns, own.KeyColumns) {
		return nil
	}
	foreign := &ForeignMapError{Recorded: i.Key(), Given: own.Key()}
	return &domain.Error{Code: domain.ErrConfiguration, Op: "installation", Message: foreign.Error(), Err: foreign}
}

// Accepts reports whether a journal line with the given installation and number belongs to this installation or to one
// of its ancestors.
func (i Installation) Accepts(id string, number int64) bool {
	return id == i.ID || slices.ContainsFunc(i.Ancestors, func(a Ancestor) bool { return a.ID == id && number <= a.Until })
}

// ForeignMapError describes a data map whose subject table or key differs from the one to which the tables of habeas
// belong. Installation.Check wraps it. Its text names both and the remedies.
type ForeignMapError struct {
	Recorded string // the result of Installation.Key for the data map to which the tables belong
	Given    string // the result of Installation.Key for the data map of this program
}

func (e *ForeignMapError) Error() string {
	return "the tables of habeas in this database belong to the data map of " + e.Recorded +
		", but this data map is of " + e.Given + ". For a further data map in the same database, set Config.Name (--name)," +
		" so that it gets tables of its own. If the table was renamed or the type of its key was changed, run" +
		" migrate up --accept-map"
}

// EncodeKeyColumns returns the JSON text in which a store keeps the key columns.
func EncodeKeyColumns(columns []KeyColumn) string {
	text, err := json.Marshal(columns)
	if err != nil {
		panic(err) // cannot happen: every text has a JSON form
	}
	return string(text)
}

// Privileges are what a role of the database needs on a table.
type Privileges struct {
	Table string // the name of the table, as the data map or habeas writes it
	// Granted are the privileges, as a GRANT lists them. A privilege may name columns, such as INSERT (a, b).
	Granted []string
}
