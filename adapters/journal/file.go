// Package journal keeps the journal of erasures in a file. The file belongs on another machine than the database, or on
// a volume that survives it: its lines are what a restored backup does not know.
//
//	file, err := journal.NewFile("/mnt/journal/erasures.jsonl", journal.Options{})
//	gdpr, err := app.New(app.Config{DB: db, Models: models, Journal: file})
//
// Rotation is up to the operator. A file that was renamed is never written again after the call of Append that is under
// way. A replay takes the rotated files one after the other, in any order. The file names subjects: protect it as you
// protect the database. It is made readable for its owner only.
package journal

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Options change what a File does by default. The zero value is ready for use.
type Options struct {
	// Name is the name of the journal; see ports.Journal. The default is the name of the host and the path, so that each
	// host has a complete journal of its own. Processes that share a file, by a network volume, share a name.
	Name string
}

// File is a journal in a file. It is safe for concurrent use. Several processes of one host can append to one file.
type File struct {
	path, name string
	mu         sync.Mutex
}

var _ ports.Journal = (*File)(nil)

// NewFile returns a journal in the file of a path. The file is made when it is first needed, its directory must be
// there. Returns domain.ErrConfiguration if the path is empty or the host has no name.
func NewFile(path string, opts Options) (*File, error) {
	if path == "" {
		return nil, domain.Misconfigured("journal", "the path of the file is empty")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, domain.Misconfigured("journal", "the path of the file cannot be made absolute")
	}
	if opts.Name == "" {
		host, err := os.Hostname()
		if err != nil {
			return nil, domain.Misconfigured("journal", "the host has no name: set Options.Name")
		}
		opts.Name = "file " + host + ":" + path
	}
	return &File{path: path, name: opts.Name}, nil
}

// Name implements ports.Journal.
func (f *File) Name() string { return f.name }

// Append implements ports.Journal. The lines are one write, which other processes' writes come before or after.
func (f *File) Append(ctx context.Context, lines []byte) error {
	if err := ctx.Err(); err != nil {
		return &domain.Error{Op: "journal", Message: "ended by its context", Err: err}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	_, missing := os.Stat(f.path)
	file, err := os.OpenFile(f.path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return failed("open the file", err)
	}
	err = appendTo(file, lines)
	if closed := file.Close(); err == nil && closed != nil {
		err = failed("close the file", closed)
	}
	if err == nil && missing != nil {
		err = syncDirectory(filepath.Dir(f.path))
	}
	return err
}

// appendTo appends lines, and makes them durable. It ends a line that was cut off before.
func appendTo(file *os.File, lines []byte) error {
	info, err := file.Stat()
	if err != nil {
		return failed("read the file", err)
	}
	last := []byte{'\n'}
	if info.Size() > 0 {
		if _, err := file.ReadAt(last, info.Size()-1); err != nil {
			return failed("read the file", err)
		}
	}
	if last[0] != '\n' {
		lines = append(domain.AppendCut([]byte{'\n'}), lines...)
	}
	if _, err := file.Write(lines); err != nil {
		return failed("write the lines", err)
	}
	if err := file.Sync(); err != nil {
		return failed("make the lines durable", err)
	}
	return nil
}

// syncDirectory makes a new file durable.
func syncDirectory(path string) error {
	directory, err := os.Open(path) //nolint:gosec // the operator has chosen it
	if err != nil {
		return failed("open the directory", err)
	}
	err = directory.Sync()
	_ = directory.Close()
	if err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrPermission) { // as on Windows
		return failed("make the file durable", err)
	}
	return nil
}

// Open implements ports.Journal.
func (f *File) Open(context.Context) (io.ReadCloser, error) {
	file, err := os.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return io.NopCloser(emptyReader{}), nil
	}
	if err != nil {
		return nil, failed("open the file", err)
	}
	return file, nil
}

type emptyReader struct{}

func (emptyReader) Read([]byte) (int, error) { return 0, io.EOF }

// failed is the error for a call that the operating system refused. The path is left out of it.
func failed(doing string, err error) error {
	message := "cannot " + doing
	var number syscall.Errno
	if errors.As(err, &number) {
		message += ": " + number.Error()
	}
	return &domain.Error{Code: domain.ErrUnavailable, Op: "journal", Message: message, Err: err}
}
