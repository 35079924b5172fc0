package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/habeas-data/habeas/adapters/persistence/manifest"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/tool/internal/dictionary"
)

// mapFile is a manifest that a command changes.
type mapFile struct {
	path    string
	dataMap datamap.DataMap
}

func readMapFile(path string) (mapFile, error) {
	text, err := os.ReadFile(path) //nolint:gosec // the operator chooses the file
	if err != nil {
		return mapFile{}, failed("the file of the data map cannot be read: check its name and its permissions")
	}
	dataMap, err := manifest.Read(bytes.NewReader(text))
	return mapFile{path, dataMap}, err
}

func (f mapFile) write() error {
	var text bytes.Buffer
	if err := manifest.Write(&text, f.dataMap); err != nil {
		return err
	}
	return replaceFile(f.path, text.Bytes())
}

// remade returns a data map with other tables and decisions. It returns the mistakes of the data map, and those of its
// erasure plan.
func remade(
	former datamap.DataMap, tables []datamap.Table, decisions []datamap.Decision,
) (datamap.DataMap, error) {
	m, err := datamap.ReadDataMap("data map", tables, datamap.CheckDecisions(decisions))
	if err == nil && former.Zone() != "" {
		m, err = m.WithZone(former.Zone())
	}
	if err == nil {
		_, err = erasure.Planner{}.Plan(m, m.Refs())
	}
	return m.WithAccepted(former.Accepted()...).WithDecisions(decisions...), erasure.Complete(err)
}

// replaceFile writes a file as a whole: it never leaves a part of the text. A link stays, and the file that it leads to
// is replaced.
func replaceFile(path string, text []byte) error {
	mode := os.FileMode(0o600)
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".habeas-*")
	if err != nil {
		return failed("the file cannot be written: check the permissions of its folder")
	}
	defer func() { _ = os.Remove(file.Name()) }() // after the rename, the file has another name
	_, err = file.Write(text)
	err = errors.Join(err, file.Chmod(mode), file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return &Error{Code: ExitFailed, Text: "the file cannot be written, and stays as it was", Err: err}
	}
	return nil
}

// typeOf returns the type of a column in a data map, or in the edits of a question about its table.
func typeOf(m datamap.DataMap, question datamap.Decision, name string) datamap.ColumnType {
	mapped, _ := m.Table(question.Object)
	tables := []datamap.Table{mapped}
	for _, option := range question.Options {
		tables = append(tables, datamap.Table{Name: question.Object, Columns: option.Edit.Columns})
		tables = append(tables, option.Edit.Tables...)
	}
	for _, table := range tables {
		if column, ok := table.Column(name); ok && table.Name == question.Object && column.Type != "" {
			return column.Type
		}
	}
	return ""
}

// findPersonal returns the columns that the dictionary takes for personal data. In a question about rows, these are also
// the columns that are named like the key of a person, or of rows that lead to people.
func findPersonal(m datamap.DataMap, question datamap.Decision) (personal []string) {
	isPerson := func(name string) bool {
		_, isKey := dictionary.Stem(name)
		return len(question.Columns) == 0 && question.Object != m.SubjectTable().Name &&
			(dictionary.Names(name) || isKey && isPath(question, name))
	}
	for _, name := range columnsOf(question) {
		if _, ok := dictionary.Column(name, typeOf(m, question, name)); ok || isPerson(name) {
			personal = append(personal, name)
		}
	}
	return personal
}

// isPath reports whether an option of a question takes the rows for those of the person by the column.
func isPath(question datamap.Decision, column string) bool {
	return slices.ContainsFunc(question.Options, func(option datamap.Option) bool {
		return slices.ContainsFunc(option.Edit.Tables, func(t datamap.Table) bool {
			return t.Name == question.Object && slices.ContainsFunc(t.Relations, func(r datamap.Relation) bool {
				return r.Path && slices.Contains(r.Columns, column)
			})
		})
	})
}

// isSecret reports whether no person may see the values of a column, such as a password.
func isSecret(column string, t datamap.ColumnType) bool {
	found, ok := dictionary.Person(column, t)
	return ok && found.Secret
}
