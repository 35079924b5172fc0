package conn

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/uptrace/bun"
)

// prepared is a connection for one statement with its parameters. bun gets a raw query without parameters, because bun
// would write the parameters into the text of the statement. The query hooks of the application see this raw query.
// prepared then passes the original text and the parameters to the driver. It does not pass the text from bun, because
// bun replaces the placeholders of SQLite (?1) in that text if the application has named arguments.
type prepared struct {
	bun.IConn
	text string
	args []any
}

func (p prepared) ExecContext(ctx context.Context, _ string, _ ...any) (sql.Result, error) {
	return p.IConn.ExecContext(ctx, p.text, p.args...)
}

func (p prepared) QueryContext(ctx context.Context, _ string, _ ...any) (*sql.Rows, error) {
	return p.IConn.QueryContext(ctx, p.text, p.args...)
}

// rowVisitor makes bun call a function for each row. It implements bun.Model.
type rowVisitor func(*sql.Rows) error

func (visit rowVisitor) Value() any { return nil }

func (visit rowVisitor) ScanRows(_ context.Context, rows *sql.Rows) (int, error) {
	n := 0
	for rows.Next() {
		if err := visit(rows); err != nil {
			return n, err
		}
		n++
	}
	return n, rows.Err()
}

// Query runs a statement and calls visit for each row.
type Query func(ctx context.Context, visit func(*sql.Rows) error, text string, args ...any) error

// Texts runs a statement with one text column and returns the values of this column.
func (q Query) Texts(ctx context.Context, text string) (texts []string, err error) {
	err = q(ctx, func(rows *sql.Rows) error {
		texts = append(texts, "")
		return rows.Scan(&texts[len(texts)-1])
	}, text)
	return texts, err
}

// AddTargets adds pointers to the values to the targets of a scan.
func AddTargets[T any](targets []any, values []T) []any {
	targets = slices.Grow(targets, len(values))
	for i := range values {
		targets = append(targets, &values[i])
	}
	return targets
}

// Ignore ignores a row.
func Ignore(*sql.Rows) error { return nil }

// exec runs a statement on a connection and returns the number of rows that it changed.
func (p *Pool) exec(ctx context.Context, conn bun.IConn, text string, args ...any) (int64, error) {
	text = p.database.numbered(text)
	result, err := p.db.NewRaw(text).Conn(prepared{conn, text, args}).Exec(ctx)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// query runs a statement on a connection and calls visit for each row.
func (p *Pool) query(
	ctx context.Context, conn bun.IConn, visit func(*sql.Rows) error, text string, args ...any,
) error {
	return p.queryAsWritten(ctx, conn, visit, p.database.numbered(text), args...)
}

func (p *Pool) queryAsWritten(
	ctx context.Context, conn bun.IConn, visit func(*sql.Rows) error, text string, args ...any,
) error {
	return p.db.NewRaw(text).Conn(prepared{conn, text, args}).Scan(ctx, rowVisitor(visit))
}

// readyTexts has the statements that numbered has converted.
type readyTexts struct {
	ready sync.Map
	count atomic.Int64
}

// maxReadyTexts limits the memory for statements whose text is rarely the same.
const maxReadyTexts = 2000

var numberedTexts, qualifiedTexts readyTexts

func (r *readyTexts) convert(text string, convert func(string) string) string {
	if ready, known := r.ready.Load(text); known {
		text, _ := ready.(string) // the map has no other values
		return text
	}
	ready := convert(text)
	if r.count.Add(1) <= maxReadyTexts {
		r.ready.Store(strings.Clone(text), ready)
	}
	return ready
}

// numbered names the schema of PostgreSQL's functions, see qualify.
func (postgres) numbered(text string) string { return qualifiedTexts.convert(text, qualify) }

// numbered converts $1 to ?1 and so on, see questionMarks.
func (sqlite) numbered(text string) string { return numberedTexts.convert(text, questionMarks) }

// questionMarks converts $1 to ?1 and so on, outside of quoted text. SQLite treats $1 as a name, and drivers assign
// parameters to names in the order in which the names first occur, not by their numbers.
func questionMarks(text string) string {
	var ready strings.Builder
	written := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\'', '"':
			i = endOfQuotation(text, i)
		case '$':
			ready.WriteString(text[written:i])
			ready.WriteByte('?')
			written = i + 1
		}
	}
	return ready.String() + text[written:]
}
