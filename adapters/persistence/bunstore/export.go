package bunstore

import (
	"context"
	"database/sql"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/live"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/sqltext"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
)

// Export implements ports.SubjectStore. On PostgreSQL, one statement reads all tables. A single statement sees one
// snapshot, so it needs no transaction. On SQLite, one statement for each table runs in a read-only transaction, or in
// the transaction of the application that the session has joined.
func (s subjectStore) Export(
	ctx context.Context, id domain.SubjectID, yield func(domain.ExportRecord) error,
) error {
	key, err := s.key(id)
	if err != nil {
		return err
	}
	if err := s.db.Usable(); err != nil {
		return err
	}
	if s.db.Tx != nil && !s.db.Joined {
		return &domain.Error{
			Code: domain.ErrSession, Op: "export", Message: "must come before the first write of its session",
		}
	}
	statements := s.store.exports
	erased := false // set by the first statement
	read := func() error { return s.export(ctx, &statements[0], id, key, &erased, yield) }
	if done, err := s.onReplica(ctx, id, read); done {
		return err
	}
	if len(statements) == 1 {
		return read()
	}
	return s.db.InSnapshot(ctx, "export", func() error {
		for i := range statements {
			if err := s.export(ctx, &statements[i], id, key, &erased, yield); err != nil {
				return err
			}
		}
		return nil
	})
}

// maxExportStarts is the maximum number of times that an export runs its first statement. The export repeats the
// statement if the definitions of the tables have changed since the store read the catalog.
const maxExportStarts = 3

// export runs one statement and yields its records. If the statement is the first of an export, its first row is not a
// record. This row holds the fingerprint, the subject's key as the table stores it, and whether the subject was erased
// before. If the cached catalog has another fingerprint, export yields nothing, loads the catalog and runs the
// statement again.
func (s subjectStore) export(
	ctx context.Context, e *sqltext.Export, id domain.SubjectID, key []any, erased *bool,
	yield func(domain.ExportRecord) error,
) error {
	known := s.store.catalogs.Last()
	if e.ReadsPreconditions && known == nil {
		if err := s.readSubjectRow(ctx, id, key); err != nil {
			return err
		}
		known = s.catalog
	}
	for range maxExportStarts {
		stale := ""
		var refused error
		row := e.NewRow()
		err := s.db.Read(ctx, "export", func(rows *sql.Rows) error {
			if err := rows.Scan(row.Targets...); err != nil {
				return err
			}
			switch {
			case stale != "":
				return nil
			case e.ReadsPreconditions && row.Source == 0:
				stale, refused = s.checkPreconditions(known, id, row.Values)
				*erased = e.WasErased(row)
			default:
				refused = e.Yield(row, *erased, yield)
			}
			return refused
		}, e.Text, e.Args(id, key)...)
		switch {
		case refused != nil:
			return refused // unchanged, as yield returned it
		case err != nil:
			return s.explain(ctx, "export", err, s.store.catalogs.ToExport()...)
		case stale == "":
			return nil
		}
		if err := s.loadCatalog(ctx, stale); err != nil {
			return err
		}
		known = s.catalog
	}
	return s.db.Fail(ctx, "export", &domain.Error{
		Code: domain.ErrUnavailable, Op: "export",
		Message: "the definitions of the application's tables changed repeatedly: try again",
	})
}

// checkPreconditions checks the values in the first row of an export. It returns an error if the subject must not be
// exported. The row contains a fingerprint. If the cached catalog has another fingerprint, checkPreconditions returns
// the fingerprint of the row, and "" otherwise.
func (s subjectStore) checkPreconditions(
	cached *live.Catalog, id domain.SubjectID, values []any,
) (stale string, err error) {
	seen := newPreconditions(s.store.locks)
	for i, target := range seen.targets() {
		if values[i] != nil {
			*target = sql.NullString{String: syntax.Text(values[i]), Valid: true}
		}
	}
	if !seen.matchTexts(id) {
		return "", misspelled(cached, id)
	}
	if fingerprint := seen.fingerprint.String; cached.Fingerprint != fingerprint {
		return fingerprint, nil
	}
	_, err = cached.RefuseSubject(id, "export")
	return "", err
}

// onReplica calls fn while the session reads from one snapshot of the replica. If the store has no replica, if it is
// unreachable or lacks an erasure of the subject, or if the session has a transaction, onReplica returns false. The
// caller must then read from the primary.
func (s *session) onReplica(ctx context.Context, id domain.SubjectID, fn func() error) (done bool, err error) {
	if s.store.readDB == nil || s.db.Tx != nil {
		return false, nil
	}
	var current, known int64
	if err := s.db.Read(ctx, "export", scanCount(&current), s.store.locks.Erasures, id.String()); err != nil {
		return true, err
	}
	return s.db.InReplica(ctx, s.store.readDB, func(query conn.Query) bool {
		err := query(ctx, scanCount(&known), s.store.locks.Erasures, id.String())
		return err == nil && known == current
	}, fn)
}

func scanCount(count *int64) func(*sql.Rows) error {
	return func(rows *sql.Rows) error { return rows.Scan(count) }
}
