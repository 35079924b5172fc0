// Package journal stores the journal of erasures in a file. The journal lists the erased subjects. After a restore from
// a backup, a replay of the journal erases them again. Put the file on another machine than the database, or on a
// volume that survives the loss of the database.
//
//	file, err := journal.NewFile("/mnt/journal/erasures.jsonl", journal.Options{})
//	gdpr, err := app.New(app.Config{DB: db, Models: models, Journal: file})
//
// The file has the ids of subjects, so protect it like the database. Only its owner can read it: a file that
// others can read, and a link, are refused. To rotate the file,
// rename it. A running Append may still write to the renamed file, and later calls create a new file. A replay may read
// the rotated files in any order. See [File] and, in package app, Operator.Replay.
package journal

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/system"
	"github.com/habeas-data/habeas/ports"
)

// Options has the settings of a File. The zero value is ready for use.
type Options struct {
	// Name is the name of the journal. See ports.Journal. The default consists of the host name and the path. The database
	// stores for each name which erasures the journal already has. By default, each host therefore writes a complete
	// journal. Processes of several hosts that share a file on a network volume need the same Name.
	Name string
	// GroupAccess allows a file to which a group has access, as a volume of Kubernetes with fsGroup makes it. The default
	// is false: only the owner may have access.
	GroupAccess bool
}

// File is a journal in a file. It is safe for concurrent use. Several processes of one host can append to one file.
// Append holds an exclusive lock of the file (flock) while it writes. On a system or a file system without such locks,
// only one process may append to the file.
type File struct {
	path, name string
	group      bool // see Options.GroupAccess
	mu         sync.Mutex
}

var _ ports.Journal = (*File)(nil)

// NewFile returns a journal in the file with the given path. The first Append creates the file. The directory must
// exist. NewFile returns domain.ErrConfiguration if the path is empty, or if Options.Name is empty and the host name
// cannot be read.
func NewFile(path string, opts Options) (*File, error) {
	if path == "" {
		return nil, domain.Misconfigured("journal", "the path of the file is empty: set a path")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, domain.Misconfigured("journal", "the path of the file cannot be made absolute: set an absolute path")
	}
	if opts.Name == "" {
		host, err := os.Hostname()
		if err != nil {
			return nil, domain.Misconfigured("journal", "the host name cannot be read: set Options.Name")
		}
		opts.Name = "file " + host + ":" + path
	}
	return &File{path: path, name: opts.Name, group: opts.GroupAccess}, nil
}

// Name implements ports.Journal.
func (f *File) Name() string { return f.name }

// Append implements ports.Journal. It holds the lock of the file while it writes. Without the lock, the lines of
// concurrent processes could mix. A line that another process is still writing would also look like a line that a crash
// has truncated.
func (f *File) Append(ctx context.Context, lines []byte) error {
	if err := ctx.Err(); err != nil {
		return ended(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	_, missing := os.Stat(f.path)
	file, err := f.open(os.O_RDWR | os.O_APPEND | os.O_CREATE)
	if err != nil {
		return failed("open the file", err)
	}
	err = appendTo(ctx, file, lines)
	if closed := file.Close(); err == nil && closed != nil {
		err = failed("close the file", closed)
	}
	if err == nil && missing != nil {
		err = syncDirectory(filepath.Dir(f.path))
	}
	return err
}

func (f *File) open(flag int) (*os.File, error) {
	others := fs.FileMode(0o077)
	if f.group {
		others = 0o007
	}
	return system.OpenPrivate(f.path, flag, others)
}

// appendTo locks the file, appends the lines and flushes the file to the disk. If the last line of the file is cut off,
// it first ends that line and appends a line that reports the cut (domain.AppendTruncated).
func appendTo(ctx context.Context, file *os.File, lines []byte) error {
	if err := lock(ctx, file); err != nil {
		if cause := ctx.Err(); cause != nil {
			return ended(cause)
		}
		return failed("lock the file", err)
	}
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
		lines = append(domain.AppendTruncated([]byte{'\n'}), lines...)
	}
	if _, err := file.Write(lines); err != nil {
		return failed("write the lines", err)
	}
	if err := file.Sync(); err != nil {
		return failed("make the lines durable", err)
	}
	return nil
}

// syncDirectory flushes the directory entry of a new file to the disk.
func syncDirectory(path string) error {
	directory, err := os.Open(path) //nolint:gosec // the operator chooses the directory
	if err != nil {
		return failed("open the directory", err)
	}
	err = directory.Sync()
	_ = directory.Close()
	if err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrPermission) { // on Windows
		return failed("make the file durable", err)
	}
	return nil
}

// Open implements ports.Journal.
func (f *File) Open(context.Context) (io.ReadCloser, error) {
	file, err := f.open(os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return io.NopCloser(strings.NewReader("")), nil
	}
	if err != nil {
		return nil, failed("open the file", err)
	}
	return file, nil
}

func ended(cause error) error {
	return &domain.Error{Op: "journal", Message: "ended by its context", Err: cause}
}

// failed returns the error of a failed system call. The error does not contain the path, because a path may be
// confidential.
func failed(doing string, err error) error {
	if errors.Is(err, system.ErrNotPrivate) {
		return domain.Misconfigured("journal",
			"the file is a link, or others have access to it: use a regular file with the mode 0600")
	}
	message := "cannot " + doing
	var number syscall.Errno
	if errors.As(err, &number) {
		message += ": " + number.Error()
	}
	return &domain.Error{Code: domain.ErrUnavailable, Op: "journal", Message: message, Err: err}
}
