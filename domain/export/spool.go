package export

import (
	"bytes"
	"io"
	"sync"

	"github.com/habeas-data/habeas/domain"
)

// maxUnread is the maximum size in bytes of the unread part of a document that a Spool holds in memory, if it has a
// file.
const maxUnread = 256 << 10

// File is the temporary file of a Spool. *os.File implements it.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Truncate(size int64) error
}

// Spool stands between an export and its reader, so that a slow reader does not hold the session of the export. It
// holds the part that was written and not read yet: up to 256 KiB in memory, and the rest in a temporary file. Without
// a file, it holds all of it in memory. Write, Read and Close are safe for concurrent use, with one writer and one
// reader.
type Spool struct {
	create func() (File, error) // may be nil

	mu            sync.Mutex
	changed       sync.Cond
	memory        bytes.Buffer // precedes the part in the file
	file          File         // nil until Open
	read, written int64        // offsets in the file
	length        int64
	complete      bool // End was called
	closed        bool
}

// NewSpool returns a spool with the temporary files of the exporter, see Config.TempFile.
func (e *Exporter) NewSpool() *Spool {
	s := &Spool{create: e.tempFile}
	s.changed.L = &s.mu
	return s
}

// Open creates the file. Call it before the first Write. It returns domain.ErrConfiguration if that is not possible.
func (s *Spool) Open() error {
	if s.create == nil {
		return nil
	}
	file, err := s.create()
	if err != nil {
		return spoolError(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.file = file
	if s.closed {
		s.release()
	}
	return nil
}

// spoolError returns the error for a failure of the file. The message names the setting to correct.
func spoolError(err error) error {
	return &domain.Error{
		Code: domain.ErrConfiguration, Op: "export", Err: err,
		Message: "the temporary file of a large export failed: set TempDir to a directory with free space",
	}
}

// Write implements io.Writer. It does not wait for the reader. It returns io.ErrClosedPipe after Close.
func (s *Spool) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, io.ErrClosedPipe
	}
	if s.file == nil || s.written == 0 && s.memory.Len()+len(p) <= maxUnread {
		s.memory.Write(p)
	} else if _, err := s.file.WriteAt(p, s.written); err != nil {
		s.release()
		return 0, spoolError(err)
	} else {
		s.written += int64(len(p))
	}
	s.length += int64(len(p))
	s.changed.Signal()
	return len(p), nil
}

// End marks the document as complete. The reader gets io.EOF after the rest of it.
func (s *Spool) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.complete = true
	s.changed.Signal()
}

// Length returns the number of bytes that were written.
func (s *Spool) Length() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.length
}

// Read implements io.Reader. It waits for the next part of the document. If the spool was closed before the end of the
// document was read, it returns io.ErrUnexpectedEOF. The error has no details, because servers log it.
func (s *Spool) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(p) > 0 {
		switch {
		case s.closed:
			return 0, io.ErrUnexpectedEOF
		case s.memory.Len() > 0:
			return s.memory.Read(p)
		case s.read < s.written:
			return s.readFile(p)
		case s.complete:
			return 0, io.EOF
		}
		s.changed.Wait()
	}
	return 0, nil
}

// readFile reads from the file. When it has read all of the file, it empties the file, so that the file of a fast
// reader stays small.
func (s *Spool) readFile(p []byte) (int, error) {
	n, _ := s.file.ReadAt(p[:min(int64(len(p)), s.written-s.read)], s.read)
	if n == 0 {
		s.release()
		return 0, io.ErrUnexpectedEOF
	}
	if s.read += int64(n); s.read == s.written {
		s.read, s.written = 0, 0
		_ = s.file.Truncate(0) // otherwise the next part overwrites the old one
	}
	return n, nil
}

// Close discards the rest of the document and removes the file. Each side may call it, any number of times.
func (s *Spool) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release()
	return nil
}

func (s *Spool) release() {
	s.closed = true
	s.memory = bytes.Buffer{}
	if s.file != nil {
		_ = s.file.Close()
		s.file = nil
	}
	s.changed.Broadcast()
}
