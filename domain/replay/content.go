package replay

import (
	"cmp"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// content is the content of a journal.
type content struct {
	report   domain.ReplayReport // Lines, Broken, Subjects, LastNumber and LastErasedAt are set
	first    broken              // the first broken line
	subjects map[domain.SubjectID]*lines
	order    []domain.SubjectID // the subjects, in the order of their first lines
	covered  []span             // the numbers that lines cover, see span

	installations map[string]int64 // for each installation of the lines, the highest number
}

// lines has the properties of all lines of one subject.
type lines struct {
	last domain.JournalEntry // the line with the highest number
	rows []rowLines          // one element for each creation time in the lines
}

// rowLines has the properties of all lines of one subject that have the same creation time, or none.
type rowLines struct {
	added  time.Time // see domain.JournalEntry.AddedAt
	number int64     // the highest number
}

// span is the range of the numbers that a line covers: the numbers from after + 1 to number. The database that wrote
// the line had no other erasure with one of these numbers.
type span struct{ after, number int64 }

// readAll reads all lines of a journal, which are signed if sign is not nil.
func readAll(from io.Reader, sign func([]byte) []byte) (*content, error) {
	c := &content{subjects: map[domain.SubjectID]*lines{}, installations: map[string]int64{}}
	source := newReader(from, sign)
	for {
		entry, ok, err := source.read()
		if ok {
			c.add(entry)
		}
		c.report.Lines, c.report.Broken, c.first = source.lines, source.broken, source.first
		if errors.Is(err, io.EOF) {
			c.covered = merged(c.covered)
			c.report.Subjects = int64(len(c.order))
			return c, nil
		}
		if err != nil {
			return c, err
		}
	}
}

// add adds the entry of a line.
func (c *content) add(entry domain.JournalEntry) {
	of, known := c.subjects[entry.SubjectID]
	if !known {
		of = &lines{}
		c.subjects[entry.SubjectID] = of
		c.order = append(c.order, entry.SubjectID)
	}
	if entry.Number > of.last.Number {
		of.last = entry
		of.last.Installation = "" // saves memory
	}
	if entry.Number > c.report.LastNumber {
		c.report.LastNumber, c.report.LastErasedAt = entry.Number, entry.ErasedAt
	}
	of.addRow(entry)
	c.installations[entry.Installation] = max(c.installations[entry.Installation], entry.Number)
	if last := len(c.covered) - 1; last >= 0 && c.covered[last].number == entry.After {
		c.covered[last].number = entry.Number
		return
	}
	if len(c.covered) == cap(c.covered) { // merge before the memory grows
		c.covered = merged(c.covered)
	}
	c.covered = append(c.covered, span{entry.After, entry.Number})
}

// merged returns the spans in ascending order, without overlaps. It modifies the spans.
func merged(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.after, b.after) })
	kept := spans[:0]
	for _, next := range spans {
		if last := len(kept) - 1; last >= 0 && next.after <= kept[last].number {
			kept[last].number = max(kept[last].number, next.number)
			continue
		}
		kept = append(kept, next)
	}
	return kept
}

// missing returns the ranges of numbers that no line covers, in ascending order. The ranges begin after the highest
// number that the database records, and after the lowest JournalEntry.After of a line. The parameter recorded is the
// former number, or any greater number than the latter.
func (c *content) missing(recorded int64) (missing []domain.NumberRange) {
	for _, next := range c.covered {
		if next.after > recorded {
			missing = append(missing, domain.NumberRange{First: recorded + 1, Last: next.after})
		}
		recorded = next.number
	}
	return missing
}

// refuseForeign returns an error if the journal has a line of another installation than the given one and its
// ancestors.
func (c *content) refuseForeign(own datamap.Installation) error {
	refused := func(message string) error {
		return &domain.Error{Code: domain.ErrInvalid, Op: "replay", Message: "nothing was changed: " + message}
	}
	for _, id := range slices.Sorted(maps.Keys(c.installations)) {
		number := c.installations[id]
		switch isAncestor := slices.ContainsFunc(own.Ancestors, func(a datamap.Ancestor) bool { return a.ID == id }); {
		case own.Accepts(id, number):
		case isAncestor:
			return refused("the line number " + strconv.FormatInt(number, 10) + " is of the installation " + id +
				", from which this database was cloned, but it is later than the clone; this database has the installation " +
				own.ID + ". Remove the lines that the installation " + id + " wrote after the clone")
		default:
			return refused("the journal has lines of the installation " + id +
				", but this database has the installation " + own.ID + ". Replay each line only in the database of its" +
				" installation: give this replay only the lines whose member installation is " + own.ID + " or an ancestor of it")
		}
	}
	return nil
}

// highestID returns the highest id of a subject of the journal that is a single number up to greatest, or 0.
func (c *content) highestID(greatest int64) (highest int64) {
	for _, id := range c.order {
		if n, err := strconv.ParseInt(id.String(), 10, 64); err == nil && n <= greatest {
			highest = max(highest, n)
		}
	}
	return highest
}

// addRow adds the creation time of an entry.
func (l *lines) addRow(entry domain.JournalEntry) {
	i := slices.IndexFunc(l.rows, func(r rowLines) bool { return r.added.Equal(entry.AddedAt) })
	if i < 0 {
		i = len(l.rows)
		l.rows = append(l.rows, rowLines{added: entry.AddedAt})
	}
	row := &l.rows[i]
	row.number = max(row.number, entry.Number)
}

// unrecorded returns the creation times of the lines whose erasure the mark does not record. See
// domain.ReplayCase.Unrecorded. It compares the numbers.
func (l *lines) unrecorded(mark domain.ErasureMark) (added []time.Time) {
	for _, row := range l.rows {
		if mark.Erasures == 0 || mark.Intake < row.number {
			added = append(added, row.added)
		}
	}
	return added
}
