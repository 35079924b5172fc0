package httpfake

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"strings"
	"sync/atomic"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Large is a store in which every subject has 2.5 MiB of data.
type Large struct {
	ports.SessionFactory

	Cut   atomic.Bool               // exports fail after RecordsUntilCut records
	Ended chan error                // gets the error of each session, unless it is nil
	See   func(ctx context.Context) // is called before each record and at the end of the session, unless it is nil
}

const (
	// RecordsUntilCut is the number of records before the failure of an export. They are more than 1 MiB, so that the
	// response is streamed.
	RecordsUntilCut = 20

	largeRecords    = 24
	largeRecordSize = 64 << 10
)

// IsComplete reports whether the body is a whole export.
func (*Large) IsComplete(body []byte) bool {
	var bundle struct{ Records []json.RawMessage }
	return json.Unmarshal(body, &bundle) == nil && len(bundle.Records) == largeRecords
}

// Do implements ports.SessionFactory.
func (l *Large) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	err := l.SessionFactory.Do(ctx, func(ctx context.Context, s ports.Session) error {
		return fn(ctx, largeSession{s, l})
	})
	l.see(ctx)
	if l.Ended != nil {
		l.Ended <- err
	}
	return err
}

func (l *Large) see(ctx context.Context) {
	if l.See != nil {
		l.See(ctx)
	}
}

type largeSession struct {
	ports.Session
	store *Large
}

func (s largeSession) Subjects() ports.SubjectStore {
	return largeSubjects{s.Session.Subjects(), s.store}
}

type largeSubjects struct {
	ports.SubjectStore
	store *Large
}

func (s largeSubjects) Export(ctx context.Context, _ domain.SubjectID, yield func(domain.ExportRecord) error) error {
	value := strings.Repeat("x", largeRecordSize)
	for i := range largeRecords {
		if i == RecordsUntilCut && s.store.Cut.Load() {
			return errors.New("the connection to the store is lost")
		}
		s.store.see(ctx)
		if err := yield(domain.ExportRecord{Source: "users", Field: "note", Value: value}); err != nil {
			return err
		}
	}
	return nil
}

// Narrow is a listener whose connections have small send buffers.
type Narrow struct{ net.Listener }

// Accept implements net.Listener.
func (n Narrow) Accept() (net.Conn, error) {
	connection, err := n.Listener.Accept()
	if tcp, isTCP := connection.(*net.TCPConn); isTCP {
		err = tcp.SetWriteBuffer(4 << 10)
	}
	return connection, err
}
