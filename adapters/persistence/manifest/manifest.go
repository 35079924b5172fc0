// Package manifest reads and writes a data map as a versioned JSON document, which is called a manifest. It is meant
// for applications without bun models, and for tools that inspect a data map. An example:
//
//	{"manifest_version": 2, "tables": [{"name": "users", "primary_key": ["id"], "subject_key": ["id"], "columns": [
//	  {"name": "id", "type": "bigint"},
//	  {"name": "email", "type": "text", "personal": {"category": "contact", "erasure": "anonymize"}}]}]}
//
// The members of a table are the JSON names of the fields of datamap.Table. The type of a column is a
// datamap.ColumnType, such as time for a timestamptz. A table or a column may have a note, which is a text for readers
// and has no effect.
//
// The optional member zone is the time zone of the calendar years of retention duties, such as Europe/Berlin. See
// datamap.Annotation.From. The default is UTC.
//
// The optional member accepted lists findings of a check that a person has accepted, see datamap.Acceptance:
//
//	"accepted": [{"rule": "index-missing", "table": "users", "reason": "50 rows", "until": "2027-03-31"}]
//
// The optional member decisions lists the questions of a draft, with the answers of people, see datamap.Decision:
//
//	"decisions": [{"object": "orders", "seen": ["id", "user_id", "user_id -> users"], "question": "...", "options": [
//	  {"name": "delete", "edit": {"tables": [...]}}, {"name": "not-about-people"}], "proposed": "not-about-people"}]
package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
)

// Version is the version of the manifest format that Write writes. It increases when a change of the format would make
// older programs misinterpret a manifest. Read refuses a manifest of another version.
const Version = 2

type document struct {
	Version   int                  `json:"manifest_version"`
	Zone      string               `json:"zone,omitempty"` // see datamap.DataMap.WithZone
	Tables    []datamap.Table      `json:"tables"`
	Accepted  []datamap.Acceptance `json:"accepted,omitempty"`
	Decisions []datamap.Decision   `json:"decisions,omitempty"`
}

// Read reads the data map that a manifest describes. If a member is unknown, misspelled or duplicated, Read returns no
// data map, because the data map could lack personal data. The error is domain.ErrManifest. It lists all mistakes in
// the order of the tables, each with its place in the document; see domain.Problem.
func Read(r io.Reader) (datamap.DataMap, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return datamap.DataMap{}, &domain.Error{Code: domain.ErrManifest, Op: "manifest", Message: "cannot be read", Err: err}
	}
	var manifest document
	var syntax *json.SyntaxError
	if errors.As(json.Unmarshal(text, &manifest), &syntax) {
		line := 1 + strings.Count(string(text[:syntax.Offset]), "\n")
		return datamap.DataMap{}, fault("line "+strconv.Itoa(line), "is not JSON: "+syntax.Error())
	}
	if manifest.Version != Version {
		return datamap.DataMap{}, fault("manifest_version", "must be "+strconv.Itoa(Version)+
			", the only version of the format that this version of habeas reads")
	}
	tables, problems := readTables(text)
	if len(problems) == 0 {
		problems = append(datamap.CheckAcceptances(manifest.Accepted), datamap.CheckDecisions(manifest.Decisions)...)
	}
	m, err := datamap.ReadDataMap("manifest", tables, problems)
	if err == nil && manifest.Zone != "" {
		m, err = m.WithZone(manifest.Zone)
	}
	m = m.WithAccepted(manifest.Accepted...).WithDecisions(manifest.Decisions...)
	return m, erasure.Complete(err)
}

// Write writes a data map as a manifest, with one line for each column. Read returns an equal data map for this
// manifest.
func Write(w io.Writer, m datamap.DataMap) error {
	if m.IsZero() {
		return fault("", "the data map is empty")
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(document{Version, m.Zone(), m.Declared(), m.Accepted(), m.Decisions()})
	if err == nil {
		_, err = io.WriteString(w, layout(bytes.TrimSpace(text.Bytes()), "")+"\n")
	}
	if err != nil {
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
