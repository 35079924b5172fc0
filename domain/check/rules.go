package check

import (
	"slices"

	"github.com/habeas-data/habeas/domain"
)

// Rule is a rule that a Checker holds a data map against.
type Rule struct {
	Code     string          `json:"code"` // never changes
	Severity domain.Severity `json:"severity"`
	Title    string          `json:"title"` // what a finding of the rule says, in a sentence without a full stop
}

// The codes of the rules.
const (
	tableMissing        = "table-missing"
	columnMissing       = "column-missing"
	mapOutdated         = "map-outdated"
	primaryKeyMissing   = "primary-key-missing"
	subjectKeyShared    = "subject-key-shared"
	columnUnmapped      = "column-unmapped"
	rowsNotLockable     = "rows-not-lockable"
	viewMapped          = "view-mapped"
	typeDiffers         = "type-differs"
	keyType             = "key-type"
	sinceType           = "since-type"
	lengthShorter       = "length-shorter"
	surrogateType       = "surrogate-type"
	surrogateLength     = "surrogate-length"
	nullRefused         = "null-refused"
	generatedWritten    = "generated-written"
	enumRefuses         = "enum-refuses"
	checkViolated       = "check-violated"
	checkUndecided      = "check-undecided"
	uniqueViolated      = "unique-violated"
	uniqueUndecided     = "unique-undecided"
	referenceWritten    = "reference-overwritten"
	referenceUndecided  = "reference-undecided"
	referencedWritten   = "referenced-overwritten"
	deleteRestricted    = "delete-restricted"
	deleteCascadesKept  = "delete-cascades-to-kept"
	deleteCascades      = "delete-cascades"
	deleteSetsNull      = "delete-sets-null"
	deleteSetsDefault   = "delete-sets-default"
	deleteUndecided     = "delete-undecided"
	setNullMissing      = "set-null-missing"
	tableUnmapped       = "table-unmapped"
	tableUnlinked       = "table-unlinked"
	tablePersonal       = "table-personal"
	pathMissing         = "path-missing"
	personalUnannotated = "personal-unannotated"
	personalKey         = "personal-key"
	triggerCopies       = "trigger-copies"
	triggerWrites       = "trigger-writes-outside"
	triggerUnread       = "trigger-unread"
	triggerReplaces     = "trigger-replaces"
	viewCopies          = "view-copies"
	searchCopies        = "search-copies"
	rowSecurity         = "row-security"
	privilegeMissing    = "privilege-missing"
	indexMissing        = "index-missing"
	secretKey           = "secret-key"
	secretExported      = "secret-exported"
)

const (
	failure = domain.SeverityError
	warning = domain.SeverityWarning
)

// rules are in the order of the documentation: by what they are about.
var rules = []Rule{
	{tableMissing, failure, "The database lacks a table of the data map"},
	{columnMissing, failure, "The database lacks a column that an erasure or an export uses"},
	{mapOutdated, warning, "The data map has something that the database lacks and that no operation uses"},
	{primaryKeyMissing, warning, "The primary key of the data map is not unique in the database"},
	{subjectKeyShared, warning, "The key of the subject is not unique in the database"},
	{columnUnmapped, failure, "An erasure would delete a column that the data map does not have"},
	{rowsNotLockable, failure, "The rows of a table cannot be locked"},
	{viewMapped, warning, "A table of the data map is a view that may leave rows out"},
	{typeDiffers, warning, "A column has another type than the data map says"},
	{keyType, failure, "A key cannot be compared with the subject's id"},
	{sinceType, failure, "The start of a retention is not an instant"},
	{lengthShorter, warning, "A column is shorter than the data map says"},

	{surrogateType, failure, "A surrogate has another type than its column"},
	{surrogateLength, failure, "A surrogate is longer than its column"},
	{nullRefused, failure, "A column that is to be set to NULL is NOT NULL"},
	{generatedWritten, failure, "A generated column is to be overwritten"},
	{enumRefuses, failure, "A surrogate is not a label of the enum"},
	{checkViolated, failure, "A surrogate breaks a CHECK constraint"},
	{checkUndecided, warning, "It cannot be decided whether a surrogate breaks a CHECK constraint"},
	{uniqueViolated, failure, "Equal surrogates break a unique constraint"},
	{uniqueUndecided, warning, "It cannot be decided whether surrogates break a unique or exclusion constraint"},
	{referenceWritten, failure, "A surrogate breaks the foreign key of its column"},
	{referenceUndecided, warning, "It cannot be decided whether a surrogate satisfies the foreign key of its column"},
	{referencedWritten, failure, "A column is to be overwritten that a foreign key refers to"},

	{deleteRestricted, failure, "A foreign key refuses the deletion of rows"},
	{deleteCascadesKept, failure, "The database deletes rows that the data map keeps"},
	{deleteCascades, warning, "The database deletes rows that are not in the data map"},
	{deleteSetsNull, failure, "ON DELETE SET NULL meets a column that is NOT NULL"},
	{deleteSetsDefault, warning, "ON DELETE SET DEFAULT changes rows of others"},
	{deleteUndecided, warning, "Rows of other people may refer to rows that are deleted"},
	{setNullMissing, failure, "The data map relies on ON DELETE SET NULL, and there is no such foreign key"},

	{tableUnmapped, warning, "A table refers to the subject and is not in the data map"},
	{tableUnlinked, warning, "A table seems to refer to the subject, and is not in the data map"},
	{tablePersonal, warning, "A table outside of the data map seems to hold personal data"},
	{pathMissing, warning, "A reference to the subject is not a path"},
	{personalUnannotated, warning, "A column seems to hold personal data and is not annotated"},
	{personalKey, warning, "A key that stays seems to hold personal data"},

	{triggerCopies, failure, "A trigger keeps old values in a table that is not in the data map"},
	{triggerWrites, warning, "A trigger writes to a table that is not in the data map"},
	{triggerUnread, warning, "It cannot be determined where a trigger writes"},
	{triggerReplaces, failure, "A trigger or a rule takes the place of a statement of an erasure"},
	{viewCopies, warning, "A materialized view keeps copies until it is refreshed"},
	{searchCopies, warning, "A full-text index keeps copies"},

	{rowSecurity, failure, "Row-level security may hide rows of the subject"},
	{privilegeMissing, failure, "The connection lacks a privilege that an erasure needs"},
	{indexMissing, warning, "An erasure would read a whole table, because there is no index"},
	{secretKey, warning, "A primary key that exports show seems to be a secret"},
	{secretExported, warning, "A column that exports show seems to hold a secret"},
}

// Rules returns the rules, in the order of the documentation.
func Rules() []Rule { return slices.Clone(rules) }

func severityOf(code string) domain.Severity {
	i := slices.IndexFunc(rules, func(r Rule) bool { return r.Code == code })
	return rules[i].Severity
}
