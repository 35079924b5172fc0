package conn

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// poolingAdvice is the advice for a proxy in transaction pooling mode, which assigns a connection to each transaction.
// With such a proxy, the driver must not prepare named statements, and must not send startup parameters that the proxy
// does not know.
const poolingAdvice = "behind a proxy that pools by transaction, set default_query_exec_mode=exec in the URL for pgx," +
	" and no search_path"

// StateOfLackingCharacter is the SQLSTATE for a text with a character that the encoding of the database lacks.
const StateOfLackingCharacter = "22P05"

// Wrap converts an error of the database to a domain.Error with a code. The text of the result omits the driver's
// message, which may contain values. The driver's error remains available to errors.As. If err already contains a
// domain.Error, Wrap returns err unchanged.
func Wrap(ctx context.Context, op string, err error) error {
	if err == nil {
		return nil
	}
	var coded *domain.Error
	if errors.As(err, &coded) {
		return err
	}
	if ended := endOf(ctx, err); ended != nil {
		return &domain.Error{Op: op, Message: "ended by its context", Err: errors.Join(ended, err)}
	}
	wrapped := &domain.Error{Op: op, Message: "the database refused a statement", Err: err}
	state := SQLState(err)
	switch {
	case state == "42P05", state == "26000":
		wrapped.Code = domain.ErrConfiguration
		wrapped.Message = "a prepared statement is on another connection: " + poolingAdvice
	case state == "08P01": // PgBouncer uses it for all of its errors, even if the server is down
		wrapped.Code = domain.ErrUnavailable
		wrapped.Message = "the database, or a proxy in front of it, ended the connection; " + poolingAdvice
	case isRefusedSetting(state) && walk(err, isConnectError):
		wrapped.Code, wrapped.Message = domain.ErrConfiguration, "the server refuses a setting of the connection, such as"+
			" its client_encoding: add client_encoding=UTF8 to the URL of the database, and remove settings that the server"+
			" does not know"
	case isUnreachable(err, state):
		wrapped.Code, wrapped.Message = domain.ErrUnavailable, "the database cannot be reached or is too busy"
		if why := cause(err, state); why != "" {
			wrapped.Message += ": " + why
		}
	case strings.HasPrefix(state, "23"), sqliteCode(err) == 19: // SQLITE_CONSTRAINT
		wrapped.Code, wrapped.Message = domain.ErrConflict, "the database refused a statement because of a constraint"
		wrapped.Message += inBrackets(namesIn(err).String())
	case state == "22001", state == "22003":
		wrapped.Code, wrapped.Message = domain.ErrConflict, "a value is too long or too large for its column"
	case state == StateOfLackingCharacter:
		wrapped.Code, wrapped.Message = domain.ErrInvalid, "a text has a character that the encoding of the database lacks"
	case state == "42501":
		wrapped.Code, wrapped.Message = domain.ErrConfiguration, "this role lacks a privilege in the database"
		wrapped.Message += inBrackets(missingNames(err))
	case strings.HasPrefix(state, "P0"):
		wrapped.Message += ": a trigger or a function raised an error" + raisedBy(err)
	case state == "42P01", state == "42703", state == "" && namesIn(err) != names{}:
		wrapped.Message = "a table or a column is missing" + inBrackets(missingNames(err)) + ": were the migrations run?"
	default:
		wrapped.Message += inBrackets(namesIn(err).String())
	}
	if state != "" {
		wrapped.Message += " (SQLSTATE " + state + ")"
	}
	return wrapped
}

func inBrackets(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

// endOf returns the error of the context if the context has ended, and nil otherwise. It returns
// context.DeadlineExceeded if the deadline of the context has passed and err is a timeout or a bad connection. Some
// drivers, such as pgdriver, set the deadline on their network connection, which may time out slightly before the
// context ends.
func endOf(ctx context.Context, err error) error {
	var network net.Error
	deadline, limited := ctx.Deadline()
	timedOut := errors.As(err, &network) && network.Timeout() || errors.Is(err, driver.ErrBadConn)
	if limited && timedOut && !time.Now().Before(deadline) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// Retryable reports whether err means that a transaction failed because of a concurrent transaction. Such a transaction
// may succeed on a retry.
func Retryable(err error) bool {
	switch SQLState(err) {
	case "40001", "40P01": // serialization failure, deadlock
		return true
	}
	return sqliteBusy(err)
}

// isUnreachable reports whether the database failed for a reason that may be temporary: it cannot be reached, is
// shutting down, is too slow or too busy, or is read-only.
func isUnreachable(err error, state string) bool {
	var network net.Error // an error of a connection or of a host lookup, or a timeout other than the caller's
	switch {
	case errors.As(err, &network), errors.Is(err, net.ErrClosed), errors.Is(err, driver.ErrBadConn):
		return true
	case errors.Is(err, sql.ErrConnDone), errors.Is(err, sql.ErrTxDone): // the connection was lost
		return true
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF): // the server closed the connection
		return true
	case isUnsent(err), walk(err, isConnectError):
		return true
	}
	switch state[:min(2, len(state))] {
	case "08", "28", "53": // connection exception, login refused, insufficient resources
		return true
	}
	switch state {
	case "55P03", "57014", // lock not available, and canceled by a statement_timeout or an administrator
		"57P01", "57P02", "57P03", "57P04", "57P05", // shut down, crashed, starting up, dropped, idle for too long
		"25P03", "25P04", // idle in a transaction for too long, transaction took too long
		"25006", "58000", "58030", // a server that is read-only, or that cannot use its disk
		"3D000": // the database does not exist (yet)
		return true
	}
	switch sqliteCode(err) {
	case 3, 7, 8, 10, 13, 14, 15: // PERM, NOMEM, READONLY, IOERR, FULL, CANTOPEN, PROTOCOL
		return true
	}
	return Retryable(err) // all retries failed
}

// isUnsent reports whether the driver guarantees that it sent no part of the statement to the database. pgx does so for
// a closed connection.
func isUnsent(err error) bool {
	var safe interface{ SafeToRetry() bool }
	return errors.As(err, &safe) && safe.SafeToRetry()
}

// isRefusedSetting reports whether a server that cannot convert to the client_encoding, or does not know a setting or
// its value, answers a connection with the state.
func isRefusedSetting(state string) bool {
	return state == "0A000" || state == "22023" || state == "42704"
}

// isConnectError reports whether err is pgx's error for a connection that could not be opened.
func isConnectError(err error) bool {
	value := reflect.Indirect(reflect.ValueOf(err))
	return value.IsValid() && value.Type().Name() == "ConnectError" && strings.HasSuffix(value.Type().PkgPath(), "/pgconn")
}

// Refused reports whether the response of the database guarantees that a statement had no effect. The effect is unknown
// if the database cannot be reached or is shutting down.
func Refused(err error) bool {
	state := SQLState(err)
	return state != "" && state != "40003" && !strings.HasPrefix(state, "08") && !strings.HasPrefix(state, "57P")
}

// refusesAttempt reports whether a statement failed because of a constraint, a type, the condition of a view, an error
// that a trigger has raised, or because the database cannot lock the rows of a view.
func refusesAttempt(err error) bool {
	state := SQLState(err)
	class := state[:min(2, len(state))]
	return errors.Is(err, domain.ErrConflict) || IsUnlockable(err) ||
		slices.Contains([]string{"22", "23", "44", "P0"}, class)
}

// IsUnlockable reports whether the database has refused a statement because it cannot lock the rows of a table. This
// may be a view, for example one with GROUP BY, or a materialized view.
func IsUnlockable(err error) bool { return slices.Contains([]string{"0A000", "42809"}, SQLState(err)) }

// IsMistyped reports whether the database has refused a statement because the columns have other types.
func IsMistyped(err error) bool {
	return slices.Contains([]string{"42804", "42883", "42846"}, SQLState(err))
}

// OfTable reports whether a statement failed because of its table and not because of the database. Examples are a
// missing privilege, an unreadable table, and a table that takes longer to read than the server allows.
func OfTable(ctx context.Context, err error) bool {
	if err == nil || endOf(ctx, err) != nil {
		return false
	}
	switch state := SQLState(err); {
	case state == "57014": // canceled by a statement_timeout
		return true
	case state != "":
		return Refused(err) && !strings.HasPrefix(state, "53") && state != "25P03" && state != "25P04"
	}
	switch sqliteCode(err) {
	case 1, 11: // ERROR (the statement cannot be prepared) and CORRUPT
		return true
	default:
		return false
	}
}

// SQLState returns the five-character code of a PostgreSQL error, or "" for another error. It supports the errors of
// pgx, which have a method SQLState, and the errors of pgdriver, which have the protocol field C.
func SQLState(err error) string {
	var pgx interface{ SQLState() string }
	if errors.As(err, &pgx) {
		return pgx.SQLState()
	}
	var pgdriver interface{ Field(field byte) string }
	if errors.As(err, &pgdriver) {
		return pgdriver.Field('C')
	}
	return ""
}

// sqliteCode returns the primary result code of an SQLite error, or 0 for another error. It supports the drivers
// modernc (a method Code that returns an int), ncruces (a method Code that returns another type) and mattn (a field
// Code).
func sqliteCode(err error) int {
	var modernc interface{ Code() int }
	if errors.As(err, &modernc) {
		return modernc.Code() & 0xff
	}
	code := 0
	walk(err, func(err error) bool {
		code = codeOfType(reflect.ValueOf(err))
		return code != 0
	})
	return code
}

// codeOfType returns the primary result code of an error if its type belongs to a package of SQLite, and 0 otherwise.
func codeOfType(err reflect.Value) int {
	value := reflect.Indirect(err)
	if !value.IsValid() || !strings.Contains(value.Type().PkgPath(), "sqlite") {
		return 0
	}
	return number(err, value, "Code") & 0xff
}

// extendedCode returns the extended result code of an SQLite error. In mattn and ncruces, this is ExtendedCode. In
// other drivers, it is Code.
func extendedCode(err reflect.Value) int {
	value := reflect.Indirect(err)
	if value.Kind() == reflect.Struct && value.FieldByName("ExtendedCode").IsValid() {
		return number(err, value, "ExtendedCode")
	}
	if method := err.MethodByName("ExtendedCode"); method.IsValid() {
		return number(err, value, "ExtendedCode")
	}
	return number(err, value, "Code")
}

// number returns the result of err.<member>(). If err does not have this method, number returns the field
// value.<member>, where value is the struct to which err points. number returns 0 if the value is not an integer.
func number(err, value reflect.Value, member string) int {
	var code reflect.Value
	if method := err.MethodByName(member); method.IsValid() && method.Type().NumIn() == 0 && method.Type().NumOut() == 1 {
		code = method.Call(nil)[0]
	} else if value.Kind() == reflect.Struct {
		code = value.FieldByName(member)
	}
	switch {
	case code.IsValid() && code.CanInt():
		return int(code.Int())
	case code.IsValid() && code.CanUint():
		return int(code.Uint()) //nolint:gosec // a result code
	default:
		return 0
	}
}

// walk calls visit for an error and all errors that it wraps, until visit returns true.
func walk(err error, visit func(error) bool) bool {
	if err == nil {
		return false
	}
	if visit(err) {
		return true
	}
	switch wrapper := err.(type) { //nolint:errorlint // walk unwraps errors itself
	case interface{ Unwrap() error }:
		return walk(wrapper.Unwrap(), visit)
	case interface{ Unwrap() []error }:
		for _, inner := range wrapper.Unwrap() {
			if walk(inner, visit) {
				return true
			}
		}
	}
	return false
}

// sqliteBusy reports whether the result code is SQLITE_BUSY or SQLITE_LOCKED.
func sqliteBusy(err error) bool {
	code := sqliteCode(err)
	return code == 5 || code == 6
}

// unableDriver returns an error that names the driver if the driver does not support the options of a transaction.
// Otherwise, it returns err. Drivers have no code for this error, so unableDriver searches its text.
func (p *Pool) unableDriver(err error) error {
	text := strings.ToLower(err.Error())
	if SQLState(err) != "" || !strings.Contains(text, "isolation") && !strings.Contains(text, "readonly") &&
		!strings.Contains(text, "read-only") {
		return err
	}
	return &domain.Error{
		Code: domain.ErrConfiguration, Op: "begin", Err: err,
		Message: fmt.Sprintf("the driver %T cannot begin a transaction that is read-only or has another isolation level than"+
			" the default: use pgx, or pgdriver 1.2.15 or later", p.db.Driver()),
	}
}

// causeTexts maps the SQLSTATE codes of refused connections to texts for error messages.
var causeTexts = map[string]string{
	"28P01": "the password is wrong",
	"28000": "this role may not log in from here: see the role, and pg_hba.conf",
	"3D000": "the database does not exist",
	"53300": "it has too many connections",
	"57P03": "it is starting up or shutting down",
	"25006": "it is read-only: it is a standby, or its transactions are read-only",
}

// sqliteCauseTexts maps the result codes of SQLite for unusable files to texts for error messages.
var sqliteCauseTexts = map[int]string{
	3: "access to its file is denied", 8: "its file is read-only", 10: "its file cannot be read or written",
	13: "its disk is full", 14: "its file cannot be opened",
}

// cause returns the reason why a database cannot be reached, or "" if the reason is unknown. The text is from this
// package or from the operating system. It contains no host, user or password.
func cause(err error, state string) string {
	if words := causeTexts[state]; words != "" {
		return words
	}
	if words := sqliteCauseTexts[sqliteCode(err)]; words != "" {
		return words
	}
	var (
		resolving   *net.DNSError
		number      syscall.Errno
		certificate *tls.CertificateVerificationError
		authority   x509.UnknownAuthorityError
		hostname    x509.HostnameError
	)
	switch {
	case errors.As(err, &resolving) && resolving.IsNotFound:
		return "its host name does not exist"
	case errors.As(err, &resolving):
		return "its host name could not be resolved"
	case errors.As(err, &certificate), errors.As(err, &authority), errors.As(err, &hostname):
		return "its certificate was not accepted"
	}
	switch {
	case errors.As(err, &number):
		return number.Error() // a text of the operating system, such as "no route to host"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return "it did not respond in time"
	default:
		return ""
	}
}
