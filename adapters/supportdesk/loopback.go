package supportdesk

import (
	"net/netip"
	"net/url"
	"strings"
	"syscall"
)

// isHTTPS reports whether a base URL has the scheme https. The base URL must be valid.
func isHTTPS(base string) bool {
	parsed, err := url.Parse(base)
	return err == nil && parsed.Scheme == "https"
}

// isLoopback reports whether the host of a URL is this machine: localhost, an address in 127.0.0.0/8, or ::1. It
// returns false for every other host name, even if that name resolves to this machine.
func isLoopback(host string) bool {
	if strings.ToLower(strings.TrimSuffix(host, ".")) == "localhost" { // EqualFold would also accept the letter long s
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback()
}

// onlyLoopback is a function for the field Control of a net.Dialer. It refuses connections to other machines.
func onlyLoopback(_, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil || !target.Addr().IsLoopback() {
		return errNotLoopback
	}
	return nil
}
