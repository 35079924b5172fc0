package bunstore

import (
	"context"
	"database/sql"
	"strconv"

	"github.com/uptrace/bun"
)

// overwriteDeleted is the mode of PRAGMA secure_delete in which SQLite overwrites everything that it deletes with
// zeros. In the other modes, SQLite leaves deleted values in the file until it writes other data in their place.
const overwriteDeleted = 1

// forget makes SQLite overwrite what the session deletes or changes from now on. The mode belongs to the connection,
// which is the application's: the end of the session restores it.
func (s *session) forget(ctx context.Context) error {
	if !s.store.dialect.leavesDeleted() {
		return nil
	}
	if _, already := s.tx.(forgetting); already {
		return nil
	}
	var before int
	scan := func(rows *sql.Rows) error { return rows.Scan(&before) }
	err := s.returning(ctx, "secure delete", scan, "PRAGMA secure_delete")
	if err != nil || before == overwriteDeleted {
		return err
	}
	if err := s.read(ctx, "secure delete", ignore, secureDelete(overwriteDeleted)); err != nil {
		return err
	}
	s.tx = forgetting{s.tx, s.store.db, before}
	return nil
}

func secureDelete(mode int) string { return "PRAGMA secure_delete = " + strconv.Itoa(mode) }

// forgetting is a transaction in which SQLite overwrites what it deletes.
type forgetting struct {
	transaction
	db     *bun.DB
	before int // the mode to be restored
}

func (f forgetting) commit(ctx context.Context) error {
	f.restore(ctx)
	return f.transaction.commit(ctx)
}

func (f forgetting) rollback(ctx context.Context) error {
	f.restore(ctx)
	return f.transaction.rollback(ctx)
}

// restore leaves the connection as it was. If it cannot, the connection overwrites more than it has to.
func (f forgetting) restore(ctx context.Context) {
	_ = query(context.WithoutCancel(ctx), f.db, f.conn(), ignore, secureDelete(f.before))
}
