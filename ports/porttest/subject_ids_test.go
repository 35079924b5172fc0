package porttest

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/habeas-data/habeas/domain"
)

// changesIDs returns a function that makes a store defective: it passes the elements of each id through fn.
func changesIDs(fn func(elements []string) []string) func(*Store) {
	id := func(id domain.SubjectID) domain.SubjectID {
		changed, err := domain.NewSubjectID(fn(id.Elements())...)
		if err != nil {
			return id
		}
		return changed
	}
	return brokenSubjects{beforeEach: func(c *subjectCall) error { c.id = id(c.id); return nil }}.breaks
}

// alsoApplies returns a function that makes a store defective: its Apply also applies the steps to every other customer
// for whom fn returns true, for example every customer with the same number.
func alsoApplies(fn func(id, other customer) bool) func(*Store) {
	return func(store *Store) {
		rows := store.Rows
		brokenSubjects{apply: func(c subjectCall) ([]int64, error) {
			counts, err := c.apply()
			if err != nil {
				return counts, err
			}
			for _, other := range confusedWith(rows, c.id, fn) {
				_, _ = c.Apply(c.ctx, other, c.steps)
			}
			return counts, nil
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

func sameNumber(id, other customer) bool { return id.number == other.number }
func sameTenant(id, other customer) bool { return id.tenant == other.tenant }

func sameFolded(id, other customer) bool {
	return id.number == other.number && strings.EqualFold(id.tenant, other.tenant)
}

func samePadded(id, other customer) bool {
	return id.number == other.number && strings.TrimSpace(id.tenant) == strings.TrimSpace(other.tenant)
}

// samePattern reports whether id and other have the same number and LIKE matches their tenants, as in a store that
// compares tenants with LIKE.
func samePattern(id, other customer) bool {
	prefix, isPattern := strings.CutSuffix(id.tenant, "%")
	likeOne := len(id.tenant) == len(other.tenant) && strings.Contains(id.tenant, "_") &&
		strings.Replace(id.tenant, "_", "x", 1) == other.tenant
	return id.number == other.number && (isPattern && strings.HasPrefix(other.tenant, prefix) || likeOne)
}

func sameUnescaped(id, other customer) bool {
	return id.number == other.number &&
		strings.ReplaceAll(id.tenant, `\\`, `\`) == strings.ReplaceAll(other.tenant, `\\`, `\`)
}

func idDefects() defects {
	return defects{
		"numbers in any form": {changesIDs(func(elements []string) []string {
			if len(elements) == 2 {
				if n, err := strconv.Atoi(strings.TrimSpace(elements[1])); err == nil {
					elements[1] = strconv.Itoa(n)
				}
			}
			return elements
		}), found{"want the error habeas: subject, got <nil>": {subjectIDsThatDoNotFitAreRefused}}},
		"the first elements of a longer id": {
			changesIDs(func(elements []string) []string { return elements[:min(2, len(elements))] }),
			found{"of one element too many: want the error habeas: subject, got <nil>": {subjectIDsThatDoNotFitAreRefused}},
		},
		"a state of any id": {brokenSubjects{state: func(c subjectCall) (domain.SubjectState, error) {
			if errOf(DataMap().Key(c.id)) != nil {
				return domain.SubjectState{}, nil //nolint:nilerr // the defect
			}
			return c.State(c.ctx, c.id)
		}}.breaks, found{"State of": {subjectIDsThatDoNotFitAreRefused, subjectIDsAreCheckedBeforeAnyStatement}}},
		"another code": {changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
			err := do(ctx, fn)
			if errors.Is(err, domain.ErrSubject) {
				err = &domain.Error{Code: domain.ErrInvalid, Op: "subject", Message: "wrong"}
			}
			return err
		}), found{"want the error habeas: subject, got habeas: subject: wrong": {subjectIDsThatDoNotFitAreRefused}}},
		"found out by the database": {func(store *Store) {
			var sent atomic.Int64
			brokenSubjects{beforeEach: func(*subjectCall) error { sent.Add(1); return nil }}.breaks(store)
			store.Statements = func() int { return int(sent.Load()) }
		}, found{"statements": {subjectIDsAreCheckedBeforeAnyStatement}}},
		"by number alone": {alsoApplies(sameNumber), found{"after an erasure without rows": {subjectWithoutRowsIsAccepted}}},
		"by tenant alone": {alsoApplies(sameTenant), found{
			"what is not the subject's": {
				subjectRepliesAreDeletedInOneStep, subjectPlanErasesAll, subjectPlanCanBeAppliedAgain,
			},
			"what is not the subject's: order_lines.engraving has changed in a row": {subjectRowsAreFoundOverTwoHops},
			"in rows of others": {subjectStepsLeaveOtherSubjectsAlone},
		}},
		"in any case":     {alsoApplies(sameFolded), found{"what is not the subject's": {subjectRepliesAreDeletedInOneStep}}},
		"without spaces":  {alsoApplies(samePadded), found{"what is not the subject's": {subjectRepliesAreDeletedInOneStep}}},
		"as a pattern":    {alsoApplies(samePattern), found{"what is not of the tenant": {subjectIDsAreMatchedWhole}}},
		"without escapes": {alsoApplies(sameUnescaped), found{"what is not of the tenant back": {subjectIDsAreMatchedWhole}}},
		"everybody, always": {alsoApplies(func(_, _ customer) bool { return true }), found{
			"after an erasure without rows": {subjectWithoutRowsIsAccepted},
		}},
		"no rows for an id with quotes": {brokenSubjects{apply: func(c subjectCall) ([]int64, error) {
			if strings.Contains(c.id.String(), "'") {
				return make([]int64, len(c.steps)), nil
			}
			return c.apply()
		}}.breaks, found{"o'neil": {subjectIDsAreMatchedWhole}}},
	}
}
