package conn

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

const zoe = "zoe@example.org"

// fieldError is an error of pgdriver.
type fieldError map[byte]string

func (e fieldError) Error() string            { return e['M'] }
func (e fieldError) Field(letter byte) string { return e[letter] }

// ofDrivers returns an error of the server in the forms in which the drivers return it.
func ofDrivers(e pgconn.PgError) []error {
	return []error{fmt.Errorf("wrapped: %w", &e), fieldError{
		'C': e.Code, 'M': e.Message, 'D': e.Detail, 'H': e.Hint, 'W': e.Where, 'F': e.File, 'R': e.Routine,
		't': e.TableName, 'c': e.ColumnName, 'n': e.ConstraintName,
	}}
}

// The text of an error contains only names of schema objects. The test puts a personal value into the detail of the
// server's error, and into errors that database functions raise.
func TestANameIsNeverAValue(t *testing.T) {
	detail := "Failing row contains (1, " + zoe + ")."
	for name, c := range map[string]struct {
		err  pgconn.PgError
		says string
	}{
		"a unique violation": {pgconn.PgError{
			Code: "23505", Message: `duplicate key value violates unique constraint "users_email"`,
			Detail: "Key (email)=(" + zoe + ") already exists.", File: "nbtinsert.c", Routine: "_bt_check_unique",
			TableName: "users", ConstraintName: "users_email",
		}, "(table users, constraint users_email) (SQLSTATE 23505)"},
		"a check violation": {pgconn.PgError{
			Code: "23514", Message: `new row for relation "users" violates check constraint "adult"`, Detail: detail,
			File: "execMain.c", TableName: "users", ConstraintName: "adult",
		}, "(table users, constraint adult) (SQLSTATE 23514)"},
		"a check violation in French": {pgconn.PgError{
			Code: "23514", Message: "la nouvelle ligne de la relation « users » viole la contrainte « adult »",
			Detail: "La ligne en échec contient (1, " + zoe + ").", File: "execMain.c", TableName: "users",
			ConstraintName: "adult",
		}, "(table users, constraint adult) (SQLSTATE 23514)"},
		"a not-null violation": {pgconn.PgError{
			Code: "23502", Message: `null value in column "name" of relation "users" violates not-null constraint`,
			Detail: detail, File: "execMain.c", TableName: "users", ColumnName: "name",
		}, "(table users, column name) (SQLSTATE 23502)"},
		"a foreign key": {pgconn.PgError{
			Code: "23503", Detail: "Key (id)=(" + zoe + `) is still referenced from table "orders".`, File: "ri_triggers.c",
			TableName: "orders", ConstraintName: "orders_user",
		}, "(table orders, constraint orders_user) (SQLSTATE 23503)"},
		"an exclusion": {pgconn.PgError{
			Code: "23P01", Detail: "Key (during)=(" + zoe + ") conflicts", File: "execIndexing.c", TableName: "stays",
			ConstraintName: "one_stay",
		}, "(table stays, constraint one_stay) (SQLSTATE 23P01)"},
		"a text that a type refuses": {pgconn.PgError{
			Code: "22P02", Message: "invalid input syntax for type uuid: \"" + zoe + `"`, File: "uuid.c",
		}, "refused a statement (SQLSTATE 22P02)"},
		"a trigger with values for names": {pgconn.PgError{
			Code: "23505", Message: "no " + zoe, File: "pl_exec.c", Routine: "exec_stmt_raise",
			Where: "PL/pgSQL function guard() line 1 at RAISE", TableName: zoe, ColumnName: zoe, ConstraintName: zoe,
		}, "because of a constraint (SQLSTATE 23505)"},
		"a trigger with an error of its own": {pgconn.PgError{
			Code: "P0001", Message: zoe, File: "pl_exec.c", TableName: zoe, ColumnName: zoe,
		}, "raised an error (SQLSTATE P0001)"},
		"another language": {pgconn.PgError{
			Code: "23505", Message: zoe, File: "plpy_elog.c", ConstraintName: zoe,
		}, "because of a constraint (SQLSTATE 23505)"},
		"a server that does not say where": {pgconn.PgError{
			Code: "23505", Message: zoe, ConstraintName: zoe,
		}, "because of a constraint (SQLSTATE 23505)"},
		"a table that a trigger says is missing": {pgconn.PgError{
			Code: "42P01", Message: `relation "` + zoe + `" does not exist`, File: "pl_exec.c",
		}, "is missing: were"},
		"a table that a function has made up": {pgconn.PgError{
			Code: "42P01", Message: `relation "` + zoe + `" does not exist`, File: "parse_relation.c",
			Where: "PL/pgSQL function guard() line 3 at EXECUTE",
		}, "is missing: were"},
		"a column that a function has made up": {pgconn.PgError{
			Code: "42703", Message: `column "` + zoe + `" does not exist`, File: "parse_relation.c",
			Where: "SQL statement \"SELECT\"\nPL/pgSQL function guard() line 3 at EXECUTE",
		}, "is missing: were"},
		"a privilege that a trigger says is missing": {pgconn.PgError{
			Code: "42501", Message: `permission denied for table "` + zoe + `"`, File: "pl_exec.c",
		}, "a privilege in the database (SQLSTATE 42501)"},
		"a table that is missing": {pgconn.PgError{
			Code: "42P01", Message: `relation "shop.letters" does not exist`, File: "parse_relation.c",
		}, "is missing (shop.letters): were"},
		"a column that is missing": {pgconn.PgError{
			Code: "42703", Message: `column t0.email does not exist`, Hint: zoe, File: "parse_relation.c",
		}, "is missing (t0.email): were"},
		"a column that is missing, in German": {pgconn.PgError{
			Code: "42703", Message: "Spalte „email“ von Relation „users“ existiert nicht", File: "parse_target.c",
		}, "is missing (email, users): were"},
		"a privilege that is missing": {pgconn.PgError{
			Code: "42501", Message: `permission denied for table users`, File: "aclchk.c",
		}, "a privilege in the database (users) (SQLSTATE 42501)"},
		"an error that a trigger raised": {pgconn.PgError{
			Code: "P0001", Message: zoe + " must stay", File: "pl_exec.c",
			Where: "PL/pgSQL function crm.guard() line 1 at RAISE\nSQL statement \"SELECT '" + zoe + "'\"",
		}, "a trigger or a function raised an error (function crm.guard) (SQLSTATE P0001)"},
		"an error that a trigger raised, in French": {pgconn.PgError{
			Code: "P0001", Message: zoe, File: "pl_exec.c", Where: "fonction PL/pgSQL guard(text), ligne 1 à RAISE",
		}, "raised an error (function guard) (SQLSTATE P0001)"},
		"an error that a block raised": {pgconn.PgError{
			Code: "P0001", Message: zoe, File: "pl_exec.c",
			Where: "PL/pgSQL function inline_code_block line 1 at RAISE\nof(" + zoe + ")",
		}, "raised an error (SQLSTATE P0001)"},
		"quotes in a name": {pgconn.PgError{
			Code: "23505", File: "nbtinsert.c", TableName: `we"ird`, ConstraintName: "it's",
		}, `(table we"ird, constraint it's)`},
		"names that break lines": {pgconn.PgError{
			Code: "23505", File: "nbtinsert.c", TableName: "a\nlevel=ERROR", ColumnName: "b\u2028c", ConstraintName: "d\x1b[31m",
		}, "because of a constraint (SQLSTATE 23505)"},
		"names that are no text": {pgconn.PgError{
			Code: "23505", File: "nbtinsert.c", TableName: "a\xff", ColumnName: "\x00", ConstraintName: strings.Repeat("x", 64),
		}, "because of a constraint (SQLSTATE 23505)"},
		"a name with a quote that is missing": {pgconn.PgError{
			Code: "42P01", Message: "relation \"a\nb\" does not exist", File: "parse_relation.c",
		}, "is missing: were"},
	} {
		for _, err := range ofDrivers(c.err) {
			text := Wrap(t.Context(), "erase", err).Error()
			if !strings.Contains(text, c.says) {
				t.Errorf("%s: %q does not say %q", name, text, c.says)
			}
			if strings.Contains(text, "zoe") || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' }) {
				t.Errorf("%s: %q", name, text)
			}
		}
	}
}
