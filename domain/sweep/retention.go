package sweep

import (
	"context"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/ports"
)

// dutiesSince returns the instant at which a sweep first saw the retention duties of the data map. An erasure or sweep
// before this instant may have kept cells that are due by these duties, because it followed others. The session stores
// a hash of the duties if they are new. dutiesSince returns zero if the data map has no duties that concern it.
func (s *Sweeper) dutiesSince(ctx context.Context, session ports.Session) (time.Time, error) {
	hash := hashOfDuties(s.dataMap)
	if hash == 0 {
		return time.Time{}, nil
	}
	return session.Installation().RetentionSince(ctx, hash, s.audit.Clock.Now())
}

// hashOfDuties returns a hash of the retention duties for the columns whose surrogates look like ordinary values. It is
// 0 if there are no such columns, and otherwise positive.
func hashOfDuties(m datamap.DataMap) int64 {
	hash, any := fnv.New64a(), false
	for _, table := range m.Tables() {
		for _, column := range table.Personal() {
			if column.Personal.Strategy != domain.StrategyRetain || plan.RecognizesSurrogate(column) {
				continue
			}
			any = true
			for _, duty := range plan.Duties(table, column.Name) {
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
