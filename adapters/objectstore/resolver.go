package objectstore

import (
	"context"
	"os"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

var _ ports.KeyResolver = (*Resolver)(nil)

// Resolver answers for the files in one bucket. It is safe for concurrent use. It does not rectify.
type Resolver struct {
	bucket      *blob.Bucket
	options     Options
	isDirectory bool
}

// New returns the resolver for a bucket, which the application closes when the resolver is not used any more. It asks
// a store nothing. Returns domain.ErrConfiguration if the bucket is nil or an option is not valid.
func New(bucket *blob.Bucket, options Options) (*Resolver, error) {
	options = options.withDefaults()
	switch {
	case bucket == nil:
		return nil, domain.Misconfigured("objectstore", "a bucket is required")
	case !options.Category.Valid():
		return nil, domain.Misconfigured("objectstore", "Category is none of those that there are")
	case strings.Contains(options.Name, ",") || len(options.Name) > 255:
		return nil, domain.Misconfigured("objectstore", "Name must be 1 to 255 characters without a comma")
	case options.MaxTotal < 0 || options.MaxObjects < 0:
		return nil, domain.Misconfigured("objectstore", "MaxTotal and MaxObjects must not be negative")
	}
	return &Resolver{bucket, options, isDirectory(bucket)}, nil
}

// isDirectory reports whether the bucket is a directory, which exists. A bucket in a directory that is gone, as that of
// a volume which is not mounted, is otherwise like an empty one: everything in it would pass for erased.
func isDirectory(bucket *blob.Bucket) bool {
	var directory os.FileInfo
	return bucket.As(&directory)
}

// Name returns Options.Name.
func (r *Resolver) Name() string { return r.options.Name }

// The fields of an object in an export.
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
			"the metadata and the tags of objects, which are erased with them",
			"earlier versions of objects, which are erased on S3",
		},
		Notes: []string{
			"Contents above the bounds of the export are left out, and object.note says so.",
			"On Google Cloud Storage and Azure, versions that the store keeps behind the current one are erased by the " +
				"store's own rules.",
		},
	}
	for _, field := range []string{fieldName, fieldSize, fieldContent, fieldNote} {
		surface.Fields = append(surface.Fields, domain.CoveredField{Field: field, Category: r.options.Category})
	}
	return surface
}

// ExportSubject implements ports.Resolver: name, size and content of the object, or of all objects below the prefix,
// that ref.Value names.
func (r *Resolver) ExportSubject(ctx context.Context, ref domain.SubjectRef) ([]domain.ExportRecord, error) {
	places, err := r.places(ctx, []string{ref.Value}, placeOfRef)
	if err != nil {
		return nil, err
	}
	return r.export(ctx, places)
}

// EraseSubject implements ports.Resolver. Erasing is idempotent by itself: the store does not get the entry's id. Where
// the time of the call does not suffice, the next attempt goes on where this one ended.
func (r *Resolver) EraseSubject(
	ctx context.Context, ref domain.SubjectRef, _ string,
) (alreadyAbsent bool, err error) {
	places, err := r.places(ctx, []string{ref.Value}, placeOfRef)
	if err != nil {
		return false, err
	}
	absent, err := r.erase(ctx, places)
	return absent == 1, err
}

// places returns the places that texts name. It sends the store no request. It refuses all of them if one is not valid.
func (r *Resolver) places(ctx context.Context, texts []string, of func(string) (place, bool)) ([]place, error) {
	switch {
	case ctx.Err() != nil:
		return nil, r.ended(ctx.Err())
	case r.isDirectory && !isDirectory(r.bucket):
		return nil, r.later("the directory is not there")
	case len(texts) > MaxKeys:
		return nil, r.refused("there are more keys than can be handled at once")
	}
	places := make([]place, len(texts))
	for i, text := range texts {
		var isValid bool
		if places[i], isValid = of(text); !isValid {
			return nil, r.refused("a key or a ref does not name an object")
		}
	}
	return places, nil
}

// object is what a listing says of an object.
type object struct {
	key  string
	size int64
}

// directoryListings is how often the listing of a directory is repeated: a file that another call deletes meanwhile
// makes it fail.
const directoryListings = 10

// pageSize is how many objects are listed, and erased, at once.
const pageSize = 1000

// list calls visit with all objects of a place, a page at a time, in the order of their keys.
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

// page returns a page of the objects of a place, and where the next one begins.
//
// A single object is looked up by a listing as well: to a request for an object, a store gives the same response
// whether the object or the whole bucket is missing.
func (r *Resolver) page(ctx context.Context, p place, token []byte) (page []object, next []byte, err error) {
	size := pageSize
	if !p.isPrefix {
		size = 1 // the key itself comes before all that begin with it
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
