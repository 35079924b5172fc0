package sqltext

import (
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
)

// subjectDialect has the differences between PostgreSQL and SQLite in the statements on a subject.
type subjectDialect interface {
	// markInstant returns the two parameters of erasureInstant for an erasure at the given instant, by the clock of the
	// process. If exact is true, the mark gets this instant.
	markInstant(at time.Time, exact bool) [2]any

	erasureInstant(tables syntax.Tables, first, second string) string

	// intakeParts returns the parts of the INSERT of a mark that set the intake number:
	//
	//	INSERT INTO habeas_subject_erasures (..., erasures<column>) SELECT ..., 1<number> WHERE <lockCondition>
	//
	// Intake numbers count the marks in the order in which the store received them. If the table generates the number,
	// column and number are "". The lockCondition is always true, and may take a lock. The database evaluates the
	// condition before the table generates the number.
	intakeParts(tables syntax.Tables) (column, number, lockCondition string)

	// settledIntake returns the statement that reads the settled intake number. This is a number so low that no open
	// transaction can still commit a mark with this number or a lower number. The statement returns NULL if the table has
	// no mark. settledIntake returns "" if the database allows only one writer at a time.
	settledIntake(tables syntax.Tables) string

	// transaction returns the statement that reads the isolation level of a transaction, and whether the database has
	// deferrable triggers. It returns "" if every isolation level is sufficient and no trigger is deferrable.
	transaction() string

	// exportedValue returns the expression that reads a column for an export. The SQL type of the expression is the same
	// for all columns, because a UNION combines columns of different tables.
	exportedValue(column domain.Column) string

	// fromExported converts the value of an expression from exportedValue to the form in which drivers return the column
	// itself.
	fromExported(t domain.ColumnType, value any) any

	// storedJSON returns the value that a driver returns for a JSON document after the document is stored in a JSON
	// column.
	storedJSON(document string) any
}

func subjectDialectOf(d syntax.Dialect) subjectDialect {
	if d == syntax.Postgres {
		return postgres{}
	}
	return sqlite{}
}
