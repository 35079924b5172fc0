// Package arriving reads the body of a request that is still arriving.
package arriving

import (
	"errors"
	"io"
	"time"
)

// Body is the body of a request. It can set a read deadline, and removes the deadline when the body has arrived.
// Otherwise the deadline would also apply to later requests on the connection, or the server would treat an expired
// deadline as a disconnect of the client.
type Body struct {
	io.Reader
	Own time.Duration         // the read timeout of the server; no timeout if it is not positive
	Set func(time.Time) error // sets the read deadline of the connection

	isSet bool
}

// SetDeadline sets the read deadline for all further reads of the body, also by the server itself. It does nothing if
// the read timeout of the server is shorter than the time until the deadline.
func (b *Body) SetDeadline(deadline time.Time) {
	if b.Own <= 0 || time.Until(deadline) < b.Own {
		b.isSet = b.Set(deadline) == nil
	}
}

// Read implements io.Reader. At the end of the body, Read replaces the deadline of SetDeadline by the read timeout of
// the server.
func (b *Body) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.isSet && errors.Is(err, io.EOF) {
		var own time.Time
		if b.Own > 0 {
			own = time.Now().Add(b.Own)
		}
		b.isSet = b.Set(own) != nil
	}
	return n, err
}
