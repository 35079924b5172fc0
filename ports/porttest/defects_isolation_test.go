package porttest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

func TestStoresThatMixUpPeopleAreFoundOut(t *testing.T) {
	promise.ExpectDefects(t, storagePromises(), brokenStore, defects{
		"an erasure by tenant alone": {alsoApplies(sameTenant), found{
			"what is not the subject's": {
				subjectRepliesAreDeletedInOneStep, subjectPlanErasesAll, subjectPlanCanBeAppliedAgain,
			},
			"what is not the subject's: order_lines.engraving has changed in a row": {subjectRowsAreFoundOverTwoHops},
			"in rows of others": {subjectStepsLeaveOtherSubjectsAlone},
		}},
		"an erasure by a pattern": {alsoApplies(samePattern), found{
			"what is not of the tenant": {subjectIDsAreMatchedWhole},
		}},
		"a rectification of others, too": {func(store *Store) {
			rows := store.Rows
			brokenSubjects{rectify: func(c subjectCall) (int64, error) {
				n, err := c.Rectify(c.ctx, c.id, c.step)
				for _, other := range confusedWith(rows, c.id, sameTenant) {
					if err == nil {
						_, err = c.Rectify(c.ctx, other, c.step)
					}
				}
				return n, err
			}}.breaks(store)
		}, found{"has changed in a row": {subjectRectificationTouchesNothingElse}}},
		"an export of others": {func(store *Store) {
			rows := store.Rows
			brokenSubjects{export: func(c subjectCall) error {
				err := c.Export(c.ctx, c.id, c.yield)
				for _, other := range confusedWith(rows, c.id, sameTenant) {
					if err == nil {
						err = c.Export(c.ctx, other, c.yield)
					}
				}
				return err
			}}.breaks(store)
		}, found{"of the ledgers, want": {subjectExportHasTheLedgers}, "the export of customer": {subjectExportIsComplete}}},
		"the keys of another subject": {brokenSubjects{keys: func(c subjectCall) ([]string, error) {
			keys, err := c.Keys(c.ctx, c.id, c.query)
			if err != nil || len(keys) == 0 {
				return keys, err
			}
			keys = append(keys, others[0].says("engraving"))
			slices.Sort(keys)
			return keys[:min(len(keys), c.query.Limit)], nil
		}}.breaks, found{"are not the": {subjectKeysAreRead, subjectKeysOmitRetainedCells, subjectKeysComeInPages}}},
		"the parts of shared rows are not distinguished": {changesDataMap(addsAllPaths), found{
			"the export of customer":          {subjectSharedRowsAreExportedInParts, subjectSharedRowsAreErasedInParts},
			"want the error habeas: manifest": {subjectStepsNameTheirPath},
		}},
		"a withdrawal from everybody": {brokenOutbox{withdraw: func(
			ctx context.Context, o ports.Outbox, id domain.SubjectID,
		) ([]domain.OutboxEntry, error) {
			for _, elements := range [][]string{{"acme"}, {"acme", "77"}, {"acmf", "7"}, {"acme", "7", "7"}} {
				other, _ := domain.NewSubjectID(elements...)
				if _, err := o.Withdraw(ctx, other); err != nil {
					return nil, err
				}
			}
			return o.Withdraw(ctx, id)
		}}.breaks, found{
			"left are [an erasure of the subject], want [an erasure of the subject": {outboxWithdrawLeavesOthersAlone},
		}},
		"histories of all lives": {alsoShows(), found{
			"the history of consents is [first old], want []": {lifeEndsWithAnErasure},
		}},
		"an export of all lives": {changesSessions(func(s ports.Session) replacedStores {
			return replacedStores{Session: s, subjects: exportsAllLives{s.Subjects(), s.Consents()}}
		}), found{"the consents in an export is [first old], want []": {lifeEndsWithAnErasure}}},
		"the history of the life before a registration": {alsoShows("between"), found{
			"the history of consents is [between], want []": {lifeBeginsWithARegistration},
		}},
		"marks of any subject": {brokenErased{anyone: true}.breaks, found{
			"of three subjects": {markIsFoundByItsSubject},
		}},
		"an error repeats an id": {namesValueInError, found{"contains a value": {sessionErrorsContainNoPersonalData}}},
		"consents by ids that are joined carelessly": {changesSessions(func(s ports.Session) replacedStores {
			return replacedStores{Session: s, consents: joinsIDs{s.Consents()}}
		}), found{"records, want 1": {consentSubjectsAreKeptApart}}},
		"the reasons of all are cleared": {changesSessions(func(s ports.Session) replacedStores {
			return replacedStores{Session: s, restrictions: clearsReasonsOfAll{s.Restrictions()}}
		}), found{"did not come back": {restrictionReasonsAreCleared}}},
		"a trail by ids that are joined carelessly": {brokenLog{
			add: func(ctx context.Context, log ports.AuditLog, events []domain.AuditEvent) error {
				events = slices.Clone(events)
				for i := range events {
					events[i].SubjectRef = joinElements(events[i].SubjectRef)
				}
				return log.Append(ctx, events...)
			},
			trail: func(ctx context.Context, log ports.AuditLog, id domain.SubjectID) ([]domain.AuditEvent, error) {
				return log.Trail(ctx, joinElements(id))
			},
		}.breaks, found{"records, want 1": {auditSubjectsAreKeptApart}}},
	})
}

// alsoApplies returns a function that makes a store defective: its Apply also applies the steps to every other customer
// for whom fn returns true, for example every customer with the same number.
func alsoApplies(fn func(id, other customer) bool) func(*Store) {
	return func(store *Store) {
		rows := store.Rows
		brokenSubjects{apply: func(c subjectCall) ([]int64, error) {
			applied, err := c.Apply(c.ctx, c.id, c.steps)
			if err != nil {
				return applied.Rows, err
			}
			for _, other := range confusedWith(rows, c.id, fn) {
				_, _ = c.Apply(c.ctx, other, c.steps)
			}
			return applied.Rows, nil
		}}.breaks(store)
	}
}

// silentTB is passed to functions that need a testing.TB but never report a failure through it.
type silentTB struct{ testing.TB }

func (silentTB) Helper() {}

// confusedWith returns the ids of the other customers for whom fn(customer, other) returns true.
func confusedWith(
	rows func(t testing.TB, table string) []Row, id domain.SubjectID, fn func(id, other customer) bool,
) (others []domain.SubjectID) {
	asCustomer := func(elements []string) customer {
		number, _ := strconv.ParseInt(elements[1], 10, 64)
		return customer{tenant: elements[0], number: number}
	}
	if len(id.Elements()) != 2 {
		return nil
	}
	for _, row := range rows(silentTB{}, "people") {
		elements := []string{row["tenant"].(string), strconv.FormatInt(row["number"].(int64), 10)}
		other, err := domain.NewSubjectID(elements...)
		if err == nil && other != id && fn(asCustomer(id.Elements()), asCustomer(elements)) {
			others = append(others, other)
		}
	}
	return others
}

func sameTenant(id, other customer) bool { return id.tenant == other.tenant }

// samePattern reports whether id and other have the same number and LIKE matches their tenants, as in a store that
// compares tenants with LIKE.
func samePattern(id, other customer) bool {
	prefix, isPattern := strings.CutSuffix(id.tenant, "%")
	likeOne := len(id.tenant) == len(other.tenant) && strings.Contains(id.tenant, "_") &&
		strings.Replace(id.tenant, "_", "x", 1) == other.tenant
	return id.number == other.number && (isPattern && strings.HasPrefix(other.tenant, prefix) || likeOne)
}

// changesDataMap returns a function that makes a store defective: it uses a data map whose tables were changed by fn.
func changesDataMap(fn func(table *datamap.Table)) func(*Store) {
	tables := shop()
	for i := range tables {
		fn(&tables[i])
	}
	return func(store *Store) {
		other := openInMemory(tables)
		store.Sessions, store.Insert, store.Rows = other.Sessions, other.Insert, other.Rows
		store.Erased, store.Entries = other.Erased, other.Entries
		store.Connections, store.Statements = other.Connections, other.Statements
	}
}

// addsAllPaths changes the personal columns that belong to only some paths: it assigns them to all paths of the table.
func addsAllPaths(table *datamap.Table) {
	for i, column := range table.Columns {
		if column.Personal == nil || column.Personal.Via == "" {
			continue
		}
		annotation := *column.Personal
		annotation.Via = ""
		for _, relation := range table.Relations {
			name := relation.Name
			if table.Name == "wraps" {
				name = "Giver,Receiver"
			}
			annotation.Via += "," + name
		}
		annotation.Via = annotation.Via[1:]
		table.Columns[i].Personal = &annotation
	}
}

// exportsAllLives is a defective store: an export has the records of all lives.
type exportsAllLives struct {
	ports.SubjectStore
	ports.ConsentStore
}

func (e exportsAllLives) Export(ctx context.Context, id domain.SubjectID, yield func(domain.ExportRecord) error) error {
	all, err := e.HistoryOfAllLives(ctx, id, "news")
	for _, record := range all {
		if err == nil {
			err = yield(domain.ExportRecord{
				Source: datamap.ConsentLedgerSource, Field: "policy_version", Value: record.PolicyVersion,
			})
		}
	}
	return err
}

// namesValueInError makes a store defective: the error of Do contains a value that the session has appended.
func namesValueInError(store *Store) {
	changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
		last := ""
		err := do(ctx, func(ctx context.Context, s ports.Session) error {
			return fn(ctx, replacedStores{Session: s, audit: brokenLog{AuditLog: s.Audit(), add: func(
				ctx context.Context, log ports.AuditLog, events []domain.AuditEvent,
			) error {
				for _, event := range events {
					last = event.EventID
				}
				return log.Append(ctx, events...)
			}}})
		})
		if err != nil && last != "" {
			return fmt.Errorf("%w: event %s", err, last)
		}
		return err
	})(store)
}

// joinsIDs is a defective store of consents: it joins the elements of an id without a separator.
type joinsIDs struct{ ports.ConsentStore }

func (j joinsIDs) Append(ctx context.Context, record domain.ConsentRecord) error {
	record.SubjectID = joinElements(record.SubjectID)
	return j.ConsentStore.Append(ctx, record)
}

func (j joinsIDs) History(ctx context.Context, id domain.SubjectID, purpose string) ([]domain.ConsentRecord, error) {
	return j.ConsentStore.History(ctx, joinElements(id), purpose)
}

// joinElements returns an id with one element, which is the concatenation of all elements of the id.
func joinElements(id domain.SubjectID) domain.SubjectID {
	one, err := domain.NewSubjectID(strings.ReplaceAll(strings.Join(id.Elements(), ""), "\x1f", ""))
	if err != nil {
		return id
	}
	return one
}

// clearsReasonsOfAll is a defective store of restrictions: ClearReasons also clears the reasons of another subject.
type clearsReasonsOfAll struct{ ports.RestrictionStore }

func (c clearsReasonsOfAll) ClearReasons(ctx context.Context, id domain.SubjectID) error {
	other, err := domain.NewSubjectID("acme", "2")
	return errors.Join(err, c.RestrictionStore.ClearReasons(ctx, id), c.RestrictionStore.ClearReasons(ctx, other))
}
