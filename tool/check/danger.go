package check

import (
	"cmp"
	"slices"

	"github.com/habeas-data/habeas/domain/datamap"
)

// leaving are the rules about erasures that leave personal data, or that change the data of other people.
var leaving = []string{
	nothingErased, subjectKeyShared, relationShared, viewMapped, deleteCascadesKept, deleteCascades, deleteSetsDefault,
	deleteUndecided, setNullMissing, tableUnmapped, tableReferred, tableUnlinked, makersUnmapped, questionsOpen,
	leftOutChanged, tablePersonal, tableUnknown, pathMissing, personalUnannotated, columnUnknown, personalKey,
	triggerCopies, triggerWrites, triggerDeletes, triggerUnread, triggerReplaces,
	viewCopies, searchCopies, largeObject, rowSecurity, refShared, secretKey, secretExported, keyReused,
}

// minor are the rules about speed and about the data map itself.
var minor = []string{
	mapOutdated, typeDiffers, lengthShorter, indexMissing, viewTrusted, acceptanceExpired,
	acceptanceUnused, acceptanceAmbiguous,
}

// CompareDanger orders findings by their danger, for slices.SortFunc. Errors come first, then warnings, then notices.
// Within a severity, these kinds of rules follow each other:
//
//   - an erasure leaves personal data, or changes the data of other people
//   - an erasure fails
//   - an erasure is slow, or the data map needs care
//
// Within a kind, the order is that of Rules.
func CompareDanger(a, b datamap.Finding) int {
	severities := []datamap.Severity{datamap.SeverityError, datamap.SeverityWarning, datamap.SeverityNotice}
	return cmp.Or(
		cmp.Compare(slices.Index(severities, a.Severity), slices.Index(severities, b.Severity)),
		cmp.Compare(kindOf(a.Code), kindOf(b.Code)), cmp.Compare(indexOf(a.Code), indexOf(b.Code)),
	)
}

func kindOf(code string) int {
	switch {
	case slices.Contains(leaving, code):
		return 0
	case slices.Contains(minor, code):
		return 2
	default:
		return 1
	}
}

func indexOf(code string) int {
	return slices.IndexFunc(rules, func(r Rule) bool { return r.Code == code })
}
