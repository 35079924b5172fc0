package check

import (
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/sqltext"
)

// checkTriggers reports the triggers and rules that an erasure fires. It does not read their code: a rehearsal fires
// them, and says what they changed.
func (s *schema) checkTriggers() {
	s.eachPresent(func(table datamap.Table, live datamap.CatalogTable) {
		for _, trigger := range live.Triggers {
			if s.fires(table, live, trigger) {
				s.reportTrigger(table.Name, live, trigger)
			}
		}
	})
	for _, name := range s.cascaded {
		live, _ := s.catalog.Table(name)
		for _, trigger := range live.Triggers {
			if slices.Contains(trigger.Events, "DELETE") {
				s.reportTrigger(name, live, trigger)
			}
		}
	}
}

// fires reports whether a step of an erasure fires the trigger of the table.
func (s *schema) fires(table datamap.Table, live datamap.CatalogTable, trigger datamap.CatalogTrigger) bool {
	if slices.Contains(trigger.Events, "DELETE") && s.deletesRows(table.Name) {
		return true
	}
	of := columnsOf(live, trigger)
	return slices.Contains(trigger.Events, "UPDATE") && slices.ContainsFunc(s.steps, func(step datamap.Step) bool {
		isChanged := func(name string) bool { return of == nil || hasName(live, of, name) }
		return step.Target == table.Name && step.Strategy != domain.StrategyDelete &&
			(slices.ContainsFunc(step.Columns, isChanged) && step.Strategy == domain.StrategyAnonymize ||
				slices.ContainsFunc(step.ClearedColumns, isChanged) || slices.ContainsFunc(step.Expired, isChanged))
	})
}

// columnsOf returns the columns of a trigger that only an UPDATE of certain columns fires (UPDATE OF), or nil.
func columnsOf(live datamap.CatalogTable, trigger datamap.CatalogTrigger) (columns []string) {
	text := sqltext.TokensOf(trigger.Definition, sqltext.QuotesOfPostgres)
	for i := range text {
		if !text.Is(i, "update") || !text.Is(i+1, "of") {
			continue
		}
		for i += 2; i < len(text) && !text.Is(i, "on", "or"); i++ {
			if _, isColumn := live.Column(text[i].Text); isColumn {
				columns = append(columns, text[i].Text)
			}
		}
		return columns
	}
	return nil
}

// nameWithHash returns the name of a trigger with a short hash of its code. An acceptance with this object ends when
// the code changes.
func nameWithHash(trigger datamap.CatalogTrigger) string {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(trigger.Definition + "\n" + trigger.Code)) // never fails
	return fmt.Sprintf("%s#%08x", trigger.Name, hash.Sum32())
}

func (s *schema) reportTrigger(table string, live datamap.CatalogTable, trigger datamap.CatalogTrigger) {
	at := place{table: table, object: nameWithHash(trigger)}
	if trigger.Instead && isTable(live) {
		s.report("trigger-replaces", at,
			"The rule "+trigger.Name+" replaces statements that an erasure runs. The rows may stay unchanged, and the erasure "+
				"is then refused.")
		return
	}
	reason := "An erasure fires the trigger " + trigger.Name + "."
	if to := s.outside(trigger.Writes); len(to) > 0 {
		reason += " The trigger writes to tables outside of the data map: " + list(to) +
			". If it writes old values there, they survive the erasure."
	}
	if of := s.outside(trigger.Deletes); len(of) > 0 {
		reason += " It deletes rows of tables outside of the data map: " + list(of) + "."
	}
	if trigger.Unread {
		reason += " The catalog does not show to which tables the trigger writes."
	}
	s.report("trigger-fires", at, reason+" Lint does not read its code.")
	s.reportMapped("trigger-writes", at, trigger, trigger.Writes, "writes to",
		"a value that it writes may survive the erasure")
	s.reportMapped("trigger-deletes", at, trigger, trigger.Deletes, "deletes rows of",
		"if the rows belong to another person, the erasure is refused")
}

// reportMapped reports that a trigger acts on tables of the data map.
func (s *schema) reportMapped(
	code string, at place, trigger datamap.CatalogTrigger, tables []string, acts, effect string,
) {
	for _, name := range tables {
		if target, mapped := s.mappedTable(name); mapped {
			s.report(code, place{target.Name, "", at.object},
				"An erasure fires the trigger "+trigger.Name+" of "+at.table+", which "+acts+" this table: "+effect+".",
				"Exempt the connection of habeas from the trigger. If it touches only rows of the same person, and writes no old "+
					"value, accept the finding.")
		}
	}
}

// outside returns the tables that are not in the data map.
func (s *schema) outside(tables []string) (outside []string) {
	for _, name := range tables {
		if _, mapped := s.mappedTable(name); !mapped && !slices.Contains(outside, name) {
			outside = append(outside, name)
		}
	}
	return outside
}
