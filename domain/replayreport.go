package domain

import (
	"time"
)

// ReplayReport is the result of a replay, which repeats the erasures of a journal after the database was restored from
// a backup.
type ReplayReport struct {
	Lines  int64 `json:"lines"`  // the lines that were read, without empty lines and lines of AppendTruncated
	Broken int64 `json:"broken"` // the lines without a valid entry, also a last line that is cut off
	// Subjects is the number of subjects that have a line. If the replay has the instant of a restore
	// (replay.Options.RestoredTo), it also includes the subjects without a line that were erased after this instant. It is
	// the sum of Current, Erased, New, OtherRow, Unclear, Skipped and Failed if the replay has reached its end.
	Subjects int64 `json:"subjects"`
	// Current is the number of subjects that needed no new erasure, because the database already records the erasure of
	// the journal line or a later one. See ReplayCurrent.
	Current int64 `json:"current"`
	Erased  int64 `json:"erased"` // the subjects that were erased again
	// New is the number of subjects whose row belongs to somebody who registered after the erasure. See ReplayNew.
	New int64 `json:"new"`
	// OtherRow is the number of subjects whose row has another creation time than the row that was erased, and who were
	// not erased for this reason. See ReplayOtherRow.
	OtherRow int64 `json:"other_row"`
	// Unclear is the number of subjects that have a row and were not erased, because the evidence does not tell whether a
	// restore has brought the row back. See ReplayUnclear.
	Unclear int64 `json:"unclear"`
	Skipped int64 `json:"skipped"` // the subjects whose id does not fit the key of the subject's table
	Failed  int64 `json:"failed"`  // the subjects whose erasure failed

	// Missing has the numbers of erasures that neither the journal nor the database records, in ascending order. The
	// subjects of these erasures may be back in the database. Missing is found before the first erasure. A later replay
	// finds only the numbers that are missing between lines.
	Missing []NumberRange `json:"missing,omitempty"`
	// LastNumber is the highest number of a line, and LastErasedAt is the instant of its erasure. Both are zero if there
	// are no lines.
	LastNumber   int64     `json:"last_number"`
	LastErasedAt time.Time `json:"last_erased_at,omitzero"`
	// Sequences has the names of the sequences of the application from which a new subject would get the id of a subject
	// of the journal (see ports.InstallationStore.LowSequences).
	Sequences []string `json:"sequences,omitempty"`
}

// NumberRange is a range of the numbers of erasures (see JournalEntry.Number). It contains both bounds.
type NumberRange struct {
	First int64 `json:"first"`
	Last  int64 `json:"last"`
}
