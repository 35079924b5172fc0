package domain

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// Problem is one mistake in a data map. It contains names of tables and columns, and words of struct tags and
// manifests, but never a value of a row. It is safe to log.
type Problem struct {
	Code     Code     `json:"code"`               // ErrManifest or ErrRetention; empty means ErrManifest
	Table    string   `json:"table"`              // empty if the mistake is not in one table
	Column   string   `json:"column,omitempty"`   // the column, or the field of a model; may be empty
	Message  string   `json:"message"`            // the mistake
	Found    string   `json:"found,omitempty"`    // the wrong value
	Possible []string `json:"possible,omitempty"` // the valid values
	Remedy   string   `json:"remedy,omitempty"`   // the change that fixes it
}

// Where returns the table, or the table and the column, that has the problem.
func (p Problem) Where() string {
	if p.Column == "" {
		return p.Table
	}
	return p.Table + "." + p.Column
}

// String returns the problem in one line. The line starts with the result of Where.
func (p Problem) String() string {
	text := p.Message
	if where := p.Where(); where != "" {
		text = where + ": " + text
	}
	if p.Found != "" {
		text += "; found " + strconv.Quote(p.Found)
	}
	if len(p.Possible) > 0 {
		text += "; possible: " + strings.Join(p.Possible, ", ")
	}
	if p.Remedy != "" {
		text += "; " + p.Remedy
	}
	return text
}

// ManifestError returns an error that lists the problems of a data map, or nil if problems is empty. The code is
// ErrRetention if every problem has this code, otherwise ErrManifest. If there are several problems, the message has
// one line for each problem.
func ManifestError(op string, problems []Problem) error {
	if len(problems) == 0 {
		return nil
	}
	problems = slices.Clone(problems)
	refused := &Error{Code: ErrRetention, Op: op, Problems: problems}
	lines := make([]string, len(problems))
	for i := range problems {
		problems[i].Code = cmp.Or(problems[i].Code, ErrManifest)
		if problems[i].Code != ErrRetention {
			refused.Code = ErrManifest
		}
		lines[i] = problems[i].String()
	}
	refused.Message = lines[0]
	if len(lines) > 1 {
		refused.Message = strconv.Itoa(len(lines)) + " mistakes:\n" + strings.Join(lines, "\n")
	}
	return refused
}

// Problems returns the problems that err lists, in the same order. It returns nil if err lists no problems.
func Problems(err error) []Problem {
	var refused *Error
	if !errors.As(err, &refused) {
		return nil
	}
	return refused.Problems
}
