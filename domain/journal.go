package domain

import (
	"encoding/json"
	"time"
)

// JournalVersion is the version of the format of a line in a journal.
const JournalVersion = 1

// JournalEntry is a line of a journal. It records the erasure of a subject. A journal is stored outside the database.
// After the database was restored from a backup, a replay of the journal repeats the erasures.
//
// A line is a JSON object that ends with a line feed (JSON Lines). It has these members:
//
//   - v is the version.
//   - subject is the list of the elements of the subject id.
//   - erased_at is the instant of the erasure in the format of RFC 3339.
//   - operation_id is the id of the erasure, if it is known.
//
// A reader ignores other members.
type JournalEntry struct {
	SubjectID   SubjectID
	ErasedAt    time.Time
	OperationID string
}

type journalLine struct {
	Version     int        `json:"v"`
	Subject     []string   `json:"subject,omitempty"`
	ErasedAt    *time.Time `json:"erased_at,omitempty"`
	OperationID string     `json:"operation_id,omitempty"`
	Cut         bool       `json:"cut,omitempty"`
}

// AppendLine appends the JSON line of the entry to the given text and returns the result.
func (e JournalEntry) AppendLine(text []byte) []byte {
	at := Instant(e.ErasedAt)
	return appendLine(text, journalLine{
		Version: JournalVersion, Subject: e.SubjectID.Elements(), ErasedAt: &at, OperationID: e.OperationID,
	})
}

// AppendTruncated appends a special line to the given text and returns the result. The special line states that the
// line before it is incomplete, for example because of a crash. The writer then writes the complete entry again.
func AppendTruncated(text []byte) []byte {
	return appendLine(text, journalLine{Version: JournalVersion, Cut: true})
}

func appendLine(text []byte, line journalLine) []byte {
	encoded, err := json.Marshal(line)
	if err != nil {
		panic(err) // cannot happen: texts and instants can be encoded as JSON
	}
	return append(append(text, encoded...), '\n')
}

// ParseJournalLine reads a line of a journal. For a line of AppendTruncated, truncated is true and entry is empty.
// ParseJournalLine returns ErrInvalid for a line of another version, and for a line without a valid entry.
func ParseJournalLine(text []byte) (entry JournalEntry, truncated bool, err error) {
	var line journalLine
	invalid := func(message string) error {
		return &Error{Code: ErrInvalid, Op: "journal", Message: message}
	}
	switch err := json.Unmarshal(text, &line); {
	case err != nil:
		return JournalEntry{}, false, invalid("a line is not a JSON object of a journal")
	case line.Version != JournalVersion:
		return JournalEntry{}, false, invalid("a line has an unknown version")
	case line.Cut:
		return JournalEntry{}, true, nil
	case line.ErasedAt == nil || line.ErasedAt.IsZero():
		return JournalEntry{}, false, invalid("a line has no instant")
	}
	id, err := NewSubjectID(line.Subject...)
	if err != nil {
		return JournalEntry{}, false, invalid("a line has no valid subject")
	}
	return JournalEntry{SubjectID: id, ErasedAt: Instant(*line.ErasedAt), OperationID: line.OperationID}, false, nil
}

// ReplayReport is the result of a replay, which repeats the erasures of a journal after the database was restored from
// a backup.
type ReplayReport struct {
	Lines  int64 `json:"lines"`  // the lines that were read, without empty lines and lines of AppendTruncated
	Broken int64 `json:"broken"` // the lines without a valid entry
	// Current is the number of subjects that needed no new erasure, because the database already records the erasure of
	// the journal line or a later one. A replay reads the lines in batches, and counts a subject once in each batch.
	Current int64 `json:"current"`
	Erased  int64 `json:"erased"` // the subjects that were erased again
	Failed  int64 `json:"failed"` // the subjects whose erasure failed
}
