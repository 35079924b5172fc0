package installation

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
)

// ownSequences reads and raises the sequences of the tables of habeas.
type ownSequences struct {
	own    dialect
	tables syntax.Tables
	query  conn.Query
}

// lowSequence is a sequence that must be raised.
type lowSequence struct {
	sequence
	to int64 // the highest number that the sequence must not return
}

// find returns the sequences that this role may read and raise. The error is domain.ErrConfiguration if there are
// others, and names their privileges.
func (o ownSequences) find(ctx context.Context) (usable []sequence, err error) {
	text := o.own.ownSequences(o.tables)
	if text == "" {
		return nil, nil
	}
	var denied []string
	err = o.query(ctx, func(rows *sql.Rows) error {
		var s sequence
		var mayRead, mayRaise bool
		if err := rows.Scan(&s.name, &s.table, &s.column, &mayRead, &mayRaise); err != nil {
			return err
		}
		if mayRead && mayRaise {
			usable = append(usable, s)
		} else {
			denied = append(denied, s.name)
		}
		return nil
	}, text)
	if err == nil && len(denied) > 0 {
		err = deniedSequences(denied)
	}
	return usable, err
}

// errDeniedSequence is wrapped by the error of a role that must not read or raise a sequence.
var errDeniedSequence = errors.New("a privilege on a sequence is missing")

func deniedSequences(names []string) error {
	return &domain.Error{
		Code: domain.ErrConfiguration, Op: "sequences", Err: errDeniedSequence,
		Message: "this role must not compare and raise the sequences of the tables of habeas: GRANT SELECT, UPDATE ON" +
			" SEQUENCE " + strings.Join(names, ", ") + " to the role, or use the role that owns the tables",
	}
}

// findLow returns the sequences that stand below the numbers in their columns, and that of the marks if it stands below
// intake.
func (o ownSequences) findLow(ctx context.Context, of []sequence, intake int64) (low []lowSequence, err error) {
	if len(of) == 0 {
		return nil, nil
	}
	err = o.query(ctx, func(rows *sql.Rows) error {
		var place int
		var reached int64
		var above sql.NullInt64
		if err := rows.Scan(&place, &reached, &above); err != nil {
			return err
		}
		to := above.Int64
		if of[place].table == o.tables.Erasures {
			to = max(to, intake)
		}
		if to > reached {
			low = append(low, lowSequence{of[place], to})
		}
		return nil
	}, o.own.sequencePositions(of, o.tables))
	return low, err
}

// raise raises the sequences that are too low. The caller has opened a transaction, in which exec runs a statement. A
// sequence that is high enough needs no lock and does not change.
func (o ownSequences) raise(
	ctx context.Context, of []sequence, intake int64, exec func(text string, args ...any) error,
) error {
	if text := o.own.raiseIntake(o.tables); text != "" && intake > 0 {
		return exec(text, intake)
	}
	low, err := o.findLow(ctx, of, intake)
	if err != nil || len(low) == 0 {
		return err
	}
	if err := exec(o.own.lockSequences()); err != nil { // another call may be raising the same sequences
		return err
	}
	if low, err = o.findLow(ctx, of, intake); err != nil {
		return err
	}
	for _, s := range low {
		if err := exec(o.own.raiseSequence(s.name), s.to); err != nil {
			return err
		}
	}
	return nil
}

// RaiseAll raises the sequences of the tables of habeas that are too low, and calls warn with the reason if this role
// lacks a privilege on some of them.
func RaiseAll(
	ctx context.Context, pool *conn.Pool, d syntax.Dialect, tables syntax.Tables, warn func(reason error),
) error {
	own := ownSequences{dialectOf(d), tables, pool.Query}
	found, err := own.find(ctx)
	switch {
	case errors.Is(err, errDeniedSequence):
		warn(err)
	case err != nil:
		return err
	}
	low, err := own.findLow(ctx, found, 0)
	if err != nil || len(low) == 0 {
		return err
	}
	return pool.InTransaction(ctx, func(tx *conn.Tx) error {
		own.query = tx.Query
		return own.raise(ctx, found, 0, func(text string, args ...any) error {
			_, err := tx.Exec(ctx, text, args...)
			return err
		})
	})
}

// RaiseSequences implements ports.InstallationStore. On PostgreSQL, the new position of a sequence holds even if the
// session rolls back. RaiseSequences returns domain.ErrConfiguration if the role must not read or raise one of the
// sequences.
func (i *Session) RaiseSequences(ctx context.Context, intake int64) error {
	if err := i.db.Begin(ctx); err != nil {
		return err
	}
	own := ownSequences{i.store.own, i.store.tables, i.db.QueryFor("sequences")}
	found, err := own.find(ctx)
	if err == nil {
		err = own.raise(ctx, found, intake, func(text string, args ...any) error {
			_, err := i.db.Write(ctx, "sequences", text, args...)
			return err
		})
	}
	return i.db.Fail(ctx, "sequences", err)
}

// LowSequences implements ports.InstallationStore. It knows the sequence of a single key column of an integer type: the
// sequence that the column owns or that its DEFAULT names, or the row ids of SQLite. A sequence that the role must not
// read may be too low, so LowSequences returns it together with the missing privilege.
func (i *Session) LowSequences(ctx context.Context, highest int64) (low []string, err error) {
	table := i.store.dataMap.SubjectTable()
	if err := i.db.Usable(); err != nil || len(table.SubjectKey) != 1 {
		return nil, err
	}
	var names, positions []string
	err = i.db.Read(ctx, "sequences", func(rows *sql.Rows) error {
		var name string
		var position sql.NullString
		err := rows.Scan(&name, &position)
		names, positions = append(names, name), append(positions, position.String)
		return err
	}, i.store.own.keySequences(table, table.SubjectKey[0]))
	for at, name := range names {
		if positions[at] == "" {
			low = append(low, name+" (this role must not read it: GRANT SELECT ON SEQUENCE "+name+")")
			continue
		}
		err = i.db.Read(ctx, "sequences", func(rows *sql.Rows) error {
			var next int64
			err := rows.Scan(&next)
			if next <= highest {
				low = append(low, name)
			}
			return err
		}, positions[at])
		if err != nil {
			return nil, err
		}
	}
	return low, err
}
