package check

import (
	"context"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
)

// checkPartitions reports overwritten columns of partition keys: the row moves to another partition, or there is none
// for the new value. The database evaluates the conditions of the partitions on examples of surrogates.
func (s *schema) checkPartitions(ctx context.Context, reader ports.CatalogReader) error {
	for _, w := range s.writes {
		if w.live.Partitions == nil {
			continue
		}
		check := w.live.Partitions.CatalogCheck
		at := place{table: w.table.Name, column: w.overwrittenNames(check)}
		if at.column == "" {
			continue
		}
		verdict, err := w.decide(ctx, reader, check)
		if err != nil {
			return err
		}
		overwrites := "An erasure overwrites the column, which is in the partition key of the table. "
		remedy := "Give a surrogate of the same partition, or remove the annotation and the column from the key."
		switch verdict {
		case datamap.VerdictFails:
			s.report("partition-missing", at, overwrites+"No partition takes the surrogate. The erasure fails.",
				"Create a partition for the surrogate, or a default partition, or give a surrogate that a partition takes.")
		case datamap.VerdictUndecided:
			s.reportAs(warning, "partition-missing", at, overwrites+
				"The check cannot decide whether a partition takes the new value. If none does, the erasure fails.", remedy)
		case datamap.VerdictHolds:
		}
		if w.live.Partitions.Number > 1 && verdict != datamap.VerdictFails {
			s.report("partition-moved", at, overwrites+
				"The database then deletes the row from its partition and inserts it into "+
				"another one. This fires the triggers of both, and the actions of foreign keys that refer to the partition.",
				remedy+" If the move does no harm, accept the finding.")
		}
	}
	return nil
}
