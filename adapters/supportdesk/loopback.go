package supportdesk

import (
	"net/netip"
	"net/url"
	"strings"
	"syscall"
)

// isHTTPS reports whether a valid base URL has the scheme https.
func isHTTPS(base string) bool {
	parsed, err := url.Parse(base)
	return err == nil && parsed.Scheme == "https"
}

// isLoopback reports whether a host is this machine: localhost, an address in 127.0.0.0/8, or ::1. It returns false for
// other names and for other spellings of addresses, even if they resolve to this machine.
func isLoopback(host string) bool {
	if strings.ToLower(strings.TrimSuffix(host, ".")) == "localhost" { // EqualFold also folds other letters
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback()
}

// onlyLoopback is the Control function of a dialer. It refuses connections to other machines.
func onlyLoopback(_, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil || !target.Addr().IsLoopback() {
		return errNotLoopback
	}
	return nil
}
