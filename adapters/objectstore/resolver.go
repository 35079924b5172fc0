package objectstore

import (
	"context"
	"os"
	"strings"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

var _ ports.KeyResolver = (*Resolver)(nil)

// Resolver exports and erases the files of subjects in one bucket. It does not support rectification. It is safe for
// concurrent use.
type Resolver struct {
	bucket      *blob.Bucket
	options     Options
	isDirectory bool
}

// New returns a resolver for a bucket. It sends no request. The caller must close the bucket after the last use of the
// resolver. New returns domain.ErrConfiguration if the bucket is nil or an option is not valid.
func New(bucket *blob.Bucket, options Options) (*Resolver, error) {
	options = options.withDefaults()
	switch {
	case bucket == nil:
		return nil, domain.Misconfigured("objectstore", "the bucket is nil: pass a bucket")
	case !options.Category.Valid():
		return nil, domain.Misconfigured("objectstore", "Category is unknown: use a category of package domain")
	case strings.Contains(options.Name, ",") || len(options.Name) > 255:
		return nil, domain.Misconfigured("objectstore", "Name must have 1 to 255 bytes and no comma")
	case options.MaxTotal < 0 || options.MaxObjects < 0:
		return nil, domain.Misconfigured("objectstore", "MaxTotal and MaxObjects must not be negative")
	}
	return &Resolver{bucket, options, isDirectory(bucket)}, nil
}

// isDirectory reports whether the bucket is a directory that exists. A directory can be missing, for example because
// its volume is not mounted. Without this check, a missing directory would look like an empty bucket, and all its
// objects would count as erased.
func isDirectory(bucket *blob.Bucket) bool {
	var directory os.FileInfo
	return bucket.As(&directory)
}

// Name returns Options.Name.
func (r *Resolver) Name() string { return r.options.Name }

// An export has these fields for each object.
const (
	fieldName    = "object.name"
	fieldSize    = "object.size"
	fieldContent = "object.content"
	fieldNote    = "object.note"
)

// CoveredSurface implements ports.Resolver.
func (r *Resolver) CoveredSurface() domain.CoveredSurface {
	surface := domain.CoveredSurface{
		Exclusions: []string{
			"the metadata and the tags of objects; they are erased with the objects",
			"earlier versions of objects; they are erased on S3",
		},
		Notes: []string{
			"Contents above the limits of the export are left out. object.note then has the reason.",
			"On Google Cloud Storage and Azure, the lifecycle rules of the bucket erase earlier versions.",
		},
	}
	for _, field := range []string{fieldName, fieldSize, fieldContent, fieldNote} {
		surface.Fields = append(surface.Fields, domain.CoveredField{Field: field, Category: r.options.Category})
	}
	return surface
}

// ExportSubject implements ports.Resolver. It exports the name, size and content of the object ref.Value, or of all
// objects below the prefix ref.Value.
func (r *Resolver) ExportSubject(ctx context.Context, ref domain.SubjectRef) ([]domain.ExportRecord, error) {
	places, err := r.places(ctx, []string{ref.Value}, placeOfRef)
	if err != nil {
		return nil, err
	}
	return r.export(ctx, places)
}

// EraseSubject implements ports.Resolver. It ignores the id of the outbox entry, because deletions are idempotent. It
// also ignores the instant of the erasure: it deletes all objects, also those that were written later (see the package
// comment). If a call times out, the next call deletes the remaining objects.
func (r *Resolver) EraseSubject(
	ctx context.Context, ref domain.SubjectRef, _ domain.ErasureCall,
) (alreadyAbsent bool, err error) {
	places, err := r.places(ctx, []string{ref.Value}, placeOfRef)
	if err != nil {
		return false, err
	}
	absent, err := r.erase(ctx, places)
	return absent == 1, err
}

// places returns the place of each key or ref: one object, or all objects below a prefix. The parameter placeOf is
// placeOfKey for keys, and placeOfRef for refs. places returns an error if a key or ref is not valid. It sends no
// request to the store.
func (r *Resolver) places(ctx context.Context, texts []string, placeOf func(string) (place, bool)) ([]place, error) {
	switch {
	case ctx.Err() != nil:
		return nil, r.ended(ctx.Err())
	case r.isDirectory && !isDirectory(r.bucket):
		return nil, r.later("the directory does not exist")
	case len(texts) > MaxKeys:
		return nil, r.refused("one call has more than the maximum number of keys")
	}
	places := make([]place, len(texts))
	for i, text := range texts {
		var isValid bool
		if places[i], isValid = placeOf(text); !isValid {
			return nil, r.refused("a key or a ref is not valid")
		}
	}
	return places, nil
}

// object is an object of a listing.
type object struct {
	key  string
	size int64
}

// directoryListings is the maximum number of times that a listing of a directory is repeated. A listing fails if a
// concurrent call deletes a file at the same time.
const directoryListings = 10

// pageSize is the number of objects in one page of a listing.
const pageSize = 1000

// list lists the objects of a place (one object, or all objects below a prefix), in the order of their keys. It calls
// visit for each page of the listing.
func (r *Resolver) list(ctx context.Context, p place, visit func([]object) error) error {
	for token := blob.FirstPageToken; len(token) > 0; {
		page, next, err := r.page(ctx, p, token)
		if err == nil {
			err = visit(page)
		}
		if err != nil {
			return err
		}
		token = next
	}
	return nil
}

// page returns one page of the objects of a place, and the token of the next page.
//
// It uses a listing even if the place is a single object. A request for this object would not be sufficient, because
// its response does not distinguish a missing object from a missing bucket.
func (r *Resolver) page(ctx context.Context, p place, token []byte) (page []object, next []byte, err error) {
	size := pageSize
	if !p.isPrefix {
		size = 1 // the key sorts before all longer keys with this prefix
	}
	found, next, err := r.bucket.ListPage(ctx, token, size, &blob.ListOptions{Prefix: p.name})
	for range directoryListings {
		if !r.isDirectory || gcerrors.Code(err) != gcerrors.NotFound {
			break
		}
		found, next, err = r.bucket.ListPage(ctx, token, size, &blob.ListOptions{Prefix: p.name})
	}
	if err != nil {
		return nil, nil, r.failed(ctx, "a listing", err)
	}
	for _, o := range found {
		if p.isPrefix || o.Key == p.name {
			page = append(page, object{o.Key, o.Size})
		}
	}
	if !p.isPrefix {
		next = nil
	}
	return page, next, nil
}
