package conn

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"os"
	"syscall"
)

// causes are the states of PostgreSQL that refuse a connection, in words.
var causes = map[string]string{
	"28P01": "the password is wrong",
	"28000": "this role may not log in from here: see the role, and pg_hba.conf",
	"3D000": "there is no database of that name",
	"53300": "it has too many connections",
	"57P03": "it is starting up or shutting down",
	"25006": "it only reads: it is a standby, or its transactions are read-only",
}

// sqliteCauses are the result codes of SQLite for a file that cannot be used, in words.
var sqliteCauses = map[int]string{
	3: "access to its file is denied", 8: "its file can only be read", 10: "its file cannot be read or written",
	13: "its disk is full", 14: "its file cannot be opened",
}

// cause says why a database cannot be reached, as far as that is known, and nothing if it is not. The words are our
// own, or those of the operating system, without a host, a user or a password.
func cause(err error, state string) string {
	if words := causes[state]; words != "" {
		return words
	}
	if words := sqliteCauses[sqliteCode(err)]; words != "" {
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
		return "there is no host of its name"
	case errors.As(err, &resolving):
		return "the name of its host could not be looked up"
	case errors.As(err, &certificate), errors.As(err, &authority), errors.As(err, &hostname):
		return "its certificate was not accepted"
	}
	switch {
	case errors.As(err, &number):
		return number.Error() // the words of the operating system, such as "no route to host"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return "it did not respond in time"
	default:
		return ""
	}
}
