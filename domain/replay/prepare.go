package replay

import (
	"context"
	"math"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
)

// prepare compares the journal with the database and refuses lines of another installation. It sets Missing of the
// report of the journal. Then it raises the sequences of habeas above the highest number of the journal, and reads or
// stores the position of Config.RestoredTo. It returns the installation of the database, which then has a data map.
func (r *Replayer) prepare(
	ctx context.Context, journal *content,
) (own datamap.Installation, tables restored, err error) {
	err = r.config.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		if own, err = s.Installation().Read(ctx); err != nil {
			return err
		}
		if err := journal.refuseForeign(own); err != nil {
			return err
		}
		recorded, err := highestRecorded(ctx, s.Erased(), journal)
		journal.report.Missing = journal.missing(recorded)
		return err
	})
	if err != nil {
		return own, tables, err
	}
	floor := journal.report.LastNumber
	if !r.config.RestoredTo.IsZero() {
		floor = max(floor, 1) // a stored position is never 0
	}
	err = r.config.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		if err := s.Installation().RaiseSequences(ctx, floor); err != nil {
			return err
		}
		if !r.config.RestoredTo.IsZero() {
			if tables, err = restoredTo(ctx, s.Erased(), r.config.RestoredTo, floor); err != nil {
				return err
			}
		}
		own, err = s.Installation().Read(ctx)
		return err
	})
	return own, tables, err
}

// highestRecorded returns the highest number of an erasure that the database records, or a number that is not below the
// lowest After of the lines.
func highestRecorded(ctx context.Context, erased ports.ErasedStore, journal *content) (int64, error) {
	if len(journal.covered) == 0 || journal.covered[0].after == 0 {
		return 0, nil
	}
	return highestUpTo(ctx, erased, journal.covered[0].after)
}

// highestUpTo returns the highest number of an erasure that the database records, or a number that is not below the
// given one. The list of marks is in ascending order and has no other direction. Therefore, highestUpTo searches for
// the number with few queries that each read one mark.
func highestUpTo(ctx context.Context, erased ports.ErasedStore, above int64) (recorded int64, err error) {
	for recorded < above { // a mark has the number recorded, or it is 0
		middle := recorded + (above-recorded-1)/2 + 1
		found, err := erased.Marks(ctx, domain.MarkQuery{After: middle - 1, Limit: 1})
		switch {
		case err != nil:
			return 0, err
		case len(found) > 0:
			recorded = found[0].Intake
		default:
			above = middle - 1
		}
	}
	return recorded, nil
}

// lowSequences returns the sequences of the application from which a new subject would get the id of a subject of the
// journal.
func (r *Replayer) lowSequences(
	ctx context.Context, own datamap.Installation, journal *content,
) (names []string, err error) {
	if len(own.KeyColumns) != 1 {
		return nil, nil
	}
	var greatest int64
	switch own.KeyColumns[0].Type { //nolint:exhaustive // the other types have no sequences
	case datamap.TypeSmallInt:
		greatest = math.MaxInt16
	case datamap.TypeInteger:
		greatest = math.MaxInt32
	case datamap.TypeBigInt:
		greatest = math.MaxInt64
	default:
		return nil, nil
	}
	highest := journal.highestID(greatest)
	if highest == 0 {
		return nil, nil
	}
	err = r.config.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		names, err = s.Installation().LowSequences(ctx, highest)
		return err
	})
	return names, err
}

// findings returns the error for the findings of a replay that an operator must examine, or nil if there are none. The
// parameter first is the first broken line.
func findings(report domain.ReplayReport, first broken, expect int64) error {
	var texts []string
	if report.Broken > 0 {
		texts = append(texts, "broken lines: "+strconv.FormatInt(report.Broken, 10)+"; the first one is line "+
			strconv.FormatInt(first.number, 10)+": "+first.problem+". Their subjects were not erased")
	}
	if len(report.Missing) > 0 {
		texts = append(texts, "the journal has no lines for the numbers "+ranges(report.Missing)+". Replay them from another"+
			" copy of the journal")
	}
	if expect > report.LastNumber {
		texts = append(texts, "the last line has the number "+strconv.FormatInt(report.LastNumber, 10)+
			", but the number "+strconv.FormatInt(expect, 10)+" was expected. The end of the journal is missing")
	}
	if report.Skipped > 0 {
		texts = append(texts, "subjects whose id does not fit the key of the subject's table: "+
			strconv.FormatInt(report.Skipped, 10)+". They were not erased")
	}
	if report.Unclear > 0 {
		texts = append(texts, "erased subjects who have a row, and nothing tells whether a restore has brought it back or"+
			" a new person has it: "+strconv.FormatInt(report.Unclear, 10)+". They were not erased. If tables were restored,"+
			" replay again with RestoredTo (--restored-to), the begin of their backup. Let the application call Registered"+
			" for each new person, or give the subject's table a creation time, so that people with a reused id are known")
	}
	if report.OtherRow > 0 {
		texts = append(texts, "subjects whose row has another creation time than the row that was erased: "+
			strconv.FormatInt(report.OtherRow, 10)+". They were not erased, and RestoredTo (--restored-to) does not erase"+
			" them. Compare the creation times with the backups, and erase each subject who was erased before")
	}
	if len(report.Sequences) > 0 {
		texts = append(texts, "a new subject would get the id of an erased one from: "+
			strings.Join(report.Sequences, ", ")+". Set each of them above the highest id of a subject of the journal")
	}
	if len(texts) == 0 {
		return nil
	}
	return &domain.Error{Code: domain.ErrInvalid, Op: "replay", Message: strings.Join(texts, "; "), Err: ErrIncomplete}
}

// ranges returns the ranges as text, such as "3, 7 to 9". It names at most 20 of them.
func ranges(all []domain.NumberRange) string {
	const most = 20
	var texts []string
	for i, of := range all {
		if i == most {
			texts = append(texts, "and "+strconv.Itoa(len(all)-most)+" further ranges")
			break
		}
		text := strconv.FormatInt(of.First, 10)
		if of.Last > of.First {
			text += " to " + strconv.FormatInt(of.Last, 10)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}
