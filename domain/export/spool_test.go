package export_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/golang/mock/gomock"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/export"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

// file is a temporary file in memory.
type file struct {
	content           []byte
	largest           int
	failing, vanished bool
	closed            atomic.Int32
}

func (f *file) WriteAt(p []byte, offset int64) (int, error) {
	if f.failing {
		return 0, errors.New("no space left on /tmp/zoe@example.org")
	}
	f.content = append(f.content[:offset], p...)
	f.largest = max(f.largest, len(f.content))
	return len(p), nil
}

func (f *file) ReadAt(p []byte, offset int64) (int, error) {
	if f.vanished {
		return 0, io.EOF
	}
	return copy(p, f.content[offset:]), nil
}

func (f *file) Truncate(size int64) error {
	f.content = f.content[:size]
	return nil
}

func (f *file) Close() error {
	f.closed.Add(1)
	return nil
}

var require = fixture.Must

// spoolTo returns an opened spool with the given file.
func spoolTo(t *testing.T, f *file) *export.Spool {
	t.Helper()
	spool := exporterWith(t, func() (export.File, error) { return f, nil }).NewSpool()
	if err := spool.Open(); err != nil {
		t.Fatal(err)
	}
	return spool
}

func exporterWith(t *testing.T, create func() (export.File, error)) *export.Exporter {
	t.Helper()
	exporter, err := export.NewExporter(export.Config{
		Clock: fixture.NewClock(noon), IDs: &fixture.IDs{}, DataMap: fixture.MustMap(t, fixture.Users()), TempFile: create,
	})
	if err != nil {
		t.Fatal(err)
	}
	return exporter
}

func TestASpoolReturnsWhatWasWrittenInAnyOrderOfCalls(t *testing.T) {
	for seed := range uint64(5) {
		random := rand.New(rand.NewPCG(seed, 0))
		spool := spoolTo(t, &file{})
		var wrote, got bytes.Buffer
		for range 200 {
			if random.IntN(2) == 0 {
				part := bytes.Repeat([]byte{byte(random.IntN(256))}, random.IntN(100<<10))
				wrote.Write(part)
				if n, err := spool.Write(part); n != len(part) || err != nil {
					t.Fatalf("wrote %d, %v", n, err)
				}
				continue
			}
			part := make([]byte, min(random.IntN(200<<10), wrote.Len()-got.Len()))
			n, err := spool.Read(part)
			if err != nil {
				t.Fatal(err)
			}
			got.Write(part[:n])
		}
		spool.End()
		rest, err := io.ReadAll(spool)
		if got.Write(rest); err != nil || !bytes.Equal(got.Bytes(), wrote.Bytes()) || spool.Length() != int64(wrote.Len()) {
			t.Fatalf("seed %d: %d of %d bytes, %v", seed, got.Len(), wrote.Len(), err)
		}
	}
}

func TestTheUnreadPartWaitsInTheFile(t *testing.T) {
	f := &file{}
	spool := spoolTo(t, f)
	part := make([]byte, 64<<10)
	for range 100 {
		_, err := spool.Write(part)
		require(t, err)
	}
	if inMemory := 100*len(part) - len(f.content); inMemory > 256<<10 {
		t.Errorf("%d bytes are in memory", inMemory)
	}
	require(t, spool.Close())
	require(t, spool.Close())
	if n := f.closed.Load(); n != 1 {
		t.Errorf("the file was closed %d times", n)
	}
}

func TestTheFileOfAFastReaderStaysSmall(t *testing.T) {
	f := &file{}
	spool := spoolTo(t, f)
	part := make([]byte, 300<<10) // more than a spool holds in memory
	for range 100 {
		_, err := spool.Write(part)
		require(t, err)
		_, err = io.ReadFull(spool, part)
		require(t, err)
	}
	if f.largest > len(part) || len(f.content) > 0 {
		t.Errorf("the file grew to %d bytes and ends with %d", f.largest, len(f.content))
	}
}

func TestAFileThatFailsNamesTheSetting(t *testing.T) {
	fails := func(err error) {
		t.Helper()
		if !errors.Is(err, domain.ErrConfiguration) || !strings.Contains(err.Error(), "set TempDir") {
			t.Errorf("got %v", err)
		}
	}
	noFile := func() (export.File, error) { return nil, errBoom }
	fails(exporterWith(t, noFile).NewSpool().Open())

	full := &file{failing: true}
	spool := spoolTo(t, full)
	_, err := spool.Write(make([]byte, 1<<20))
	fails(err)
	if _, err := spool.Read(make([]byte, 1)); !errors.Is(err, io.ErrUnexpectedEOF) || full.closed.Load() != 1 {
		t.Errorf("after the failure: %v, closed %d times", err, full.closed.Load())
	}

	spool = spoolTo(t, &file{vanished: true})
	_, err = spool.Write(make([]byte, 1<<20))
	require(t, err)
	spool.End()
	if rest, err := io.ReadAll(spool); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a file that cannot be read gives %d bytes, %v", len(rest), err)
	}
}

func TestCloseEndsBothSides(t *testing.T) {
	spool := spoolTo(t, &file{})
	read := make(chan error)
	go func() {
		_, err := spool.Read(make([]byte, 1))
		read <- err
	}()
	require(t, spool.Close())
	if err := <-read; !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the reader got %v", err)
	}
	if _, err := spool.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("the writer got %v", err)
	}
}

// oneSession runs each function once with the session, and counts the sessions that have ended.
type oneSession struct {
	ports.SessionFactory
	session ports.Session
	ended   chan struct{}
}

func (o oneSession) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	defer close(o.ended)
	return fn(ctx, o.session)
}

// writeLarge writes an export of 4 MiB to w.
func writeLarge(t *testing.T, ended chan struct{}, w io.Writer) error {
	t.Helper()
	world := newWorld(t, 0)
	world.Audit.EXPECT().AppendEvidence(gomock.Any(), gomock.Any()).AnyTimes()
	world.Audit.EXPECT().Append(gomock.Any(), gomock.Any()).AnyTimes()
	row := domain.ExportRecord{Source: "users", Field: "email", Value: strings.Repeat("x", 1<<20)}
	world.Subjects.EXPECT().Export(gomock.Any(), gomock.Any(), gomock.Any()).DoAndReturn(yields(row, row, row, row))
	_, err := world.Write(t.Context(), oneSession{session: world.Session, ended: ended}, world.Subject, w)
	return err
}

// writer calls the function with each part.
type writer func(p []byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

func TestASlowWriterDoesNotHoldTheSession(t *testing.T) {
	ended, written := make(chan struct{}), 0
	err := writeLarge(t, ended, writer(func(p []byte) (int, error) {
		<-ended // would block for ever if the session waited for the writer
		written += len(p)
		return len(p), nil
	}))
	if err != nil || written < 4<<20 {
		t.Errorf("%d bytes, %v", written, err)
	}
}

func TestAWriterThatFailsEndsTheExport(t *testing.T) {
	for _, c := range []struct{ fails, want error }{{errBoom, errBoom}, {io.ErrClosedPipe, context.Canceled}} {
		ended := make(chan struct{})
		err := writeLarge(t, ended, writer(func([]byte) (int, error) { return 0, c.fails }))
		if <-ended; !errors.Is(err, c.want) {
			t.Errorf("got %v", err)
		}
	}
	short := writer(func(p []byte) (int, error) { return len(p) - 1, nil })
	if err := writeLarge(t, make(chan struct{}), short); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("a short write: %v", err)
	}
}
