package domain

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// JournalVersion is the version of the format of a line in a journal.
const JournalVersion = 2

const (
	// maxInstallation is the maximum length of the id of an installation in a line.
	maxInstallation = 100
	// maxNumber is the maximum number of a line. It is the greatest integer up to which all readers of JSON read all
	// integers exactly. A replay raises a sequence of the database above the numbers, and the sequence must not end.
	maxNumber = 1 << 53
)

// JournalEntry is a line of a journal. It records the erasure of a subject. A journal is stored outside the database.
// After the database was restored from a backup, a replay of the journal repeats the erasures that the restore has
// undone.
//
// A line is a JSON object that ends with a line feed (JSON Lines). It has these members:
//
//   - v is the version, 2.
//   - installation, number and after are the fields Installation, Number and After.
//   - subject is the list of the elements of the subject id.
//   - erased_at is the instant of the erasure in the format of RFC 3339.
//   - added_at is AddedAt in the same format. It is left out if AddedAt is zero.
//   - mac is the code of the line that AppendLine writes, in base64, for example an HMAC (RFC 2104). Only lines of
//     AppendSigned with a function have it.
//
// A reader ignores other members.
type JournalEntry struct {
	// Installation is the id of the installation to which the subject belongs (see datamap.Installation.ID). It has 1 to
	// 100 printable ASCII characters without a space.
	Installation string
	// Number is ErasureMark.Intake of the erasure. It is 1 or more, and at most 2^53.
	Number int64
	// After is ErasureMark.After of the erasure: the number of the erasure before this one in the database, at which the
	// line was written. The line states that the database had no other erasure with a number greater than After and less
	// than Number. If a subject is erased again, only its new erasure counts, which has a higher number.
	After     int64
	SubjectID SubjectID
	ErasedAt  time.Time
	AddedAt   time.Time // ErasureMark.AddedAt; zero if it is not known
}

type journalLine struct {
	Version      int        `json:"v"`
	Installation string     `json:"installation,omitempty"`
	Number       *int64     `json:"number,omitempty"`
	After        *int64     `json:"after,omitempty"`
	Subject      []string   `json:"subject,omitempty"`
	ErasedAt     *time.Time `json:"erased_at,omitempty"`
	AddedAt      *time.Time `json:"added_at,omitempty"`
	Cut          bool       `json:"cut,omitempty"`
	MAC          []byte     `json:"mac,omitempty"`
}

// AppendLine appends the JSON line of the entry to the given text and returns the result.
func (e JournalEntry) AppendLine(text []byte) []byte { return appendLine(text, e.line()) }

// AppendSigned does the same as AppendLine, and adds the message authentication code of the line, which sign returns. A
// replay with the same function refuses lines that somebody else has written or changed. If sign is nil, AppendSigned
// adds nothing.
func (e JournalEntry) AppendSigned(text []byte, sign func([]byte) []byte) []byte {
	line := e.line()
	if sign != nil {
		line.MAC = sign(e.AppendLine(nil))
	}
	return appendLine(text, line)
}

func (e JournalEntry) line() journalLine {
	at := Instant(e.ErasedAt)
	line := journalLine{
		Version: JournalVersion, Installation: e.Installation, Number: &e.Number, After: &e.After,
		Subject: e.SubjectID.Elements(), ErasedAt: &at,
	}
	if !e.AddedAt.IsZero() {
		added := Instant(e.AddedAt)
		line.AddedAt = &added
	}
	return line
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
// ParseJournalLine returns ErrInvalid for a line of another version than JournalVersion, and for a line without a valid
// entry.
func ParseJournalLine(text []byte) (entry JournalEntry, truncated bool, err error) {
	return ParseSignedLine(text, nil)
}

// ParseSignedLine does the same as ParseJournalLine. If sign is not nil, it also returns ErrInvalid for a line that
// AppendSigned has not written with this function. The line of AppendTruncated is never signed.
func ParseSignedLine(
	text []byte, sign func([]byte) []byte,
) (entry JournalEntry, truncated bool, err error) {
	line, problem := readJournalLine(text)
	if problem == "" && line.Cut {
		return JournalEntry{}, true, nil
	}
	if problem == "" {
		entry, problem = line.entry()
	}
	if problem == "" && sign != nil && !bytes.Equal(line.MAC, sign(entry.AppendLine(nil))) {
		problem = "a line is not written with the key of the journal"
	}
	if problem != "" {
		return JournalEntry{}, false, &Error{Code: ErrInvalid, Op: "journal", Message: problem}
	}
	return entry, false, nil
}

// readJournalLine reads the members of a line, or returns the problem of a line that has no valid members.
func readJournalLine(text []byte) (line journalLine, problem string) {
	switch {
	case !utf8.Valid(text) || HasLoneSurrogate(text): // a reader would replace the characters, and read another subject
		return line, "a line has characters that are not valid"
	case json.Unmarshal(text, &line) != nil:
		return line, "a line is not a JSON object of a journal"
	case line.Version != JournalVersion:
		return line, "a line has the version " + strconv.Itoa(line.Version) + ", but this version of habeas reads " +
			"only version " +
			strconv.Itoa(JournalVersion)
	}
	return line, ""
}

// entry returns the entry of a line, or the problem of a line without a valid entry.
func (l journalLine) entry() (entry JournalEntry, problem string) {
	switch {
	case !isInstallation(l.Installation) || l.Number == nil || l.After == nil:
		return entry, "a line must have a valid installation, a number and the number before it"
	case *l.Number <= 0 || *l.Number > maxNumber || *l.After < 0 || *l.After >= *l.Number:
		return entry, "a line has numbers that are not valid"
	case l.ErasedAt == nil || l.ErasedAt.IsZero():
		return entry, "a line has no instant"
	}
	id, err := NewSubjectID(l.Subject...)
	if err != nil {
		return entry, "a line has no valid subject"
	}
	entry = JournalEntry{
		Installation: l.Installation, Number: *l.Number, After: *l.After, SubjectID: id, ErasedAt: Instant(*l.ErasedAt),
	}
	if l.AddedAt != nil && !l.AddedAt.IsZero() {
		entry.AddedAt = Instant(*l.AddedAt)
	}
	return entry, ""
}

// isInstallation reports whether the text can be the id of an installation.
func isInstallation(id string) bool {
	return id != "" && len(id) <= maxInstallation &&
		strings.IndexFunc(id, func(r rune) bool { return r <= ' ' || r > '~' }) < 0
}
