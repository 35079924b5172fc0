package scaffold

import (
	"slices"
	"strings"
)

// The beginnings of questions about rows, which end with a list of columns or the name of a reference.
const (
	ofTexts = "Do further texts hold personal data ("
	ofNulls = "An erasure also writes its values into cells that are NULL ("
	ofPath  = "Its rows lead to a person by "

	ofColumns = "Columns look personal ("
	ofType    = "The column "
)

// The other parts of these questions.
const (
	onlyOfPerson = "Do its rows belong only to the person?"
	mayBeNull    = "). May these cells get a value?"
	ownRows      = ". Are they the person's own rows?"
	whose        = ". Whose rows are they?"
	mayBePerson  = " seems to name the table that it refers to. Does it lead to a person in some rows?"

	withoutForeignKey = ", which has no foreign key"
)

// foldEqual asks one question instead of equal questions about the rows of many tables. The names of columns by which
// the questions differ stand behind the name of the table.
func (d *draft) foldEqual() {
	d.foldLike(func(_ *table, asked Decision) (string, bool) { return "", asked.Question == onlyOfPerson },
		"Do their rows belong only to the person?", "delete the rows", "keep the rows", "leave the tables out")
	d.foldLike(between(ofTexts, ")?"), "Do these further texts hold personal data?", "no: leave them as they are",
		"yes: annotate them")
	d.foldLike(between(ofNulls, mayBeNull), "An erasure also writes its values into cells of these columns that are "+
		"NULL. May these cells get a value?", "yes", "no: set the columns to NULL (erasure null)")
	leave, take := "no: leave the tables out", "yes: take them in with --include"
	d.foldLike(offered(ownRows), "Their rows lead to a person by these columns. Are some of them the person's own rows?",
		leave, take)
	d.foldLike(offered(withoutForeignKey+ownRows), "Their rows lead to a person by these columns, which have no foreign "+
		"key. Are some of them the person's own rows?", leave, take)
	d.foldLike(between(ofColumns, "), but no relation leads to "+d.subject.Name+whose), "These columns look personal, "+
		"but no relation leads to "+d.subject.Name+". Whose rows are they?", "leave them out", "add relations",
		"make them part of another data map")
	d.foldTypes()
}

// offered returns a function that returns the column in a question whose answer may be to include the table alone. The
// effect of this answer, see staying, does not matter: the result of --include states it in the note of each table.
func offered(end string) func(*table, Decision) (string, bool) {
	return func(t *table, asked Decision) (string, bool) {
		asked.Question = strings.TrimSuffix(asked.Question, staying)
		about, ok := between(ofPath, end)(t, asked)
		return about, ok && !strings.ContainsAny(about, " ,") && slices.Contains(asked.Options, offer+t.Name)
	}
}

// foldTypes asks one question about polymorphic references instead of one for each of many tables.
func (d *draft) foldTypes() {
	isType := func(asked Decision) bool {
		_, ok := between(ofType, mayBePerson)(nil, asked)
		return ok && asked.Column != ""
	}
	var columns []string
	tables := 0
	for _, t := range d.tables {
		if slices.ContainsFunc(t.asked, isType) {
			tables++
		}
		for _, asked := range t.asked {
			if isType(asked) {
				columns = append(columns, t.Name+"."+asked.Column)
			}
		}
	}
	if tables <= mostTables {
		return
	}
	for _, t := range d.tables {
		t.asked = slices.DeleteFunc(slices.Clone(t.asked), isType)
	}
	d.subject.ask("", "Columns "+strings.Join(columns, ", ")+": A column beside each of them seems to name the table "+
		"that it refers to. Do they lead to a person in some rows?", "no", "yes: add relations with when and path")
}

// between returns a function that returns the text of a question between its beginning and its end.
func between(begin, end string) func(*table, Decision) (string, bool) {
	return func(_ *table, asked Decision) (string, bool) {
		rest, begins := strings.CutPrefix(asked.Question, begin)
		about, ends := strings.CutSuffix(rest, end)
		return about, begins && ends
	}
}

// foldLike asks a question about the subject's table instead of the questions about rows for which like is true, if
// these are about many tables. The function like also returns the columns that such a question is about.
func (d *draft) foldLike(
	like func(*table, Decision) (about string, ok bool), question, chosen string, others ...string,
) {
	var list []string
	isLike := func(t *table) func(Decision) bool {
		return func(asked Decision) bool {
			_, ok := like(t, asked)
			return ok && asked.Column == ""
		}
	}
	var folded []*table
	for _, t := range d.tables {
		i := slices.IndexFunc(t.asked, isLike(t))
		if i < 0 || t == d.subject || !t.chosen && t.fate != left {
			continue
		}
		about, _ := like(t, t.asked[i])
		if about != "" {
			about = " (" + about + ")"
		}
		folded, list = append(folded, t), append(list, t.Name+about)
	}
	if len(folded) <= mostTables {
		return
	}
	for _, t := range folded {
		t.asked, t.folded = slices.DeleteFunc(slices.Clone(t.asked), isLike(t)), true
	}
	d.subject.ask("", "Tables "+strings.Join(list, ", ")+": "+question, chosen, others...)
}
