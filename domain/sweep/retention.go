package sweep

import (
	"context"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
)

// The database stores the duties of the last sweep as positions of two readers: a hash of the duties, and the second at
// which a sweep first saw it.
const (
	readerOfDuties      = "retention duties"
	readerOfDutiesSince = "retention duties since"
)

// dutiesSince returns the instant at which a sweep first saw the retention duties of the data map. An erasure or sweep
// before this instant may have kept cells that are due by these duties, because it followed others. The session stores
// the duties if they are new. dutiesSince returns zero if the data map has no duties that concern it.
func (s *Sweeper) dutiesSince(ctx context.Context, erased ports.ErasedStore) (time.Time, error) {
	now, own := s.audit.Clock.Now(), hashOfDuties(s.dataMap)
	if own == 0 {
		return time.Time{}, nil
	}
	stored, err := erased.Position(ctx, readerOfDuties)
	if err != nil {
		return time.Time{}, err
	}
	since, err := erased.Position(ctx, readerOfDutiesSince)
	if err != nil {
		return time.Time{}, err
	}
	if stored != own {
		if _, err := erased.Advance(ctx, readerOfDuties, stored, own); err != nil {
			return time.Time{}, err
		}
		if _, err := erased.Advance(ctx, readerOfDutiesSince, since, now.Unix()); err != nil {
			return time.Time{}, err
		}
		since = now.Unix()
	}
	return time.Unix(since, 0).UTC(), nil
}

// hashOfDuties returns a hash of the retention duties for the columns whose surrogates look like ordinary values. It is
// 0 if there are no such columns, and otherwise positive.
func hashOfDuties(m datamap.DataMap) int64 {
	hash, any := fnv.New64a(), false
	for _, table := range m.Tables() {
		for _, column := range table.Personal() {
			if column.Personal.Strategy != domain.StrategyRetain || column.RecognizesSurrogate() {
				continue
			}
			any = true
			for _, duty := range table.Duties(column.Name) {
				_, _ = fmt.Fprintf(hash, "%q %q %q %v\n", table.Name, column.Name, duty.Personal.Since, duty.Personal.Retain)
				if duty.Personal.From != "" {
					_, _ = fmt.Fprintf(hash, "%q %q\n", duty.Personal.From, m.Zone())
				}
			}
		}
	}
	if !any {
		return 0
	}
	return int64(hash.Sum64()>>1) | 1
}
