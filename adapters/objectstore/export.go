package objectstore

import (
	"context"
	"io"
	"sync"

	"gocloud.dev/gcerrors"

	"github.com/habeas-data/habeas/domain"
)

// maxConcurrency is the maximum number of objects that are read or erased concurrently.
const maxConcurrency = 8

// If the content of an object exceeds a limit of Options, the export contains one of these notes in place of the
// content.
const (
	noteLarge = "The content is larger than the limit of an export."
	noteFull  = "The total size of the contents is larger than the limit of an export."
)

// ExportKeys implements ports.KeyResolver. It exports the object of each key and no other object. The limits of Options
// apply to all keys of a call together.
//
// If keys has more than MaxKeys keys or a key that is not valid, ExportKeys returns a *domain.ResolverError. The errors
// are those of ports.Resolver.
func (r *Resolver) ExportKeys(ctx context.Context, keys []string) ([]domain.ExportRecord, error) {
	places, err := r.places(ctx, keys, placeOfKey)
	if err != nil {
		return nil, err
	}
	return r.export(ctx, places)
}

// export exports the objects of all places. A place is one object, or all objects below a prefix. If several places
// select the same object, export exports the object once.
func (r *Resolver) export(ctx context.Context, places []place) ([]domain.ExportRecord, error) {
	var objects []object
	seen := map[string]bool{}
	for _, p := range places {
		err := r.list(ctx, p, func(page []object) error {
			for _, o := range page {
				if !seen[o.key] {
					seen[o.key] = true
					objects = append(objects, o)
				}
			}
			if len(objects) > r.options.MaxObjects {
				return r.refused("the subject has more objects than MaxObjects")
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	files, err := r.read(ctx, objects)
	if err != nil {
		return nil, err
	}
	var records []domain.ExportRecord
	for _, f := range files {
		records = append(records, r.records(f)...)
	}
	return records, nil
}

// file is an object with its content, or with a note if the content is not exported.
type file struct {
	object
	content []byte
	note    string
	gone    bool // the object was erased after the listing
}

// read reads the contents of the objects that are within the limits of an export. It compares the sizes in the listing
// with the limits before it reads. For the same objects, it therefore always reads the same contents.
func (r *Resolver) read(ctx context.Context, objects []object) ([]file, error) {
	files := make([]file, len(objects))
	var total int64
	var wanted []*file
	for i, o := range objects {
		files[i].object = o
		switch {
		case o.size > r.options.MaxContentBytes:
			files[i].note = noteLarge
		case total+o.size > r.options.MaxTotal:
			files[i].note = noteFull
		default:
			total += o.size
			wanted = append(wanted, &files[i])
		}
	}
	return files, r.forEach(ctx, len(wanted), func(ctx context.Context, i int) error { return r.readOne(ctx, wanted[i]) })
}

func (r *Resolver) readOne(ctx context.Context, f *file) error {
	reader, err := r.bucket.NewReader(ctx, f.key, nil)
	if gcerrors.Code(err) == gcerrors.NotFound {
		f.gone = true
		return nil
	}
	if err != nil {
		return r.failed(ctx, "a reading", err)
	}
	defer func() { _ = reader.Close() }() // ReadAll has returned errors of the content
	f.content, err = io.ReadAll(io.LimitReader(reader, f.size+1))
	if err != nil {
		return r.failed(ctx, "a reading", err)
	}
	if int64(len(f.content)) > f.size { // the object has grown since the listing
		f.content, f.size, f.note = nil, reader.Size(), noteLarge
	}
	return nil
}

func (r *Resolver) records(f file) []domain.ExportRecord {
	if f.gone {
		return nil
	}
	record := func(field string, value any) domain.ExportRecord {
		return domain.ExportRecord{Field: field, Row: f.key, Category: r.options.Category, Value: value}
	}
	records := []domain.ExportRecord{record(fieldName, f.key), record(fieldSize, f.size)}
	if f.note != "" {
		return append(records, record(fieldNote, f.note))
	}
	return append(records, record(fieldContent, f.content))
}

// forEach calls act for every index below n, with at most maxConcurrency concurrent calls. After the first error,
// forEach starts no further call and returns this error.
func (r *Resolver) forEach(parent context.Context, n int, act func(ctx context.Context, i int) error) error {
	ctx, stop := context.WithCancelCause(parent)
	defer stop(nil)
	var running sync.WaitGroup
	free := make(chan struct{}, maxConcurrency)
	for i := range n {
		free <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		running.Go(func() {
			defer func() { <-free }()
			if err := act(ctx, i); err != nil {
				stop(err)
			}
		})
	}
	running.Wait()
	err := context.Cause(ctx)
	if ended := parent.Err(); ended != nil {
		return r.ended(ended)
	}
	return err
}
