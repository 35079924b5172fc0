package conn

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/habeas-data/habeas/domain"
)

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
