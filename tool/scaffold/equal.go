package scaffold

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// The beginnings of questions about rows, which end with a list of columns or the name of a reference.
const (
	ofTexts = "Do further texts hold personal data ("
	ofPath  = "Its rows lead to a person by "

	ofColumns = "Columns look personal ("
	ofType    = "The column "
)

// The other parts of these questions.
const (
	onlyOfPerson = "Do its rows belong only to the person?"
	ownRows      = ". Are they the person's own rows?"
	noPersonal   = ", but no column looks personal. Do they hold data of the person?"
	whose        = ". Whose rows are they?"
	mayBePerson  = " seems to name the table that it refers to. Does it lead to a person in some rows?"

	withoutForeignKey = ", which has no foreign key"
)

// foldEqual asks one question instead of equal questions about the rows of many tables. The names of columns by which
// the questions differ stand behind the name of the table.
func (d *draft) foldEqual() {
	d.foldLike(func(_ *table, asked Decision) (string, bool) { return "", asked.Question == onlyOfPerson }, ruleOf,
		"Do their rows belong only to the person?", "delete the rows", "keep the rows", "leave the tables out")
	d.foldLike(between(ofTexts, ")?"), alike, "Do these further texts hold personal data?", "no: leave them as they are",
		"yes: annotate them")
	leave, take := "no: leave the tables out", "yes: take them in with --include"
	d.foldLike(offered(ownRows), ruleOf, "Their rows lead to a person by these columns. Are some of them the person's "+
		"own rows?", leave, take)
	d.foldLike(offered(withoutForeignKey+ownRows), ruleOf, "Their rows lead to a person by these columns, which have no "+
		"foreign key. Are some of them the person's own rows?", leave, take)
	d.foldLike(between(ofPath, noPersonal), alike, "Their rows lead to a person by these columns, but no column looks "+
		"personal. Do they hold data of the person?", leave, "yes: add them to the data map, and annotate their columns")
	d.foldLike(between(ofColumns, "), but no relation leads to "+d.subject.Name+whose), (*table).holds, "These columns "+
		"look personal, but no relation leads to "+d.subject.Name+". Whose rows are they?", "leave them out",
		"add relations", "make them part of another data map")
	d.foldTypes()
}

// offered returns a function that returns the column in a question whose answer may be to include the table alone. The
// effect of this answer, see staying, does not matter: the result of --include states it in the note of each table.
func offered(end string) func(*table, Decision) (string, bool) {
	return func(t *table, asked Decision) (string, bool) {
		asked.Question = strings.TrimSuffix(asked.Question, staying)
		var further []string
		asked.Question, further = cutFurther(asked.Question)
		about, ok := between(ofPath, end)(t, asked)
		ok = ok && !strings.ContainsAny(about, " ,")
		return strings.Join(append([]string{about}, further...), ", "), ok && slices.Contains(asked.Options, offer+t.Name)
	}
}

// cutFurther returns a question without the clauses of furtherPeople, and the columns in these clauses.
func cutFurther(question string) (rest string, columns []string) {
	for begin, end := range map[string]string{furtherReferences: ")", furtherColumns: " foreign key"} {
		before, after, ok := strings.Cut(question, begin)
		list, after, ends := strings.Cut(after, end)
		if ok && ends {
			list, _, _ = strings.Cut(list, ", which ha")
			question, columns = before+after, append(columns, list)
		}
	}
	slices.Sort(columns)
	return question, columns
}

// foldTypes asks one question about polymorphic references instead of one for each of many tables.
func (d *draft) foldTypes() {
	isType := func(asked Decision) bool {
		_, ok := between(ofType, mayBePerson)(nil, asked)
		return ok && asked.Column != ""
	}
	var columns []stray
	tables := 0
	for _, t := range d.tables {
		if slices.ContainsFunc(t.asked, isType) {
			tables++
		}
		for _, asked := range t.asked {
			if isType(asked) {
				columns = append(columns, stray{t, asked.Column})
			}
		}
	}
	if tables <= mostTables {
		return
	}
	for _, t := range d.tables {
		t.asked = slices.DeleteFunc(slices.Clone(t.asked), isType)
	}
	d.askTogether(columns, "A column beside each of them seems to name the table that it refers to. Do they lead to a "+
		"person in some rows?", "no", "yes: add relations with when and path")
}

// between returns a function that returns the text of a question between its beginning and its end.
func between(begin, end string) func(*table, Decision) (string, bool) {
	return func(_ *table, asked Decision) (string, bool) {
		rest, begins := strings.CutPrefix(asked.Question, begin)
		about, ends := strings.CutSuffix(rest, end)
		return about, begins && ends
	}
}

// alike is the kind of all tables in a question that has one answer for all of them.
func alike(*table) string { return "" }

// ruleOf returns the rule by which the draft has chosen the fate of a table: the reason without the names in it.
func ruleOf(t *table) string {
	rule := t.reason
	for _, r := range t.out {
		rule = strings.ReplaceAll(strings.ReplaceAll(rule, r.to.Name, ""), r.label(), "")
	}
	return rule
}

// holds returns the most telling kind of personal data in a table: people, traces of them, places or texts.
func (t *table) holds() string {
	kinds := []string{"people", "traces", "places", "texts"}
	best := len(kinds) - 1
	for _, m := range t.found {
		kind := 0
		switch {
		case m.Secret, m.Category == domain.CategoryCommunication:
			continue
		case m.Category == domain.CategoryTechnical, m.Category == domain.CategoryBehavioral:
			kind = 1
		case m.Category == domain.CategoryLocation, m.Means == names.Address:
			kind = 2
		}
		best = min(best, kind)
	}
	return kinds[best]
}

// foldLike asks a question about the subject's table instead of the questions about rows for which like is true, if
// these are about many tables. Tables of unlike kinds stay apart, because one answer must fit each table of a question.
// The function like also returns the columns that such a question is about.
func (d *draft) foldLike(
	like func(*table, Decision) (about string, ok bool), kind func(*table) string, question, chosen string,
	others ...string,
) {
	isLike := func(t *table) func(Decision) bool {
		return func(asked Decision) bool {
			_, ok := like(t, asked)
			return ok && asked.Column == ""
		}
	}
	tables := slices.DeleteFunc(slices.Clone(d.tables), func(t *table) bool {
		return t == d.subject || !t.chosen && t.fate != left || !slices.ContainsFunc(t.asked, isLike(t))
	})
	if len(tables) <= mostTables {
		return
	}
	var kinds []string
	ofKind := map[string][]*table{}
	for _, t := range tables {
		if _, ok := ofKind[kind(t)]; !ok {
			kinds = append(kinds, kind(t))
		}
		ofKind[kind(t)] = append(ofKind[kind(t)], t)
	}
	for _, key := range kinds {
		if len(ofKind[key]) < 2 { //nolint:mnd // a question about one table stays with it
			continue
		}
		var list []string
		for _, t := range ofKind[key] {
			about, _ := like(t, t.asked[slices.IndexFunc(t.asked, isLike(t))])
			if about != "" {
				about = " (" + about + ")"
			}
			list = append(list, t.Name+about)
			t.asked, t.folded = slices.DeleteFunc(slices.Clone(t.asked), isLike(t)), true
		}
		d.subject.ask("", "Tables "+strings.Join(list, ", ")+": "+question, chosen, others...)
	}
}
