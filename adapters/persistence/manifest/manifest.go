// Package manifest reads and writes a data map as a versioned JSON document. It serves applications without bun models,
// and tools that inspect a data map:
//
//	{"manifest_version": 2, "tables": [{"name": "users", "primary_key": ["id"], "subject_key": ["id"], "columns": [
//	  {"name": "id", "type": "bigint"},
//	  {"name": "email", "type": "text", "personal": {"category": "contact", "erasure": "anonymize"}}]}]}
//
// The members of a table are the JSON names of the fields of domain.Table. The type of a column is a domain.ColumnType,
// such as time for a timestamptz. A table and a column may have a note, which is a text without effect.
package manifest

import (
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/erasure"
)

// Version is the version of the format that Write writes. It changes when older readers would misinterpret a manifest.
// Read accepts every version up to this one. In version 1, delete also meant erasing the cells of rows that stay, which
// is called erase since version 2. Version 1 had no export option, and an export showed all columns.
const Version = 2

type document struct {
	Version int            `json:"manifest_version"`
	Tables  []domain.Table `json:"tables"`
}

// Read reads the data map that a manifest describes. It does not accept a manifest partially, because a member that is
// unknown, misspelled or duplicated could mean that personal data is overlooked. The error is domain.ErrManifest. It
// lists all mistakes in the order of the tables, each with its place; see domain.Problem.
func Read(r io.Reader) (domain.DataMap, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return domain.DataMap{}, &domain.Error{Code: domain.ErrManifest, Op: "manifest", Message: "cannot be read", Err: err}
	}
	var manifest document
	var syntax *json.SyntaxError
	if errors.As(json.Unmarshal(text, &manifest), &syntax) {
		line := 1 + strings.Count(string(text[:syntax.Offset]), "\n")
		return domain.DataMap{}, fault("line "+strconv.Itoa(line), "is not JSON: "+syntax.Error())
	}
	if manifest.Version < 1 || manifest.Version > Version {
		return domain.DataMap{}, fault("manifest_version", "must be 1 or 2")
	}
	tables, problems := readTables(text)
	if manifest.Version == 1 {
		fromVersion1(tables)
	}
	m, err := domain.ReadDataMap("manifest", tables, problems)
	return m, erasure.Complete(err)
}

// Write writes the manifest of a data map. Read turns the manifest into an equal data map.
func Write(w io.Writer, m domain.DataMap) error {
	if m.IsZero() {
		return fault("", "the data map is empty")
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(document{Version, m.Declared()}); err != nil {
		return &domain.Error{Op: "manifest", Message: "cannot be written", Err: err}
	}
	return nil
}

func fault(where, message string) error {
	if where != "" {
		message = where + ": " + message
	}
	return &domain.Error{Code: domain.ErrManifest, Op: "manifest", Message: message}
}
