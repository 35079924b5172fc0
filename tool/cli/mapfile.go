package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

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

// findPersonal returns the columns that the dictionary takes for personal data. In a question about rows, it also
// returns those that are named like the key of a person, or of rows that lead to people.
func findPersonal(m datamap.DataMap, question datamap.Decision) (personal []string) {
	isRows, paths := len(question.Columns) == 0 && question.Object != m.SubjectTable().Name, pathsOf(question)
	for _, name := range columnsOf(question) {
		_, known := dictionary.Column(name, typeOf(m, question, name))
		isReference := slices.ContainsFunc(question.Seen, func(seen string) bool {
			columns, _, ok := strings.Cut(seen, arrow)
			return ok && slices.Contains(strings.Split(columns, ", "), name)
		})
		leads := dictionary.Names(name) || (isReference || isKeyName(name)) && slices.ContainsFunc(paths,
			func(path string) bool { return slices.Contains(strings.Split(path, "+"), name) })
		if known || isRows && leads {
			personal = append(personal, name)
		}
	}
	return personal
}

// isSecret reports whether no person may see the values of a column, such as a password.
func isSecret(column string, t datamap.ColumnType) bool {
	found, ok := dictionary.Person(column, t)
	return ok && found.Secret
}
