package scaffold

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/dictionary"
	"github.com/habeas-data/habeas/tool/internal/facts"
)

// notPersonal is the option that a column holds no personal data.
const notPersonal = "not-personal"

// mapPerson takes in the subject's table, whose row an erasure overwrites. It asks whether the row goes instead, what
// closes the account, and about the columns that the dictionary does not know.
func (d *draft) mapPerson() {
	t := d.subject
	if d.former.IsZero() {
		m := d.mapAs(t, "overwrite")
		m.SubjectKey = d.subjectID
		d.mapped = append(d.mapped, m)
	}
	if !d.isAnswered(t) {
		d.askForPerson()
	}
	d.askForColumns()
}

// askForPerson asks whether the row of the person stays.
func (d *draft) askForPerson() {
	t, keep := d.subject, d.mapped[0]
	gone := d.mapAs(t, "delete")
	gone.SubjectKey, gone.Name = keep.SubjectKey, keep.Name
	decision := datamap.Decision{
		Object: keep.Name, Seen: facts.Seen(t.CatalogTable), Proposed: "keep",
		Question: "The row of the person stays, and an erasure overwrites what is personal in it. Should the row go instead?",
		Options: []datamap.Option{
			{Name: "keep", Edit: datamap.Edit{Tables: []datamap.Table{keep}}},
			{Name: "delete", Edit: datamap.Edit{Tables: []datamap.Table{gone}}},
		},
	}
	if d.applies(d.mapped, decision, "delete") == nil {
		decision.Options = decision.Options[:1]
	}
	var goes, changes, refuses []string
	for _, other := range d.tables {
		for _, k := range other.ForeignKeys {
			if place := other.Name + "." + strings.Join(k.Columns, "+"); k.References == t.Name {
				switch {
				case k.OnDelete == datamap.ActionCascade:
					goes = append(goes, place)
				case k.OnDelete.Acts():
					changes = append(changes, place)
				default:
					refuses = append(refuses, place)
				}
			}
		}
	}
	for _, effect := range []struct {
		says   string
		places []string
	}{
		{"The database then deletes rows, also those that other people share: ", goes},
		{"It then clears references: ", changes},
		{"It refuses as long as rows refer to the person: ", refuses},
	} {
		if len(effect.places) > 0 {
			decision.Question += " " + effect.says + list(effect.places) + "."
		}
	}
	d.decisions = append(d.decisions, decision)
}

// askForColumns asks what closes the account, and what else in the row of the person is personal. It asks at most nine
// questions.
func (d *draft) askForColumns() {
	const mostStates = 3
	t := d.subject
	by := map[dictionary.Closing][]datamap.CatalogColumn{}
	var states, texts, others []datamap.CatalogColumn
	for _, c := range t.Columns {
		if c.Generated || d.identifies(t, c) || d.isSeen(t, c.Name) {
			continue
		}
		column, _ := t.Mapped(d.mapped[0], c.Name)
		closing := dictionary.Closes(c.Name, c.Type)
		isChoice := t.IsChoice(c) || c.Type == datamap.TypeBoolean
		switch {
		case closing == dictionary.Password, closing == dictionary.Session:
			by[closing] = append(by[closing], c)
		case c.Type == datamap.TypeJSON:
			by[dictionary.Session] = append(by[dictionary.Session], c)
		case closing == dictionary.Rights && c.Type == datamap.TypeBoolean:
			by[closing] = append(by[closing], c)
		case closing != "" && column.Personal == nil && len(states) < mostStates:
			states = append(states, c)
		case column.Personal != nil:
		case facts.IsText(t.CatalogTable, c) && !isChoice:
			texts = append(texts, c)
		default:
			others = append(others, c)
		}
	}
	overwrite := []string{"overwrite", "clear", notPersonal}
	d.askFor(t, by[dictionary.Password], "These columns let the person in. Does an erasure end that?", overwrite...)
	d.askFor(t, by[dictionary.Session], "Do these columns hold tokens or sessions, with which the person stays logged in?",
		overwrite...)
	d.askFor(t, by[dictionary.Rights], "Do these columns give the person rights, which must end?", "always:false",
		notPersonal)
	for _, c := range states {
		d.askFor(t, []datamap.CatalogColumn{c}, "Does this column say whether the person may use the application, or what "+
			"she may do? Then an erasure writes the value of a closed account, even where the column is NULL.",
			append(closedValues(t, c), notPersonal)...)
	}
	d.askFor(t, texts, "Do these texts say something about the person?", overwrite...)
	d.askFor(t, others, "Do these columns say something about the person?", notPersonal, "overwrite", "clear")
}

// askFor asks one question about columns of a mapped table. It offers the options that are possible.
func (d *draft) askFor(t *table, columns []datamap.CatalogColumn, question string, options ...string) {
	if len(columns) == 0 {
		return
	}
	at := slices.IndexFunc(d.mapped, func(m datamap.Table) bool { return t.IsCalled(m.Name) })
	decision := datamap.Decision{Object: d.mapped[at].Name, Question: question}
	for _, c := range columns {
		decision.Columns = append(decision.Columns, c.Name)
	}
	decision.Seen = decision.Columns
	for _, name := range options {
		option := datamap.Option{Name: name}
		for _, c := range columns {
			if column, ok := d.columnAs(t, c, name); ok {
				option.Edit.Columns = append(option.Edit.Columns, column)
			}
		}
		isWhole := len(option.Edit.Columns) == len(columns) || name == "overwrite" && len(option.Edit.Columns) > 0
		one := datamap.Decision{Object: decision.Object, Columns: decision.Columns, Options: []datamap.Option{option}}
		if after := d.applies(d.mapped, one, name); isWhole && after != nil {
			decision.Options = append(decision.Options, option)
			if slices.EqualFunc(after[at].Columns, d.mapped[at].Columns, sameColumn) {
				decision.Proposed = name
			}
		}
	}
	d.decisions = append(d.decisions, decision)
}

// columnAs returns a column of a mapped table as an option says. ok is false if this is impossible.
func (d *draft) columnAs(t *table, c datamap.CatalogColumn, option string) (column datamap.Column, ok bool) {
	if option == notPersonal {
		column = plain(c)
		column.NotPersonal = true
		return column, true
	}
	category, known := d.categoryOf(t, c)
	switch {
	case known:
	case t != d.subject:
		category = domain.CategoryBehavioral
	case facts.IsText(t.CatalogTable, c):
		category = domain.CategoryCommunication
	default:
		category = domain.CategoryTechnical
	}
	column = annotated(c, category)
	value, isAlways := strings.CutPrefix(option, "always:")
	switch {
	case isAlways:
		column.Personal.Strategy, column.Always, column.Surrogate = domain.StrategyAnonymize, true, value
		return column, isValid(column, value) && t.allows(column)
	case option == "clear":
		return column, t.clear(c, &column)
	default:
		return column, t.overwrite(c, &column) && (t != d.subject || column.Personal.Strategy == domain.StrategyAnonymize)
	}
}

func sameColumn(a, b datamap.Column) bool {
	if (a.Personal == nil) != (b.Personal == nil) || a.Surrogate != b.Surrogate || a.Always != b.Always {
		return false
	}
	return a.NotPersonal == b.NotPersonal && (a.Personal == nil || *a.Personal == *b.Personal)
}

// closedValues returns the options for the values of a closed account, the most likely first.
func closedValues(t *table, c datamap.CatalogColumn) (options []string) {
	closing := dictionary.Closes(c.Name, c.Type)
	isEnd := closing == dictionary.End
	values := []string{"deleted"}
	switch {
	case c.Type == datamap.TypeBoolean && isEnd:
		values = []string{"true"}
	case c.Type == datamap.TypeBoolean:
		values = []string{"false"}
	case c.Type == datamap.TypeTime:
		values = []string{"1970-01-01"}
	case c.Type == datamap.TypeArray:
		values = []string{"{}"}
	case t.IsChoice(c):
		values = c.Values
		for _, check := range t.checksOf(c.Name) {
			values = append(slices.Clone(values), literalsOf(check.Text)...)
		}
		values = neutralFirst(values)
	case closing == dictionary.Rights && c.Initial != "": // what everybody may do
		values = []string{c.Initial}
	case c.Type != datamap.TypeText:
		values = []string{"0", "1"}
		if !isEnd {
			values = []string{"0"}
		}
	}
	for _, value := range values {
		if name := "always:" + value; !slices.Contains(options, name) {
			options = append(options, name)
		}
	}
	return options
}
