package objectstore

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/habeas-data/habeas/domain"
)

// EraseKeys implements ports.KeyResolver. It erases the object of each key, and returns the number of keys that had no
// object. Each key selects one object. EraseKeys ignores the call, see EraseSubject.
//
// If keys has more than MaxKeys keys or a key that is not valid, EraseKeys erases nothing and returns a
// *domain.ResolverError. After any other error, some objects may be erased, and the next call erases the rest. The
// errors are those of ports.Resolver.
func (r *Resolver) EraseKeys(ctx context.Context, keys []string, _ domain.ErasureCall) (absent int, err error) {
	places, err := r.places(ctx, keys, placeOfKey)
	if err != nil {
		return 0, err
	}
	return r.erase(ctx, places)
}

// erase erases the objects of all places. A place is one object, or all objects below a prefix. erase returns the
// number of places that had no objects.
func (r *Resolver) erase(ctx context.Context, places []place) (absent int, err error) {
	erased := make([]int, len(places))
	err = r.forEach(ctx, len(places), func(ctx context.Context, i int) (err error) {
		erased[i], err = r.erasePlace(ctx, places[i])
		return err
	})
	if err != nil {
		return 0, err
	}
	for _, objects := range erased {
		if objects == 0 {
			absent++
		}
	}
	return absent, nil
}

// erasePlace returns the number of objects, or of versions of objects, that it has erased.
func (r *Resolver) erasePlace(ctx context.Context, p place) (erased int, err error) {
	var client *s3.Client
	if r.bucket.As(&client) {
		erased, supported, err := r.eraseVersions(ctx, client, p)
		if supported || err != nil {
			return erased, err
		}
	}
	return r.eraseCurrent(ctx, p)
}

// eraseCurrent deletes the objects of a place (one object, or all objects below a prefix) in a store whose versions the
// resolver cannot access. It repeats the listing and the deletion until a listing is empty, which proves that the store
// has deleted the objects.
func (r *Resolver) eraseCurrent(ctx context.Context, p place) (erased int, err error) {
	for first := ""; ; {
		page, _, err := r.page(ctx, p, blob.FirstPageToken)
		switch {
		case err != nil:
			return erased, err
		case len(page) == 0:
			return erased, nil
		case page[0].key == first:
			return erased, r.later("an object still exists after its deletion")
		}
		first = page[0].key
		err = r.forEach(ctx, len(page), func(ctx context.Context, i int) error {
			err := r.bucket.Delete(ctx, page[i].key)
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
