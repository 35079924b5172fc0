package verify

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
)

// copies holds the evidence of copies: texts that the step erases in one cell, and that a trigger or a generated column
// keeps in another cell of the same row.
type copies struct {
	columns []string                // the columns that the step does not write; nil if the step is not observed
	texts   map[string][]erasedText // the erased texts of each row that count, by rowKey.id
	before  map[heldText]bool       // the texts that the other cells held before the erasure
	large   []largeCell             // cells to compare in the database
	found   string                  // a column that holds a copy, or ""
}

// erasedText is a text that the step erases. A copy of a date must equal it, because an instant of another meaning may
// have the same date. A copy of another text may be a part of a longer text.
type erasedText struct {
	text   string
	isDate bool
}

// heldText is an erased text in a cell of another column of its row.
type heldText struct {
	cell
	text string
}

// otherCell is the content of a cell in a column that the step does not write.
type otherCell struct {
	column  string
	text    sql.NullString
	isLarge bool // the cell is too large to be read: text is NULL
}

// Scan implements sql.Scanner. The value is = and the text of the cell, or NULL, or the word large.
func (c *otherCell) Scan(value any) error {
	err := c.text.Scan(value)
	c.text.String, c.text.Valid = strings.CutPrefix(c.text.String, "=")
	c.isLarge = !c.text.Valid && c.text.String != ""
	return err
}

// largeCell is a cell that is too large to be read, with the texts that it must not contain.
type largeCell struct {
	column string
	key    rowKey
	texts  []erasedText
}

func newCopies() copies { return copies{texts: map[string][]erasedText{}, before: map[heldText]bool{}} }

// shortestCopy is the length of the shortest text, in bytes, that counts as a copy. Another value may contain a shorter
// text by chance.
const shortestCopy = 6

// Observe notes the texts that the step will erase, and the other cells of the same row that hold them already. It must
// be called before the first step of the erasure, because triggers of earlier steps may copy the texts. The caller need
// not call it if neither a trigger nor a generated column may copy them.
func (s *Step) Observe(ctx context.Context) error {
	switch {
	case s.Strategy == domain.StrategyDelete:
		return s.observeDeleted(ctx)
	case s.Strategy != domain.StrategyAnonymize || s.values != nil:
		return nil
	}
	if err := s.readColumns(ctx); err != nil {
		return err
	}
	text, args := s.ofSubject(false)
	err := s.readCells(ctx, text, args, s.noteErased)
	if err == nil {
		err = s.compareLarge(ctx, s.noteBefore)
	}
	return err
}

// readColumns sets the columns in which copies are searched for.
func (s *Step) readColumns(ctx context.Context) error {
	text, parameter := dialectOf(s.writer.Dialect).columnsOf(s.table.Name)
	overwritten := s.overwritten()
	s.copies.columns = []string{} // not nil, even if the step overwrites all columns
	return s.db.Read(ctx, s.Op, func(r *sql.Rows) error {
		var name string
		err := r.Scan(&name)
		if !slices.ContainsFunc(overwritten, func(c string) bool { return s.writer.Dialect.SameName(c, name) }) {
			s.copies.columns = append(s.copies.columns, name)
		}
		return err
	}, text, parameter)
}

// Copied returns domain.ErrLeftOver if the last check has found a copy of an erased text in a column that the step does
// not write.
func (s *Step) Copied() error {
	if s.copies.found == "" {
		return nil
	}
	return &domain.Error{
		Code: domain.ErrLeftOver, Op: s.Op, Message: s.Target + "." + s.copies.found +
			": holds a text that the erasure has overwritten in another column: a trigger, a rule or a generated column" +
			" keeps it",
	}
}

// noteErased adds the texts of a row that the step will erase, and notes the other cells that hold them already.
func (s *Step) noteErased(key rowKey, content []heldCell, others []otherCell) {
	if s.copies.columns == nil {
		return
	}
	row, added := key.id(), []erasedText(nil)
	for _, h := range content {
		column, _ := s.table.Column(h.column)
		if !counts(column, h) {
			continue
		}
		for _, text := range textsIn(column, h.text.String) {
			erased := erasedText{text, column.Type == datamap.TypeTime && len(text) <= len(time.DateOnly)}
			if len(text) >= shortestCopy && !slices.Contains(s.copies.texts[row], erased) {
				s.copies.texts[row], added = append(s.copies.texts[row], erased), append(added, erased)
			}
		}
	}
	s.compare(key, others, added, s.noteBefore)
}

// counts reports whether a cell that the step overwrites holds a text that must not remain. Numbers, booleans, short
// texts and the surrogates of earlier erasures do not count.
func counts(column datamap.Column, h heldCell) bool {
	if !h.text.Valid || h.written || len(h.text.String) < shortestCopy {
		return false
	}
	switch column.Type { //nolint:exhaustive // the other types count
	case datamap.TypeSmallInt, datamap.TypeInteger, datamap.TypeBigInt, datamap.TypeNumber, datamap.TypeBoolean:
		return false
	}
	prefix, _ := datamap.Column{}.Default()
	return !strings.HasPrefix(h.text.String, prefix) || plan.IsLeftOver(column, h.text.String)
}

// textsIn returns the text of a cell, and the texts that it consists of: those in a JSON document or an array, and the
// text of bytes.
func textsIn(column datamap.Column, text string) []string {
	texts := []string{strings.TrimSpace(text)}
	switch column.Type { //nolint:exhaustive // the other types have one text
	case datamap.TypeJSON, datamap.TypeArray:
		var document any
		if json.Unmarshal([]byte(text), &document) != nil { // an array of PostgreSQL
			return append(texts, strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(`{},"`, r) })...)
		}
		return appendTexts(texts, document)
	case datamap.TypeBytes:
		if content, err := hex.DecodeString(strings.TrimPrefix(text, `\x`)); err == nil && utf8.Valid(content) {
			texts = append(texts, string(content))
		}
	}
	return texts
}

// appendTexts appends the texts in a JSON document, without the names of members.
func appendTexts(texts []string, document any) []string {
	switch value := document.(type) {
	case string:
		texts = append(texts, strings.TrimSpace(value))
	case []any:
		for _, element := range value {
			texts = appendTexts(texts, element)
		}
	case map[string]any:
		for _, member := range value {
			texts = appendTexts(texts, member)
		}
	}
	return texts
}

// findCopies sets s.copies.found if one of the other cells of a row holds an erased text that it did not hold before.
func (s *Step) findCopies(key rowKey, others []otherCell) {
	s.compare(key, others, s.copies.texts[key.id()], s.noteFound)
}

// compare calls found for each of the other cells that contains one of the texts. It leaves large cells to
// compareLarge.
func (s *Step) compare(key rowKey, others []otherCell, texts []erasedText, found func(heldText)) {
	if len(texts) == 0 {
		return
	}
	row, copied := key.id(), make([]func(searched) bool, len(texts))
	for i, text := range texts {
		copied[i] = text.isCopiedTo()
	}
	for _, other := range others {
		switch {
		case other.isLarge:
			s.addLarge(key, other.column, texts)
			continue
		case !other.text.Valid:
			continue
		}
		held := newSearched(other.text.String)
		for i, text := range texts {
			if copied[i](held) {
				found(heldText{cell{row, other.column}, text.text})
			}
		}
	}
}

// addLarge notes a large cell for compareLarge, with as many texts as a statement returns values for.
func (s *Step) addLarge(key rowKey, column string, texts []erasedText) {
	for part := range slices.Chunk(slices.Clone(texts), rowsPerStatement) {
		s.copies.large = append(s.copies.large, largeCell{column, slices.Clone(key), part})
	}
}

// compareLarge compares the cells that compare has left out, in the database.
func (s *Step) compareLarge(ctx context.Context, found func(heldText)) error {
	large := s.copies.large
	s.copies.large = nil
	for _, c := range large {
		var sought, of []string
		for _, erased := range c.texts {
			if erased.isDate {
				continue
			}
			for _, form := range formsOf(erased.text) {
				sought, of = append(sought, form), append(of, erased.text)
			}
		}
		if len(sought) == 0 {
			continue
		}
		holds := make([]bool, len(sought))
		targets := conn.AddTargets(nil, holds)
		text, args := s.containing(c.key, c.column, sought)
		if err := s.db.Read(ctx, s.Op, func(r *sql.Rows) error { return r.Scan(targets...) }, text, args...); err != nil {
			return err
		}
		for i := range holds {
			if holds[i] {
				found(heldText{cell{c.key.id(), c.column}, of[i]})
			}
		}
	}
	return nil
}

func (s *Step) noteBefore(held heldText) { s.copies.before[held] = true }

func (s *Step) noteFound(held heldText) {
	if !s.copies.before[held] {
		s.copies.found = held.column
	}
}

// holdsErased reports whether a text in a column that the step overwrites contains a text that the step has erased in
// any column of the same row.
func (s *Step) holdsErased(row, text string) bool {
	if len(s.copies.texts[row]) == 0 {
		return false
	}
	held := newSearched(text)
	return slices.ContainsFunc(s.copies.texts[row], func(e erasedText) bool { return e.isCopiedTo()(held) })
}

// searched is a text in which erased texts are searched for, and its forms for comparisons.
type searched struct{ text, folded, plain string }

func newSearched(text string) searched {
	return searched{text, strings.ToLower(text), normalized(text)}
}

// isCopiedTo returns a function that reports whether a text is a copy of the erased text or contains one. It ignores
// case and, if enough letters and digits remain, spaces and punctuation.
func (e erasedText) isCopiedTo() func(searched) bool {
	if e.isDate {
		return func(held searched) bool { return held.text == e.text }
	}
	forms, plain := formsOf(e.text), normalized(e.text)
	for i, form := range forms {
		forms[i] = strings.ToLower(form)
	}
	return func(held searched) bool {
		return len(plain) >= shortestCopy && strings.Contains(held.plain, plain) ||
			slices.ContainsFunc(forms, func(form string) bool { return strings.Contains(held.folded, form) })
	}
}

// formsOf returns the forms of a text in another column: the text itself, the text in JSON or in an array, and the
// bytes of the text as PostgreSQL shows a bytea.
func formsOf(text string) []string {
	forms := []string{text, hex.EncodeToString([]byte(text))}
	var escaped strings.Builder
	encoder := json.NewEncoder(&escaped)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(text) == nil {
		if inJSON := strings.Trim(escaped.String(), "\"\n"); inJSON != text {
			forms = append(forms, inJSON)
		}
	}
	return forms
}
