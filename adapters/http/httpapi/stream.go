package httpapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/export"
	"github.com/habeas-data/habeas/ports"
)

// shutdownGrace is the time that a client has for the rest of its stream when the server begins to shut down.
const shutdownGrace = time.Second

// stream is the body of a response. The adapter reads it from a spool, while a goroutine may still write the export.
type stream struct {
	*export.Spool
	ctx      context.Context //nolint:containedctx // of the goroutine; Close reads a deadline from it
	cancel   context.CancelFunc
	observed ports.RunningActivity

	whole     Response      // the result of the goroutine
	ended     chan struct{} // closed when the goroutine has ended
	closed    chan struct{} // closed by Close
	watched   chan struct{} // closed when the write deadline is not set any more
	isRead    atomic.Bool   // the adapter has read the complete document
	closing   sync.Once
	observing sync.Once
}

func newStream(
	ctx context.Context, cancel context.CancelFunc, spool *export.Spool, observed ports.RunningActivity,
) *stream {
	return &stream{
		Spool: spool, ctx: ctx, cancel: cancel, observed: observed,
		ended: make(chan struct{}), closed: make(chan struct{}), watched: make(chan struct{}),
	}
}

// watch breaks off the stream at the deadline, or soon after the begin of a shutdown, unless it was closed before. The
// adapter may block in a write to a client that does not read, which the write deadline ends.
func (s *stream) watch(deadline time.Time, shutdown <-chan struct{}, setWriteDeadline func(time.Time) error) {
	if s.outlasts(deadline, shutdown) {
		_ = s.Spool.Close() // always returns nil
		if setWriteDeadline != nil {
			_ = setWriteDeadline(time.Now()) // fails if the connection was closed
		}
	}
	close(s.watched)
	<-s.ended
	s.observe()
}

// outlasts reports whether the stream was not closed at the deadline, or soon after the begin of a shutdown.
func (s *stream) outlasts(deadline time.Time, shutdown <-chan struct{}) bool {
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	for {
		select {
		case <-s.closed:
			return false
		case <-timer.C:
			return true
		case <-shutdown:
			shutdown = nil
			timer.Reset(min(shutdownGrace, time.Until(deadline)))
		}
	}
}

// observe reports the end of the request to the observer, once. The goroutine must have ended.
func (s *stream) observe() {
	s.observing.Do(func() {
		ended := s.whole.ended()
		if s.whole.Status == http.StatusOK && !s.isRead.Load() {
			ended.Outcome = domain.OutcomeOf(context.Canceled)
		}
		ended.Status = http.StatusOK // the status that the client has received
		s.observed.End(ended)
	})
}

// Read implements io.Reader.
func (s *stream) Read(p []byte) (int, error) {
	n, err := s.Spool.Read(p)
	if errors.Is(err, io.EOF) {
		s.isRead.Store(true)
	}
	return n, err
}

// Close cancels the export and waits until its goroutine has ended. A store may ignore the cancellation, so Close waits
// at most until the request's timeout.
func (s *stream) Close() error {
	s.cancel()
	err := s.Spool.Close()
	s.closing.Do(func() { close(s.closed) })
	<-s.watched
	end, _ := ports.EvidenceDeadline(s.ctx)
	timer := time.NewTimer(time.Until(end))
	defer timer.Stop()
	select {
	case <-s.ended:
		s.observe()
	case <-timer.C:
	}
	return err
}
