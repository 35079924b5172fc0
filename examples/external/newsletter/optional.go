package newsletter

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

var (
	_ ports.RectifyingResolver = (*Resolver)(nil)
	_ ports.KeyResolver        = (*Resolver)(nil)
)

// correctable maps each category that a person may correct to its field in the service.
var correctable = map[domain.Category]string{domain.CategoryContact: "email", domain.CategoryBehavioral: "language"}

// RectifySubject writes the corrections into the subscriber.
func (r *Resolver) RectifySubject(
	ctx context.Context, ref domain.SubjectRef, call domain.RectificationCall, corrections domain.Corrections,
) error {
	changes := map[string]any{}
	for category, value := range corrections {
		if field, ok := correctable[category]; ok {
			changes[field] = value
		}
	}
	if len(changes) == 0 {
		return nil // the service stores no value of these categories
	}
	known, err := r.check(ctx, ref.Value, call)
	if err != nil || !known {
		return err // nil if the service does not know the subscriber
	}
	_, err = r.send(ctx, http.MethodPatch, ref.Value, call.EntryID, changes, nil)
	return err
}

// ExportKeys reads the subscribers whose addresses are the keys.
func (r *Resolver) ExportKeys(ctx context.Context, keys []string) (all []domain.ExportRecord, err error) {
	for _, key := range keys {
		records, err := r.export(ctx, key)
		if err != nil {
			return nil, err
		}
		all = append(all, records...)
	}
	return all, nil
}

// EraseKeys deletes the subscribers whose addresses are the keys. The idempotency key of each request consists of
// the entry's id and a hash of the address.
func (r *Resolver) EraseKeys(ctx context.Context, keys []string, call domain.ErasureCall) (absent int, err error) {
	var spared error
	for _, key := range keys {
		hash := sha256.Sum256([]byte(key))
		known, err := r.erase(ctx, key, call, call.EntryID+"-"+hex.EncodeToString(hash[:]))
		if errors.Is(err, domain.ErrSpared) {
			spared = err
			continue
		}
		if err != nil {
			return absent, err
		}
		if !known {
			absent++
		}
	}
	return absent, spared
}
