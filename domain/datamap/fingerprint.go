package datamap

import (
	"encoding/hex"
	"encoding/json"
	"hash/fnv"

	"github.com/habeas-data/habeas/domain"
)

// FingerprintLength is the number of hexadecimal digits of a fingerprint.
const FingerprintLength = 32

// Fingerprint returns a hash of one erasure, in hexadecimal digits. Two erasures have the same fingerprint if all of
// this is equal:
//
//   - the subject: the id and the refs
//   - the plan, and the relations by which its steps find their rows
//   - the values that the steps write: for each column NULL or a surrogate, the form of the surrogate (its text, or the
//     type and the length of the column), and whether it also overwrites NULL
//   - the duties by which the steps keep retained columns
//   - the counts: the numbers of affected rows, of outbox entries, and of rows in domain.ErasureResult.Cascaded
//
// The fingerprint depends on no value of a row, and not on the instant of the erasure. However, the counts may differ
// between two instants if a retention duty ends in between.
//
// A fingerprint detects accidental changes. It is not a signature, because the hash (FNV-1a with 128 bits) is not
// cryptographic.
func (p Plan) Fingerprint(
	m DataMap, subject domain.Subject, steps []RehearsedStep, external []RehearsedExternal, cascaded map[string]int64,
) string {
	parts := []any{subject.ID.String(), subject.Refs, p.Steps, m.effects(p), steps, external, cascaded}
	if len(subject.Refs) == 0 {
		parts[1] = nil // an empty list and a missing one are the same subject
	}
	if len(cascaded) == 0 {
		parts = parts[:len(parts)-1]
	}
	hash := fnv.New128a()
	// The error is ignored, because texts and numbers can always be encoded, and writing to a hash always succeeds.
	_ = json.NewEncoder(hash).Encode(parts)
	return hex.EncodeToString(hash.Sum(nil))
}

// effect describes the action of a step that its Step leaves to the data map.
type effect struct {
	Relations []Relation    `json:"relations,omitempty"` // the path of the step
	Columns   []writtenCell `json:"columns,omitempty"`
}

// writtenCell is the form of the value that an erasure writes into a column, and the duty to keep the column.
type writtenCell struct {
	Name      string     `json:"name"`
	Null      bool       `json:"null,omitempty"`
	Type      ColumnType `json:"type,omitempty"`
	Length    int        `json:"length,omitempty"`
	Surrogate string     `json:"surrogate,omitempty"`
	Always    bool       `json:"always,omitempty"`
	Retain    Period     `json:"retain,omitzero"`
	Since     string     `json:"since,omitempty"`
	From      string     `json:"from,omitempty"`
	Zone      string     `json:"zone,omitempty"` // of From
}

// effects returns the effect of each local step of the plan.
func (m DataMap) effects(plan Plan) (all []effect) {
	for _, step := range plan.Local() {
		table, _ := m.Table(step.Target)
		path, _ := m.PathVia(step.Target, step.Via)
		of := effect{Relations: path.Relations}
		for _, name := range step.Columns {
			column, _ := table.Column(name)
			of.Columns = append(of.Columns, m.written(column))
		}
		all = append(all, of)
	}
	return all
}

// written returns the form of the value that an erasure writes into the column.
func (m DataMap) written(c Column) writtenCell {
	if c.Personal == nil {
		return writtenCell{Name: c.Name}
	}
	cell := writtenCell{Name: c.Name, Retain: c.Personal.Retain, Since: c.Personal.Since, From: c.Personal.From}
	if cell.From != "" {
		cell.Zone = m.Zone()
	}
	if cell.Null = c.Personal.Strategy == domain.StrategyNull; !cell.Null {
		cell.Type, cell.Length, cell.Surrogate, cell.Always = c.Type, c.Length, c.Surrogate, c.Always
	}
	return cell
}

// CheckFingerprint returns domain.ErrInvalid for the field fingerprint if the text does not have the form of a
// fingerprint.
func CheckFingerprint(text string) error {
	var fields []domain.FieldError
	switch _, err := hex.DecodeString(text); {
	case text == "":
		fields = []domain.FieldError{{Field: "fingerprint", Code: domain.FieldRequired, Message: "is required"}}
	case err != nil || len(text) != FingerprintLength:
		fields = []domain.FieldError{{
			Field: "fingerprint", Code: domain.FieldType,
			Message: "must be the 32 hexadecimal digits that a rehearsal returned",
		}}
	}
	return domain.Invalid("erase", fields)
}
