package check

import (
	"slices"

	"github.com/habeas-data/habeas/domain/datamap"
)

// Rule is a rule that Run applies to a data map.
type Rule struct {
	Code string `json:"code"` // never changes
	// Severity is the severity of the findings. Some findings are errors although their rule is a warning: a finding of
	// delete-cascades or delete-undecided if the database deletes rows of other people, and a finding of placeholder-alone
	// if the column is unique. Others are less than an error: a finding of condition-missing if the other column may
	// also tell the kind of a person, a finding of delete-restricted if a trigger may change the referring rows, and a
	// finding of trigger-refuses if the trigger refuses only some statements.
	Severity datamap.Severity `json:"severity"`
	Title    string           `json:"title"` // describes a violation of the rule, as a sentence without a full stop
}

// The codes of the rules.
const (
	nothingErased       = "nothing-erased"
	tableMissing        = "table-missing"
	columnMissing       = "column-missing"
	mapOutdated         = "map-outdated"
	primaryKeyMissing   = "primary-key-missing"
	subjectKeyShared    = "subject-key-shared"
	relationShared      = "relation-shared"
	conditionMissing    = "condition-missing"
	columnUnmapped      = "column-unmapped"
	columnUnknown       = "column-unknown"
	rowsNotLockable     = "rows-not-lockable"
	viewMapped          = "view-mapped"
	viewTrusted         = "view-trusted"
	typeDiffers         = "type-differs"
	keyType             = "key-type"
	sinceType           = "since-type"
	lengthShorter       = "length-shorter"
	surrogateType       = "surrogate-type"
	surrogateLength     = "surrogate-length"
	placeholderAlone    = "placeholder-alone"
	derivedLength       = "derived-length"
	surrogateCast       = "surrogate-cast"
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
	dutyMissing         = "duty-missing"
	tableUnmapped       = "table-unmapped"
	tableReferred       = "table-referred"
	tableUnlinked       = "table-unlinked"
	makersUnmapped      = "makers-unmapped"
	questionsOpen       = "questions-open"
	leftOutChanged      = "left-out-changed"
	tablePersonal       = "table-personal"
	tableUnknown        = "table-unknown"
	pathMissing         = "path-missing"
	personalUnannotated = "personal-unannotated"
	personalKey         = "personal-key"
	triggerCopies       = "trigger-copies"
	triggerWrites       = "trigger-writes-outside"
	triggerDeletes      = "trigger-deletes"
	triggerUnread       = "trigger-unread"
	triggerReplaces     = "trigger-replaces"
	triggerRefuses      = "trigger-refuses"
	viewCopies          = "view-copies"
	searchCopies        = "search-copies"
	rowSecurity         = "row-security"
	rowSecurityBypassed = "row-security-bypassed"
	privilegeMissing    = "privilege-missing"
	ownTablesOwned      = "own-tables-owned"
	ownTablesOwner      = "own-tables-owner"
	ownTablesGranted    = "own-tables-granted"
	ownSchemaOpen       = "own-schema-open"
	ownTableTrigger     = "own-table-trigger"
	indexMissing        = "index-missing"
	foreignKeyMissing   = "foreign-key-missing"
	foreignKeysIgnored  = "foreign-keys-ignored"
	secretKey           = "secret-key"
	secretExported      = "secret-exported"
	refShared           = "ref-shared"
	keyReused           = "key-reused"
	lifeUnknown         = "life-unknown"
	largeObject         = "large-object"

	acceptanceExpired   = "acceptance-expired"
	acceptanceUnused    = "acceptance-unused"
	acceptanceAmbiguous = "acceptance-ambiguous"
)

const (
	failure = datamap.SeverityError
	warning = datamap.SeverityWarning
	notice  = datamap.SeverityNotice
)

// rules are grouped by topic, in the order of the documentation.
var rules = []Rule{
	{nothingErased, failure, "The plan of an erasure has no steps"},
	{tableMissing, failure, "The database lacks a table of the data map"},
	{columnMissing, failure, "The database lacks a column that an erasure or an export uses"},
	{mapOutdated, warning, "The data map has a table or column that the database lacks and that no operation uses"},
	{primaryKeyMissing, warning, "The primary key of the data map is not unique in the database"},
	{subjectKeyShared, warning, "The key of the subject is not unique in the database"},
	{relationShared, warning, "A relation leads to the rows of several people"},
	{conditionMissing, failure, "A relation also takes rows that refer to other tables"},
	{columnUnmapped, failure, "An erasure would delete a column that the data map does not have"},
	{rowsNotLockable, failure, "The rows of a table cannot be locked"},
	{viewMapped, failure, "A table of the data map is a view that may leave rows out"},
	{viewTrusted, notice, "The data map trusts a view, which lint cannot check"},
	{typeDiffers, warning, "A column and its entry in the data map have different types"},
	{keyType, failure, "A key cannot be compared with the subject's id"},
	{sinceType, failure, "The start of a retention period is not an instant"},
	{lengthShorter, warning, "A column is shorter than the data map states"},

	{surrogateType, failure, "A surrogate has another type than its column"},
	{surrogateLength, failure, "A surrogate is longer than its column allows"},
	{placeholderAlone, warning, "A surrogate is only {}, which an erasure writes unchanged"},
	{derivedLength, warning, "A surrogate may be too long for a column that the database computes from it"},
	{surrogateCast, warning, "A view, a generated column or an index converts a surrogate to a type that may refuse it"},
	{nullRefused, failure, "An erasure sets a NOT NULL column to NULL"},
	{generatedWritten, failure, "An erasure overwrites a generated column"},
	{enumRefuses, failure, "A surrogate is not a label of the enum"},
	{checkViolated, failure, "A surrogate violates a CHECK constraint"},
	{checkUndecided, warning, "A surrogate may violate a CHECK constraint"},
	{uniqueViolated, failure, "Equal surrogates violate a unique constraint"},
	{uniqueUndecided, warning, "Surrogates may violate a unique or exclusion constraint"},
	{referenceWritten, failure, "A surrogate violates the foreign key of its column"},
	{referenceUndecided, warning, "A surrogate may violate the foreign key of its column"},
	{referencedWritten, failure, "An erasure overwrites a column that a foreign key refers to"},

	{deleteRestricted, failure, "A foreign key refuses the deletion of rows"},
	{deleteCascadesKept, failure, "The database deletes rows that the data map keeps"},
	{deleteCascades, warning, "The database deletes rows that are not in the data map"},
	{deleteSetsNull, failure, "ON DELETE SET NULL applies to a NOT NULL column"},
	{deleteSetsDefault, warning, "ON DELETE SET DEFAULT changes rows of other people"},
	{deleteUndecided, warning, "Rows of other people may refer to rows that are deleted"},
	{setNullMissing, failure, "The data map relies on ON DELETE SET NULL, but the foreign key does not exist"},
	{dutyMissing, warning, "An erasure deletes rows that a law may require to keep"},

	{tableUnmapped, warning, "A table refers to the subject, but is not in the data map"},
	{tableReferred, warning, "Rows of the subject refer to a table that seems to hold personal data"},
	{tableUnlinked, warning, "A table seems to refer to the subject, but is not in the data map"},
	{makersUnmapped, notice, "References that are no paths say which person created or changed a row"},
	{questionsOpen, warning, "Nobody has answered the questions of a draft"},
	{leftOutChanged, warning, "A table that a person has left out of the data map has new columns"},
	{tablePersonal, warning, "A table outside of the data map seems to hold personal data"},
	{tableUnknown, warning, "A table that may hold personal data is newer than the draft of the data map"},
	{pathMissing, warning, "A reference to a person is not marked as a path"},
	{personalUnannotated, warning, "A column seems to hold personal data, but is not annotated"},
	{columnUnknown, warning, "The data map lacks a column of a kept row that may hold personal data"},
	{personalKey, warning, "A key column seems to hold personal data, but an erasure keeps the rows"},

	{triggerCopies, failure, "A trigger keeps old values that an erasure does not reach"},
	{triggerWrites, warning, "A trigger writes to a table that is not in the data map"},
	{triggerDeletes, warning, "A trigger may delete rows of other people"},
	{triggerUnread, warning, "The tables that a trigger writes to cannot be determined"},
	{triggerReplaces, failure, "A trigger or a rule replaces or undoes a statement of an erasure"},
	{triggerRefuses, failure, "A trigger refuses a statement of an erasure"},
	{viewCopies, warning, "A materialized view keeps copies of erased data until it is refreshed"},
	{searchCopies, warning, "A full-text index keeps copies of erased data"},
	{largeObject, warning, "A large object stays when its row is erased"},

	{rowSecurity, failure, "Row-level security may hide rows of the subject"},
	{rowSecurityBypassed, notice, "Row-level security does not apply to the connection of lint"},
	{privilegeMissing, failure, "The connection lacks a privilege that an erasure needs"},
	{ownTablesOwned, notice, "The role of the connection can change the tables of habeas"},
	{ownTablesOwner, warning, "Some tables of habeas belong to another role than the rest"},
	{ownTablesGranted, warning, "A role can attach code or references to tables of habeas, or empty them"},
	{ownSchemaOpen, warning, "A role can create objects in the schema of the tables of habeas"},
	{ownTableTrigger, warning, "A trigger or rule on a table of habeas is not of habeas"},
	{indexMissing, warning, "An erasure scans a complete table, because an index is missing"},
	{foreignKeyMissing, warning, "A concurrent transaction can add a row that an erasure misses"},
	{foreignKeysIgnored, warning, "The connection does not enforce foreign keys"},
	{secretKey, warning, "A primary key seems to be a secret, but exports contain it"},
	{secretExported, warning, "A column seems to hold a secret, but exports contain it"},
	{refShared, warning, "Rows of several people can hold the same key of an external system"},
	{keyReused, failure, "The database gives the key of a deleted row to a new person"},
	{lifeUnknown, warning, "Nothing tells the row of a new person from the row of an erased one"},

	{acceptanceExpired, warning, "The acceptance of a finding has ended"},
	{acceptanceUnused, notice, "The acceptance of a finding matches no finding"},
	{acceptanceAmbiguous, notice, "The acceptance of a finding matches several findings"},
}

// Rules returns all rules that Run applies, grouped by topic.
func Rules() []Rule { return slices.Clone(rules) }

func severityOf(code string) datamap.Severity {
	return rules[indexOf(code)].Severity
}
