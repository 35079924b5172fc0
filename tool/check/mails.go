package check

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// receiverOf returns the column with the receivers of the messages in a table, such as recipient beside subject and
// body. It returns "" if there is none.
func receiverOf(table datamap.CatalogTable) string {
	text := func(among []string) func(datamap.CatalogColumn) bool {
		return func(c datamap.CatalogColumn) bool {
			isText := c.Type == datamap.TypeText && !table.IsChoice(c)
			return (isText || isDocument(c) || c.Type == datamap.TypeArray) &&
				slices.Contains(among, strings.Join(names.Words(c.Name), " "))
		}
	}
	i := slices.IndexFunc(table.Columns, text(receivers))
	if i < 0 || !slices.ContainsFunc(table.Columns, text(messages)) {
		return ""
	}
	return table.Columns[i].Name
}

var (
	receivers = terms(`
		rcpt, rcpts, rcpt to, recipient, recipients, receiver, receivers, to address, to addresses, to addr, mail to,
		email to, send to, sent to, recipient address`)
	messages = terms("subject, body, payload, message, html, html body, text body, body text, body html, content, mime")
)

// isOwnedByName reports whether a column has a name that means the owner of a row, such as uid, and the name of its
// table begins with the name of the subject's table, as user_settings does. Such a table keeps data of each person.
func isOwnedByName(table, column string, subject datamap.CatalogTable) bool {
	of, parts := names.Words(names.BaseName(subject.Name)), names.Words(names.BaseName(table))
	return len(of) > 0 && len(parts) > len(of) && names.Same(strings.Join(parts[:len(of)], " "), strings.Join(of, " ")) &&
		slices.Contains(owners, strings.ToLower(column))
}

var owners = terms("uid, owner, holder, who, belongs_to")
