// Package manifest keeps a data map as a versioned JSON document, for applications that have no bun models to read it
// from, and for tools that look at it:
//
//	{"manifest_version": 2, "tables": [{"name": "users", "primary_key": ["id"], "subject_key": ["id"], "columns": [
//	  {"name": "id", "type": "bigint"},
//	  {"name": "email", "type": "text", "personal": {"category": "contact", "erasure": "anonymize"}}]}]}
//
// The members of a table are those of domain.Table. A table and a column may have a note, a text that changes nothing.
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

// Version is the version of the format that Write writes. It changes when a manifest of this version would be misread.
// Read reads every version up to this one. In version 1, delete was also the word for the cells of rows that stay,
// which is erase since; and nothing was said about the export, which shows everything.
const Version = 2

type document struct {
	Version int            `json:"manifest_version"`
	Tables  []domain.Table `json:"tables"`
}

// Read makes the data map that a manifest describes. A manifest is taken as a whole or not at all: a member that is
// unknown, misspelled or there twice would mean personal data that is overlooked. The error is domain.ErrManifest and
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
		return domain.DataMap{}, fault("line "+strconv.Itoa(line), "is no JSON: "+syntax.Error())
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

// Write writes the manifest of a data map, which Read turns into an equal one.
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
