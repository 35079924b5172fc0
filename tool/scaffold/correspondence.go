package scaffold

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// askForCorrespondence asks whether the texts of correspondence may go, if an erasure overwrites or deletes them:
// letters of a business must often be kept, and an answer or a forwarded message holds the words of others.
func (t *table) askForCorrespondence() {
	from, to := t.ends()
	var texts []string
	for _, c := range t.columns {
		isText := c.Personal != nil && c.Personal.Category == domain.CategoryCommunication
		if isText && (t.rowsDeleted || isWritten(c)) {
			texts = append(texts, c.Name)
		}
	}
	if t.isSubject || from == "" || to == "" || len(texts) == 0 {
		return
	}
	effect, chosen, other := "overwrites", "overwrite them", "leave them as they are: remove their annotations"
	if t.rowsDeleted {
		effect, chosen, other = "deletes", "delete the rows", "keep the rows"
	}
	t.ask("", from+" and "+to+" suggest correspondence. An erasure "+effect+" its texts ("+strings.Join(texts, ", ")+
		"), which may also hold words of other people. May they go?", chosen, other,
		"keep them by law, with a reason (retain)")
}

// ends returns the columns with the sender and the recipient of a message, or "". At least one of them does not refer
// to a row of a person: a message between two people of the subject's table is asked about by its paths.
func (t *table) ends() (from, to string) {
	isNamed := false
	for _, c := range t.Columns {
		isText := slices.Contains([]datamap.ColumnType{datamap.TypeText, datamap.TypeArray, datamap.TypeJSON}, c.Type)
		switch {
		case !isText && !t.refers(c.Name):
			continue
		case from == "" && names.IsFrom(c.Name):
			from = c.Name
		case to == "" && names.IsTo(c.Name):
			to = c.Name
		default:
			continue
		}
		isNamed = isNamed || !t.refers(c.Name)
	}
	if !isNamed {
		return "", ""
	}
	return from, to
}

// isMailing reports whether each row seems to be a message that a person has written to other people, such as a
// newsletter. No column says who has received it, and the receivers may need it without her, too. A mail need not be
// such a message if the application declares that it goes with the person, unless she is its author.
func (t *table) isMailing() bool {
	label, isMailbox := t.paths[0].label(), t.hasWord([]string{"cc", "bcc", "uid"})
	isMail := names.Is(t.Name, names.Mails) && !isMailbox &&
		(!t.goesAlong || names.Sends(label) || names.Creates(label))
	if len(t.paths) != 1 || !isMail && !names.Is(t.Name, names.Mailings) {
		return false
	}
	return slices.ContainsFunc(t.Columns, isOfMail) && !slices.ContainsFunc(t.Columns, func(c datamap.CatalogColumn) bool {
		return names.IsTo(c.Name) || t.found[c.Name].Category == domain.CategoryContact
	})
}

// isOfMail reports whether the name of a column means the subject or the text of a message.
func isOfMail(c datamap.CatalogColumn) bool {
	return slices.ContainsFunc(names.Words(c.Name), func(word string) bool {
		return slices.Contains([]string{"subject", "body", "content", "text", "message", "html", "betreff", "inhalt"}, word)
	}) && slices.Contains([]datamap.ColumnType{datamap.TypeText, datamap.TypeJSON}, c.Type)
}

// isLetter reports whether a row of notices seems to be a message that one person has sent to another: columns refer to
// both, and it has a subject, or a text that no column marks as read.
func (t *table) isLetter() bool {
	has := func(fits func(string) bool) bool {
		return slices.ContainsFunc(t.Columns, func(c datamap.CatalogColumn) bool {
			_, isReference := names.Stem(c.Name)
			return isReference && fits(c.Name)
		})
	}
	hasSubject := slices.ContainsFunc(t.Columns, func(c datamap.CatalogColumn) bool {
		return isOfMail(c) && slices.Contains(names.Words(c.Name), "subject")
	})
	return has(names.Sends) && has(names.Receives) &&
		(hasSubject || slices.ContainsFunc(t.Columns, isOfMail) && !t.isMarkedRead())
}
