package check

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// reportMaker is report for a finding about a reference that only says who created or changed a row. The finding
// becomes a part of the notice makers-unmapped.
func (s *schema) reportMaker(code string, at place, reason, remedy string) {
	s.report(code, at, reason, remedy)
	s.parts[part{code, at}] = makersUnmapped
}

// foldMakers replaces the parts of makers-unmapped by one notice. There is no notice if all of the parts are columns of
// the data map, because nothing has to be done about them.
func (s *schema) foldMakers() {
	makers := s.takeParts(makersUnmapped)
	if slices.ContainsFunc(makers, func(f datamap.Finding) bool { return f.Code != pathMissing }) {
		s.report(makersUnmapped, place{table: s.SubjectTable().Name}, makersSentence(makers)+
			"An erasure keeps the person's row without personal data, so that these references lead to nobody.",
			"If the rows are about that person, add the table to the data map, or mark the column as a path. If not, accept "+
				"the finding.")
	}
}

// makersSentence returns sentences that list the tables outside the data map, and the columns of the data map, that
// only say who created or changed a row.
func makersSentence(makers []datamap.Finding) (text string) {
	columns, tables := slices.Clone(makers), []datamap.Finding{}
	columns = slices.DeleteFunc(columns, func(f datamap.Finding) bool {
		if f.Code != pathMissing {
			tables = append(tables, f)
		}
		return f.Code != pathMissing
	})
	if len(tables) > 0 {
		refer := " refer"
		if len(tables) == 1 {
			refer = " refers"
		}
		text = tablesOutside(len(tables)) + refer + " to a person only as the one who created or changed a row: " +
			placesOf(tables, func(f datamap.Finding) string { return f.Table }) + ". "
	}
	if len(columns) > 0 {
		text += "Columns of the data map that only say who created or changed a row, and are no paths: " +
			placesOf(columns, wherePlaced) + ". "
	}
	return text
}

func placesOf(findings []datamap.Finding, where func(datamap.Finding) string) string {
	var all []string
	for _, f := range findings {
		all = append(all, where(f))
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ", ")
}

// refersToMakersOnly reports whether a table outside the data map refers to people only as those who created or changed
// a row, and holds nothing else that seems to be about a person. It returns false if an erasure deletes the person's
// row, or overwrites nothing in it, because a reference then leads to nothing, or to a person.
func (s *schema) refersToMakersOnly(table datamap.CatalogTable) bool {
	subject := s.SubjectTable().Name
	if !s.empties(subject) || s.personalSentence(table) != "" || s.documentOf(table) != "" || s.isHistory(table) ||
		isOfOnePerson(table.Name) {
		return false
	}
	for _, foreign := range table.ForeignKeys {
		if parent, mapped := s.mappedTable(foreign.References); mapped &&
			(parent.Name != subject || !slices.ContainsFunc(foreign.Columns, namesMaker) || goesWith(table, foreign.Columns)) {
			return false
		}
	}
	isPeople := func(name string) bool {
		to, _ := s.Table(name)
		return s.isPeopleTable(to) && s.empties(name)
	}
	if slices.ContainsFunc(s.linksOf(table), func(l link) bool {
		stem, _ := keyStem(l.column)
		return l.kind == byAnyOf && likelyMeansPerson(stem) ||
			l.kind == byList || l.kind == byName && (!isPeople(l.to) || !namesMaker(l.column))
	}) {
		return false
	}
	return !slices.ContainsFunc(table.Columns, func(c datamap.CatalogColumn) bool {
		stem, isReference := names.Stem(c.Name)
		isThing := hasWord(stem, "parent") || hasWord(stem, "client") && hasWord(table.Name, "oauth", "oidc")
		return isReference && isPerson(stem) && !isThing && !namesMaker(c.Name) && !inForeignKey(table, c.Name) &&
			!s.namesTable(table, c)
	})
}

// goesWith reports whether the schema says that a row exists only together with the row that the columns refer to: the
// columns are NOT NULL, and their foreign key has ON DELETE CASCADE. The row then belongs to its creator.
func goesWith(table datamap.CatalogTable, columns []string) bool {
	return slices.ContainsFunc(table.ForeignKeys, func(f datamap.CatalogForeignKey) bool {
		return slices.Equal(f.Columns, columns) && f.OnDelete == datamap.ActionCascade &&
			!slices.ContainsFunc(f.Columns, func(name string) bool {
				column, _ := table.Column(name)
				return column.Nullable
			})
	})
}

// empties reports whether an erasure keeps the rows of a table and overwrites columns of them.
func (s *schema) empties(table string) bool {
	return !s.deletesRows(table) && len(s.writtenColumns(table)) > 0
}

// isOfOnePerson reports whether the rows of a table usually belong to the person who creates them, such as bookmarks,
// settings and comments, or tell what that person did.
func isOfOnePerson(table string) bool {
	return names.Is(table, names.Messages) && !names.MayBeThings(table) ||
		slices.ContainsFunc([]names.Kind{names.Links, names.Settings, names.Profiles, names.Trails},
			func(kind names.Kind) bool { return names.Is(table, kind) }) || names.IsSaved(table) ||
		hasWord(table, "chat", "chats", "conversation", "conversations")
}

// ownersBeside reports whether a table has a path to the subject by another column than the given ones. The rows are
// owned if that column means their owner, such as user_id.
func (s *schema) ownersBeside(table datamap.Table, columns []string) (owned, other bool) {
	for _, path := range s.Paths(table.Name) {
		if len(path.Relations) == 1 && !slices.Equal(path.Relations[0].Columns, columns) {
			other = true
			owned = owned || names.RoleOf(path.Relations[0].Columns[0]) == names.Holder
		}
	}
	return owned, other
}

// hasOnlyMakers reports whether all paths of a table begin with a reference to the person who created or changed a row.
func (s *schema) hasOnlyMakers(table string) bool {
	return !slices.ContainsFunc(s.Paths(table), func(p datamap.Path) bool {
		return len(p.Relations) == 0 || !namesMaker(p.Relations[0].Columns[0])
	})
}

// namesMaker reports whether the name of a reference means the person who created or changed the row. Other people who
// work on a row, such as its actor or its sender, do not count.
func namesMaker(column string) bool {
	return names.RoleOf(column) == names.Maker && hasWord(column, makers...)
}

// namesDoerOf reports whether the name of a reference means a person who did something with the row of another person,
// such as contacted_by_user_id, awarded_by_id and grader_id. It returns false for what people do for themselves, such
// as to write: the row may then hold what they wrote.
func namesDoerOf(column string) bool {
	if stem, isReference := names.Stem(column); isReference && hasWord(stem, doers...) {
		return true
	}
	parts := names.Words(column)
	at := slices.Index(parts, "by")
	return at > 0 && names.RoleOf(column) == names.Maker && names.IsDoneBy(strings.Join(parts[:at+1], " ")) &&
		!slices.Contains(ownDeeds, parts[at-1])
}

// namesAuthor reports whether the name of a reference means the person who created the row. Personal data in the row
// may then be about this person. It is rarely about the person who changed the row later.
func namesAuthor(column string) bool {
	return hasWord(column, "created", "creator", "inserted", "ersteller", "published", "publisher")
}

// doers are words for people who work on the rows of others.
var doers = terms(`
	grader, marker, confirmer, awarder, assessor, examiner, evaluator, inspector, checker, releaser, publisher, archiver,
	canceller, closer, locker, assigner, issuer, validator, deleter, discarder`)

// ownDeeds are what people do for themselves, or what leaves something of them in the row.
var ownDeeds = terms(`
	answered, asked, authored, booked, borrowed, bought, built, called, claimed, collected, commented, contributed,
	donated, drawn, driven, entered, filed, followed, given, hired, hosted, invited, led, liked, loved, made, met,
	nominated, noted, observed, ordered, organized, organised, owned, paid, performed, photographed, placed, played,
	posted, proposed, purchased, raised, rated, received, recommended, recorded, referred, registered, rented, replied,
	reported, requested, reserved, responded, saved, seen, sent, shared, signed, sold, solved, sponsored, started, stated,
	submitted, suggested, supported, taken, tagged, taught, told, translated, treated, typed, uploaded, used, viewed,
	visited, voted, watched, won, written, witnessed, done`)

var makers = terms(`
	created, creator, added, adder, updated, updater, modified, deleted, edited, editor, changed, archived,
	published, publisher, approved, approver, closed, resolved, locked, merged, removed, restored, revoked,
	disabled, enabled, started, finished, completed, cancelled, canceled, rejected, inserted, ersteller, bearbeiter,
	granter, grantor, granted, revoker, resolver, admin, administrator, moderator, reviewed, reviewer, fulfilled, mapped,
	authorized, authorised, verified, verifier, processed, confirmed, activated, deactivated, suspended, unlocked,
	configured, imported, voided, refunded, reopened, acknowledged, dismissed, validated, frozen, scheduled`)
