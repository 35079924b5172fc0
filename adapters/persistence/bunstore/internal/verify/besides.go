package verify

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/live"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/rows"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// Besides looks for erased texts in all rows of a table that were written since the steps began. A trigger may write
// old values into rows of versions, or into rows of other people.
type Besides struct {
	*Step
	Changed int64 // the number of these rows that no step covers

	erased   erasedTexts
	covering []*Step // the steps on the same table
	suspects map[heldText]rowKey
}

// NewBesides returns a Besides for a table of the data map. The steps must have been observed.
func NewBesides(
	ctx context.Context, db *conn.Session, w *rows.Writer, live *live.Schema, table string, steps []*Step,
) (*Besides, error) {
	b := &Besides{Step: NewStep(db, w, live, "erase: "+table, datamap.Step{
		Target: table, Strategy: domain.StrategyAnonymize,
	}, nil), erased: newErasedTexts(), suspects: map[heldText]rowKey{}}
	for _, step := range steps {
		for _, texts := range step.copies.texts {
			b.erased.add(texts)
		}
		if step.Target == table {
			b.covering = append(b.covering, step)
		}
	}
	return b, b.readColumns(ctx)
}

// Find reads the rows with a condition on the row t0, which has the parameters args. It counts them in Changed only if
// they existed before. If several rows have the same key, those of a step are not counted.
func (b *Besides) Find(ctx context.Context, condition string, existed bool, args ...any) error {
	sw := b.writer.StepWriter(b.table, b.live.Types(b.table.Name), 0)
	text := b.readingCells(sw, condition)
	keys, ownOf := map[string]rowKey{}, map[string]erasedTexts{} // of the rows with large cells
	read := map[string]int{}
	err := b.readCells(ctx, text, args, func(key rowKey, _ []heldCell, others []otherCell) {
		row, own, covering := key.id(), newErasedTexts(), 0
		for _, step := range b.covering {
			covering = max(covering, step.times[row])
			own.add(step.copies.texts[row]) // Copied judges them
		}
		if read[row]++; existed && read[row] > covering {
			b.Changed++
		}
		if slices.ContainsFunc(others, func(c otherCell) bool { return c.isLarge }) {
			keys[row], ownOf[row] = slices.Clone(key), own
		}
		b.search(key, others, func(held heldText) {
			if len(own.in(held.text)) == 0 {
				b.suspects[held] = slices.Clone(key)
			}
		})
	})
	if err != nil {
		return err
	}
	return b.compareLarge(ctx, func(held heldText) {
		if own := ownOf[held.row]; len(own.in(held.text)) == 0 {
			b.suspects[held] = keys[held.row]
		}
	})
}

// search calls found for each of the cells that holds an erased text.
func (b *Besides) search(key rowKey, cells []otherCell, found func(heldText)) {
	for _, c := range cells {
		at := cell{key.id(), c.column}
		if c.isLarge {
			b.addLarge(key, c.column, b.erased.texts)
		}
		for _, text := range b.erased.in(c.text.String) {
			found(heldText{at, text})
		}
	}
}

// Suspicious reports whether Find has found an erased text.
func (b *Besides) Suspicious() bool { return len(b.suspects) > 0 }

// Judge returns domain.ErrLeftOver if one of the cells did not hold the erased text before. The caller has undone the
// steps.
func (b *Besides) Judge(ctx context.Context) error {
	keys := map[string]rowKey{}
	for held, key := range b.suspects {
		if key != nil && key.isUnique() {
			keys[held.row] = key
		}
	}
	before := func(held heldText) { delete(b.suspects, held) }
	for chunk := range slices.Chunk(slices.Collect(maps.Values(keys)), rowsPerStatement) {
		text, args := b.withKeys(chunk)
		err := b.readCells(ctx, text, args, func(key rowKey, _ []heldCell, cells []otherCell) {
			b.search(key, cells, before)
		})
		if err == nil {
			err = b.compareLarge(ctx, before)
		}
		if err != nil {
			return err
		}
	}
	for held := range b.suspects {
		return &domain.Error{
			Code: domain.ErrLeftOver, Op: b.Op, Message: b.Target + "." + held.column +
				": holds a text that the erasure has erased in another row: a trigger or a rule keeps it",
		}
	}
	return nil
}

// Writes returns the number of rows of the tables that the statements of steps with the strategy have written.
func Writes(steps []*Step, strategy domain.Strategy, tables []string) (n int64) {
	for _, s := range steps {
		if s.Strategy == strategy && slices.Contains(tables, s.Target) {
			n += s.writes
		}
	}
	return n
}

// observeDeleted notes the texts in the annotated columns of the rows that the step will delete.
func (s *Step) observeDeleted(ctx context.Context) error {
	step := s.Step
	step.Strategy, step.Columns = domain.StrategyAnonymize, nil
	for _, column := range s.table.Personal() {
		step.Columns = append(step.Columns, column.Name)
	}
	reads := NewStep(s.db, s.writer, s.live, s.Op, step, s.key)
	reads.copies.columns = []string{}
	text, args := reads.ofSubject(false)
	err := reads.readCells(ctx, text, args, reads.noteErased)
	s.copies.texts = reads.copies.texts
	return err
}

// erasedTexts finds erased texts in other texts, as erasedText.isCopiedTo does, for any number of erased texts.
type erasedTexts struct {
	texts         []erasedText
	known         map[erasedText]bool
	dates         map[string]bool
	folded, plain map[string][]string // the forms of the texts by their beginning, which has one of beginnings bytes
}

// beginnings are the lengths of beginnings by which erasedTexts finds a form. A longer one is shared by fewer texts.
var beginnings = []int{48, 24, 12, shortestCopy}

func newErasedTexts() erasedTexts {
	return erasedTexts{nil, map[erasedText]bool{}, map[string]bool{}, map[string][]string{}, map[string][]string{}}
}

func (e *erasedTexts) add(texts []erasedText) {
	for _, text := range texts {
		if e.known[text] {
			continue
		}
		e.known[text], e.texts = true, append(e.texts, text)
		if text.isDate {
			e.dates[text.text] = true
			continue
		}
		for _, form := range formsOf(text.text) {
			addForm(e.folded, strings.ToLower(form))
		}
		addForm(e.plain, normalized(text.text))
	}
}

func addForm(forms map[string][]string, form string) {
	for _, n := range beginnings {
		if len(form) >= n {
			forms[form[:n]] = append(forms[form[:n]], form)
			return
		}
	}
}

// in returns the forms of erased texts that a text contains.
func (e *erasedTexts) in(text string) (found []string) {
	if len(text) < shortestCopy || len(e.texts) == 0 {
		return nil
	}
	if e.dates[text] {
		found = append(found, text)
	}
	return append(append(found, formsIn(e.folded, strings.ToLower(text))...), formsIn(e.plain, normalized(text))...)
}

func formsIn(forms map[string][]string, text string) (found []string) {
	for i := range len(text) {
		for _, n := range beginnings {
			if i+n > len(text) {
				continue
			}
			for _, form := range forms[text[i:i+n]] {
				if strings.HasPrefix(text[i:], form) {
					found = append(found, form)
				}
			}
		}
	}
	return found
}
