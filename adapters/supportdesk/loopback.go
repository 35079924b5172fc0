package supportdesk

import (
	"net/netip"
	"net/url"
	"strings"
	"syscall"
)

// isHTTPS reports whether a base URL, which is known to be good, has https.
func isHTTPS(base string) bool {
	parsed, err := url.Parse(base)
	return err == nil && parsed.Scheme == "https"
}

// isLoopback reports whether a host names this machine: localhost, or an address in 127.0.0.0/8 or ::1. Other
// names and other ways to write an address do not, whatever they are resolved to.
func isLoopback(host string) bool {
	if strings.ToLower(strings.TrimSuffix(host, ".")) == "localhost" { // not EqualFold, which knows more than ASCII
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback()
}

// onlyLoopback is the Control of a dialer that connects to this machine and to no other.
func onlyLoopback(_, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil || !target.Addr().IsLoopback() {
		return errNotLoopback
	}
	return nil
}
