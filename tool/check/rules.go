package check

import (
	"slices"

	"github.com/habeas-data/habeas/domain/datamap"
)

// Rule is a rule that Run applies to a data map.
type Rule struct {
	Code string `json:"code"` // never changes
	// Severity is the severity of the findings. Some findings are errors although their rule is a warning: a finding of
	// delete-cascades or delete-undecided if the database deletes rows of other people, and a finding of surrogate-cast if
	// the conversion surely fails. A finding of delete-restricted is a warning if a trigger may change the referring rows.
	Severity datamap.Severity `json:"severity"`
	Title    string           `json:"title"` // describes a violation of the rule, as a sentence without a full stop
}

// The codes of the rules.
const (
	nothingErased        = "nothing-erased"
	decisionContradicted = "decision-contradicted"
	decisionChanged      = "decision-changed"
	decisionOpen         = "decision-open"
	decisionUnreasoned   = "decision-unreasoned"
	tableUndecided       = "table-undecided"
	columnUndecided      = "column-undecided"
	personalUnannotated  = "personal-unannotated"
	personalKey          = "personal-key"
	pathMissing          = "path-missing"
	conditionMissing     = "condition-missing"
	subjectKeyShared     = "subject-key-shared"
	relationShared       = "relation-shared"
	accountOpen          = "account-open"
	deleteCascadesKept   = "delete-cascades-to-kept"
	deleteCascades       = "delete-cascades"
	deleteUndecided      = "delete-undecided"
	deleteSetsDefault    = "delete-sets-default"
	setNullMissing       = "set-null-missing"
	updateCascades       = "update-cascades"
	triggerReplaces      = "trigger-replaces"
	triggerWrites        = "trigger-writes"
	triggerDeletes       = "trigger-deletes"
	triggerFires         = "trigger-fires"
	viewMapped           = "view-mapped"
	viewCopies           = "view-copies"
	searchCopies         = "search-copies"
	largeObject          = "large-object"
	rowSecurity          = "row-security"
	refShared            = "ref-shared"
	secretKey            = "secret-key"
	secretExported       = "secret-exported"
	keyReused            = "key-reused"
	lifeUnknown          = "life-unknown"
	tableMissing         = "table-missing"
	columnMissing        = "column-missing"
	columnUnmapped       = "column-unmapped"
	primaryKeyMissing    = "primary-key-missing"
	rowsNotLockable      = "rows-not-lockable"
	viewUnlockable       = "view-unlockable"
	partitionMissing     = "partition-missing"
	partitionMoved       = "partition-moved"
	conflictClause       = "conflict-clause"
	replicaIdentity      = "replica-identity-missing"
	relationLoose        = "relation-loose"
	sinceUnreadable      = "since-unreadable"
	encodingOther        = "encoding-other"
	keyType              = "key-type"
	sinceType            = "since-type"
	surrogateType        = "surrogate-type"
	surrogateLength      = "surrogate-length"
	placeholderAlone     = "placeholder-alone"
	derivedLength        = "derived-length"
	surrogateCast        = "surrogate-cast"
	nullRefused          = "null-refused"
	generatedWritten     = "generated-written"
	enumRefuses          = "enum-refuses"
	checkViolated        = "check-violated"
	checkUndecided       = "check-undecided"
	uniqueViolated       = "unique-violated"
	uniqueUndecided      = "unique-undecided"
	referenceWritten     = "reference-overwritten"
	referenceUndecided   = "reference-undecided"
	referencedWritten    = "referenced-overwritten"
	deleteRestricted     = "delete-restricted"
	deleteSetsNull       = "delete-sets-null"
	privilegeMissing     = "privilege-missing"
	foreignKeyMissing    = "foreign-key-missing"
	foreignKeysIgnored   = "foreign-keys-ignored"
	ownTablesOwner       = "own-tables-owner"
	ownTablesGranted     = "own-tables-granted"
	ownSchemaOpen        = "own-schema-open"
	ownTableTrigger      = "own-table-trigger"
	ownTablesOwned       = "own-tables-owned"
	rowSecurityBypassed  = "row-security-bypassed"
	viewTrusted          = "view-trusted"
	typeDiffers          = "type-differs"
	lengthShorter        = "length-shorter"
	mapOutdated          = "map-outdated"
	indexMissing         = "index-missing"

	acceptanceExpired   = "acceptance-expired"
	acceptanceUnused    = "acceptance-unused"
	acceptanceAmbiguous = "acceptance-ambiguous"
)

const (
	failure = datamap.SeverityError
	warning = datamap.SeverityWarning
	notice  = datamap.SeverityNotice
)

// rules are in the order of their danger: an erasure leaves personal data or changes the data of other people, then it
// fails, then it is slow, or the data map needs care.
var rules = []Rule{
	{nothingErased, failure, "The plan of an erasure has no steps"},
	{decisionContradicted, failure, "The data map says something else than the answer to a question"},
	{decisionChanged, warning, "A table has new columns or references since a person decided about it"},
	{decisionOpen, warning, "Nobody has answered a question of the draft"},
	{decisionUnreasoned, warning, "An answer leaves out what is named like personal data, without a reason"},
	{tableUndecided, warning, "Nobody has decided about a table that is not in the data map"},
	{columnUndecided, warning, "Nobody has decided about a column of the data map"},
	{personalUnannotated, warning, "A column is named like personal data, but is not annotated"},
	{personalKey, warning, "A key column is named like personal data, but an erasure keeps the rows"},
	{pathMissing, warning, "A reference to a person is not marked as a path"},
	{conditionMissing, warning, "A relation may also take rows that refer to other tables"},
	{subjectKeyShared, warning, "The key of the subject is not unique in the database"},
	{relationShared, warning, "A relation leads to the rows of several people"},
	{relationLoose, warning, "Rows would refer to a person if case and spaces did not count"},
	{accountOpen, warning, "A column that lets a person in, or gives rights, stays after an erasure"},
	{deleteCascadesKept, failure, "The database deletes rows that the data map keeps"},
	{deleteCascades, warning, "The database deletes rows that are not in the data map"},
	{deleteUndecided, warning, "Rows of other people may refer to rows that are deleted"},
	{deleteSetsDefault, warning, "ON DELETE SET DEFAULT changes rows of other people"},
	{setNullMissing, failure, "The data map relies on ON DELETE SET NULL, but the foreign key does not exist"},
	{updateCascades, warning, "The database changes other rows with an overwritten column"},
	{conflictClause, warning, "A conflict clause of SQLite deletes or skips rows in place of an error"},
	{partitionMoved, warning, "An erasure moves a row to another partition"},
	{triggerReplaces, failure, "A rule replaces a statement of an erasure"},
	{triggerWrites, warning, "A trigger that an erasure fires writes to a table of the data map"},
	{triggerDeletes, warning, "A trigger that an erasure fires deletes rows of a table of the data map"},
	{triggerFires, warning, "An erasure fires a trigger"},
	{viewMapped, failure, "A table of the data map is a view that may leave rows out"},
	{viewCopies, warning, "A materialized view keeps copies of erased data until it is refreshed"},
	{searchCopies, warning, "A full-text index keeps copies of erased data"},
	{largeObject, warning, "A large object stays when its row is erased"},
	{rowSecurity, failure, "Row-level security may hide rows of the subject"},
	{refShared, warning, "Rows of several people can hold the same key of an external system"},
	{secretKey, warning, "A primary key seems to be a secret, but exports contain it"},
	{secretExported, warning, "A column seems to hold a secret, but exports contain it"},
	{keyReused, failure, "The database gives the key of a deleted row to a new person"},
	{lifeUnknown, warning, "Nothing tells the row of a new person from the row of an erased one"},
	{tableMissing, failure, "The database lacks a table of the data map"},
	{columnMissing, failure, "The database lacks a column that an erasure or an export uses"},
	{columnUnmapped, failure, "An erasure would delete a column that the data map does not have"},
	{primaryKeyMissing, warning, "The primary key of the data map is not unique in the database"},
	{rowsNotLockable, failure, "The rows of a table cannot be locked"},
	{viewUnlockable, failure, "A table of the data map is a view whose rows cannot be locked or changed"},
	{replicaIdentity, failure, "A publication refuses to change rows without a replica identity"},
	{partitionMissing, failure, "No partition takes a row with the surrogate"},
	{encodingOther, warning, "The encoding of the database is not UTF8"},
	{keyType, failure, "A key cannot be compared with the subject's id"},
	{sinceType, failure, "The start of a retention period is not an instant"},
	{sinceUnreadable, warning, "The start of a retention period cannot be read in some rows"},
	{surrogateType, failure, "A surrogate has another type than its column"},
	{surrogateLength, failure, "A surrogate is longer than its column allows"},
	{placeholderAlone, failure, "A unique surrogate is only {}, which an erasure writes unchanged"},
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
	{deleteSetsNull, failure, "ON DELETE SET NULL applies to a NOT NULL column"},
	{privilegeMissing, failure, "The connection lacks a privilege that an erasure needs"},
	{foreignKeyMissing, warning, "A concurrent transaction can add a row that an erasure misses"},
	{foreignKeysIgnored, warning, "The connection does not enforce foreign keys"},
	{ownTablesOwner, warning, "Some tables of habeas belong to another role than the rest"},
	{ownTablesGranted, warning, "A role can attach code or references to tables of habeas, or empty them"},
	{ownSchemaOpen, warning, "A role can create objects in the schema of the tables of habeas"},
	{ownTableTrigger, warning, "A trigger or rule on a table of habeas is not of habeas"},
	{ownTablesOwned, notice, "The role of the connection can change the tables of habeas"},
	{rowSecurityBypassed, notice, "Row-level security does not apply to the connection of lint"},
	{viewTrusted, notice, "The data map trusts a view, which lint cannot check"},
	{typeDiffers, warning, "A column and its entry in the data map have different types"},
	{lengthShorter, warning, "A column is shorter than the data map states"},
	{mapOutdated, warning, "The data map has a table or column that the database lacks and that no operation uses"},
	{indexMissing, warning, "An erasure scans a complete table, because an index is missing"},
	{acceptanceExpired, warning, "The acceptance of a finding has ended"},
	{acceptanceUnused, notice, "The acceptance of a finding matches no finding"},
	{acceptanceAmbiguous, notice, "The acceptance of a finding matches several findings"},
}

// Rules returns all rules that Run applies, in the order of their danger.
func Rules() []Rule { return slices.Clone(rules) }

func severityOf(code string) datamap.Severity {
	return rules[indexOf(code)].Severity
}
