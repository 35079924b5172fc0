package check

import "github.com/habeas-data/habeas/domain/datamap"

// checkEncoding reports a database that does not keep its texts in UTF-8. The reader of the catalog refuses a
// connection with another client_encoding.
func (s *schema) checkEncoding() {
	at := place{table: s.SubjectTable().Name, object: s.catalog.Encoding}
	const remedy = "Move the database to UTF8. If it must stay as it is, accept the finding."
	switch s.catalog.Encoding {
	case "", "UTF8":
	case "SQL_ASCII":
		s.report("encoding-other", at,
			"The encoding of the database is SQL_ASCII: it neither checks nor converts the bytes of a "+
				"text. An export cannot read a text that is not in UTF-8, and an erasure may not find its rows.", remedy)
	default:
		s.reportAs(datamap.SeverityNotice, "encoding-other", at, "The encoding of the database is "+s.catalog.Encoding+
			", which lacks characters. habeas cannot write a text with such a character, for example a correction.", remedy)
	}
}
