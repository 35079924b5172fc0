package sqlitestore

import (
	"context"
	"errors"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/habeas-data/habeas/domain"
)

// failure says of an error of the driver what it was, without its text.
func failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return &domain.Error{Op: "session", Message: "ended by its context", Err: ctx.Err()}
	}
	switch codeOf(err) {
	case sqlite3.SQLITE_CONSTRAINT:
		return &domain.Error{
			Code: domain.ErrConflict, Op: "statement", Message: "the database refused it because of what it holds", Err: err,
		}
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return &domain.Error{Code: domain.ErrUnavailable, Op: "statement", Message: "the database is busy", Err: err}
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY,
		sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
		return &domain.Error{Code: domain.ErrUnavailable, Op: "statement", Message: "the database cannot be used", Err: err}
	default:
		return &domain.Error{Op: "statement", Message: "failed", Err: err}
	}
}

// isBusy reports whether the error says that somebody else has a lock.
func isBusy(err error) bool {
	code := codeOf(err)
	return code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED
}

// codeOf is the primary result code of SQLite, or 0.
func codeOf(err error) int {
	var failed *sqlite.Error
	if errors.As(err, &failed) {
		return failed.Code() & 0xff
	}
	return 0
}

func manifestError(op, message string) error {
	return &domain.Error{Code: domain.ErrManifest, Op: op, Message: message}
}
