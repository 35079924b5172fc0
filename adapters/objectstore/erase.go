package objectstore

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// EraseKeys implements ports.KeyResolver: it erases the objects that the refs name, each a key or a prefix, and
// returns how many refs named nothing. Erasing is idempotent by itself: the store does not get the entry's id. It
// erases as much as it can: after an error, some of the objects are erased, and calling it again goes on with the
// rest. Errors are as for ports.Resolver; more than MaxKeys refs, and one that is not valid, are a
// *domain.ResolverError, and nothing is erased.
func (r *Resolver) EraseKeys(ctx context.Context, refs []string, _ string) (absent int, err error) {
	if err := r.check(ctx, refs); err != nil {
		return 0, err
	}
	results := make([]erasing, len(refs))
	for i, ref := range refs {
		results[i].ref = ref
	}
	pointers := make([]*erasing, len(refs))
	for i := range results {
		pointers[i] = &results[i]
	}
	err = each(ctx, r, pointers, func(ctx context.Context, e *erasing) (err error) {
		e.objects, err = r.eraseRef(ctx, e.ref)
		return err
	})
	if err != nil {
		return 0, err
	}
	for _, result := range results {
		if result.objects == 0 {
			absent++
		}
	}
	return absent, nil
}

// erasing is a ref, and how many objects or versions were erased for it.
type erasing struct {
	ref     string
	objects int
}

func (r *Resolver) eraseRef(ctx context.Context, ref string) (erased int, err error) {
	var client *s3.Client
	if r.bucket.As(&client) {
		erased, supported, err := r.eraseVersions(ctx, client, ref)
		if supported || err != nil {
			return erased, err
		}
	}
	return r.eraseCurrent(ctx, ref)
}

// eraseCurrent deletes the objects of a store that does not show their versions. Listing again from the start shows
// whether they have gone.
func (r *Resolver) eraseCurrent(ctx context.Context, ref string) (erased int, err error) {
	for first := ""; ; {
		page, _, err := r.page(ctx, ref, blob.FirstPageToken)
		switch {
		case err != nil:
			return erased, err
		case len(page) == 0:
			return erased, nil
		case page[0].key == first:
			return erased, r.later("an object is still there after its deletion")
		}
		first = page[0].key
		err = each(ctx, r, page, func(ctx context.Context, o object) error {
			err := r.bucket.Delete(ctx, o.key)
			if err != nil && gcerrors.Code(err) != gcerrors.NotFound {
				return r.failed(ctx, "a deletion", err)
			}
			return nil
		})
		if err != nil {
			return erased, err
		}
		erased += len(page)
	}
}
