// Package journal stores the journal of erasures in a bucket of an object store. The journal lists the erased subjects.
// If the database is restored from a backup, the application reads the journal and erases these subjects again. Several
// servers can write to one journal. The journal survives the loss of all servers.
//
//	bucket, err := blob.OpenBucket(ctx, "s3://erasures")
//	sink, err := journal.New(bucket, journal.Options{Prefix: "shop/"})
//	gdpr, err := app.New(app.Config{DB: db, Models: models, Journal: sink})
//
// Each call of [Bucket.Append] creates an object, whose key begins with the prefix and the time. The journal never
// changes or removes an object, so the bucket may have an object lock. The objects contain the ids of subjects, so
// protect the bucket like the database. Operators may remove objects that are older than the oldest backup. See
// [Options] for the settings.
package journal

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Options holds the settings of a Bucket. The zero value is ready for use.
type Options struct {
	// Name is the name of the journal; see ports.Journal. The default is "bucket", a space and the prefix. If you switch
	// to another bucket, set another Name. Otherwise, earlier erasures are not written to the new bucket, because the
	// application takes both buckets for the same journal.
	Name string
	// Prefix is the prefix of all keys of the journal. No other object in the bucket may have this prefix. The default is
	// "erasures/".
	Prefix string
	// Clock is the clock for the times in the keys. The default is the clock of the machine.
	Clock ports.Clock
}

// Bucket is a journal in a bucket of an object store. It is safe for concurrent use.
type Bucket struct {
	bucket  *blob.Bucket
	options Options
	mu      sync.Mutex
	last    time.Time // the time in the last key
}

var _ ports.Journal = (*Bucket)(nil)

type machineClock struct{}

func (machineClock) Now() time.Time { return time.Now() }

// New returns a journal in a bucket. The caller must close the bucket after the last use of the journal. New returns
// domain.ErrConfiguration if the bucket is nil.
func New(bucket *blob.Bucket, opts Options) (*Bucket, error) {
	if bucket == nil {
		return nil, domain.Misconfigured("journal", "the bucket is nil: pass a bucket")
	}
	opts.Prefix = cmp.Or(opts.Prefix, "erasures/")
	opts.Name = cmp.Or(opts.Name, "bucket "+opts.Prefix)
	opts.Clock = cmp.Or(opts.Clock, ports.Clock(machineClock{}))
	return &Bucket{bucket: bucket, options: opts}, nil
}

// Name implements ports.Journal.
func (b *Bucket) Name() string { return b.options.Name }

// keyFormat is the format of the time in a key. It has a fixed width, so that the keys sort by time.
const keyFormat = "2006-01-02T15-04-05.000000Z"

// Append implements ports.Journal. If several servers write to one journal, their clocks determine the order of the
// lines.
func (b *Bucket) Append(ctx context.Context, lines []byte) error {
	if err := ctx.Err(); err != nil {
		return &domain.Error{Op: "journal", Message: "ended by its context", Err: err}
	}
	key := b.options.Prefix + b.next().Format(keyFormat) + "-" + strings.ToLower(rand.Text()[:8]) + ".jsonl"
	options := &blob.WriterOptions{ContentType: "application/jsonl", DisableContentTypeDetection: true}
	return failed(ctx, "write the lines", b.bucket.WriteAll(ctx, key, lines, options))
}

// next returns the time for the next key. It is the current time, or a later time if the clock has not advanced since
// the last key of this process.
func (b *Bucket) next() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.options.Clock.Now().UTC().Truncate(time.Microsecond)
	if !now.After(b.last) {
		now = b.last.Add(time.Microsecond)
	}
	b.last = now
	return now
}

// Open implements ports.Journal. The returned reader opens one object after the other, and reads each object in parts.
func (b *Bucket) Open(ctx context.Context) (io.ReadCloser, error) {
	return &reader{ctx: ctx, bucket: b.bucket, keys: b.bucket.List(&blob.ListOptions{Prefix: b.options.Prefix})}, nil
}

// reader reads one object after the other.
type reader struct {
	ctx    context.Context //nolint:containedctx // the context of Open
	bucket *blob.Bucket
	keys   *blob.ListIterator
	object *blob.Reader
}

func (r *reader) Read(into []byte) (int, error) {
	for {
		if err := r.ctx.Err(); err != nil {
			return 0, failed(r.ctx, "read the lines", err)
		}
		if r.object == nil {
			if err := r.open(); err != nil {
				return 0, err
			}
		}
		n, err := r.object.Read(into)
		if errors.Is(err, io.EOF) {
			err = r.Close()
		}
		if n > 0 || err != nil {
			return n, failed(r.ctx, "read the lines", err)
		}
	}
}

// open opens the next object. It returns io.EOF after the last object.
func (r *reader) open() error {
	object, err := r.keys.Next(r.ctx)
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	if err == nil {
		r.object, err = r.bucket.NewReader(r.ctx, object.Key, nil)
	}
	return failed(r.ctx, "open the lines", err)
}

// Close implements io.Closer.
func (r *reader) Close() error {
	object := r.object
	if object == nil {
		return nil
	}
	r.object = nil
	return object.Close()
}

// failed returns the error of an operation of the journal, or nil if err is nil. The message of the error names the
// operation, but does not contain the text of err, which may contain keys.
func failed(ctx context.Context, doing string, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return &domain.Error{Op: "journal", Message: "ended by its context", Err: ctx.Err()}
	default:
		return &domain.Error{
			Code: domain.ErrUnavailable, Op: "journal", Err: err,
			Message: "cannot " + doing + ": " + gcerrors.Code(err).String(),
		}
	}
}
