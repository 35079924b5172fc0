// Package journal keeps the journal of erasures in a bucket of an object store. It is a sink that several servers can
// share, and that survives all of them.
//
//	bucket, err := blob.OpenBucket(ctx, "s3://erasures")
//	sink, err := journal.New(bucket, journal.Options{Prefix: "shop/"})
//	gdpr, err := app.New(app.Config{DB: db, Models: models, Journal: sink})
//
// Each call of Append makes an object, whose key begins with the prefix and the instant. No object is ever changed or
// removed: a bucket with an object lock will do. The objects name subjects: protect the bucket as you protect the
// database. Operators remove objects that are older than their oldest backup.
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

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// Options change what a Bucket does by default. The zero value is ready for use.
type Options struct {
	// Name is the name of the journal; see ports.Journal. The default is "bucket" and the prefix. Another bucket needs
	// another name, or else nothing that is in the first one is written to the second one.
	Name string
	// Prefix is what all keys begin with. Nothing else may be under it. The default is "erasures/".
	Prefix string
	// Clock is the source of the instants in keys. The default is the machine's clock.
	Clock ports.Clock
}

// Bucket is a journal in a bucket. It is safe for concurrent use.
type Bucket struct {
	bucket  *blob.Bucket
	options Options
	mu      sync.Mutex
	last    time.Time // in a key
}

var _ ports.Journal = (*Bucket)(nil)

type machineClock struct{}

func (machineClock) Now() time.Time { return time.Now() }

// New returns a journal in a bucket, which the caller closes after the journal is used no more. Returns
// domain.ErrConfiguration if the bucket is nil.
func New(bucket *blob.Bucket, opts Options) (*Bucket, error) {
	if bucket == nil {
		return nil, domain.Misconfigured("journal", "the bucket is nil")
	}
	opts.Prefix = cmp.Or(opts.Prefix, "erasures/")
	opts.Name = cmp.Or(opts.Name, "bucket "+opts.Prefix)
	opts.Clock = cmp.Or(opts.Clock, ports.Clock(machineClock{}))
	return &Bucket{bucket: bucket, options: opts}, nil
}

// Name implements ports.Journal.
func (b *Bucket) Name() string { return b.options.Name }

// keyFormat has a fixed width, so that keys sort by their instants.
const keyFormat = "2006-01-02T15-04-05.000000Z"

// Append implements ports.Journal. Calls of different hosts are in the order of their clocks.
func (b *Bucket) Append(ctx context.Context, lines []byte) error {
	if err := ctx.Err(); err != nil {
		return &domain.Error{Op: "journal", Message: "ended by its context", Err: err}
	}
	key := b.options.Prefix + b.next().Format(keyFormat) + "-" + strings.ToLower(rand.Text()[:8]) + ".jsonl"
	options := &blob.WriterOptions{ContentType: "application/jsonl", DisableContentTypeDetection: true}
	return failed(ctx, "write the lines", b.bucket.WriteAll(ctx, key, lines, options))
}

// next is an instant after that of the last key of this process.
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

// Open implements ports.Journal. It holds a part of one object in memory at a time.
func (b *Bucket) Open(ctx context.Context) (io.ReadCloser, error) {
	return &reader{ctx: ctx, bucket: b.bucket, keys: b.bucket.List(&blob.ListOptions{Prefix: b.options.Prefix})}, nil
}

// reader reads one object after the other.
type reader struct {
	ctx    context.Context //nolint:containedctx // of the call of Open, as it says
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

// open opens the next object. The error is io.EOF behind the last one.
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

// failed is the error for a request that failed, or nil. The store's own words are dropped: they quote keys.
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
