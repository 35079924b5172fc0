package porttest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/search"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

// findCall holds the arguments of a call of a broken Finder, and the correct Finder.
type findCall struct {
	ports.Finder
	ctx      context.Context
	values   []string
	progress func(search.Progress)
}

func (c findCall) find() (search.Result, error) { return c.Find(c.ctx, c.values, c.progress) }

// brokenFinder implements ports.Finder with a function.
type brokenFinder struct {
	good ports.Finder
	call func(findCall) (search.Result, error)
}

func (b brokenFinder) Find(
	ctx context.Context, values []string, progress func(search.Progress),
) (search.Result, error) {
	if progress == nil {
		progress = func(search.Progress) {}
	}
	return b.call(findCall{b.good, ctx, values, progress})
}

func (nowhere) Find(context.Context, []string, func(search.Progress)) (search.Result, error) {
	return search.Result{}, errNowhere
}

// replacesFind returns a function that makes a store defective: its Find returns the result of call.
func replacesFind(call func(findCall) (search.Result, error)) func(*Store) {
	return func(store *Store) {
		store.Finder = brokenFinder{store.Finder, call}
	}
}

// omitsOccurrences returns a function that makes a store defective: its Find omits an occurrence if omit returns true
// for the occurrence.
func omitsOccurrences(omit func(o search.Occurrence) bool) func(*Store) {
	return replacesFind(func(c findCall) (search.Result, error) {
		found, err := c.find()
		found.Occurrences = slices.DeleteFunc(found.Occurrences, omit)
		return found, err
	})
}

// changesOccurrences returns a function that makes a store defective: its Find passes each occurrence through fn before
// it returns the occurrence.
func changesOccurrences(fn func(o *search.Occurrence)) func(*Store) {
	return replacesFind(func(c findCall) (search.Result, error) {
		found, err := c.find()
		for i := range found.Occurrences {
			fn(&found.Occurrences[i])
		}
		return found, err
	})
}

// rewrites returns a function that makes a store defective: its database holds fn(text) instead of each text, so that
// Find searches the changed texts.
func rewrites(fn func(text string) string) func(*Store) {
	return func(store *Store) {
		insert := store.Insert
		store.Insert = func(t testing.TB, table string, row Row) {
			t.Helper()
			seen := Row{}
			for column, value := range row {
				switch text := value.(type) {
				case string:
					value = fn(text)
				case domain.JSON:
					value = domain.JSON(fn(string(text)))
				}
				seen[column] = value
			}
			insert(t, table, seen)
		}
	}
}

// hides returns a function that makes a store defective: its Find does not find a text if hide returns true for the
// text.
func hides(hide func(text string) bool) func(*Store) {
	return rewrites(func(text string) string {
		if hide(text) {
			return "null"
		}
		return text
	})
}

func TestAFinderThatKeepsItsPromisesPasses(t *testing.T) { TestFinder(t, inMemory(noDefect)) }

func TestFindersThatBreakAPromiseFail(t *testing.T) {
	type occurrence = search.Occurrence
	parts := found{"Find found": {findSearchesPartsOfTexts}}
	promise.ExpectDefects(t, findPromises, brokenStore, defects{
		"only annotated columns": {
			omitsOccurrences(func(o occurrence) bool { return o.Table == "orders" && o.Column == "status" }),
			found{`Find found ["people.tenant 0 1"`: {findCountsRowsByColumn}},
		},
		"once for each place": {
			changesOccurrences(func(o *occurrence) { o.Rows = 1 }), found{`"orders.status 0 1"`: {findCountsRowsByColumn}},
		},
		"one value for another": {
			changesOccurrences(func(o *occurrence) { o.Value = 0 }), found{`"people.remark 0 1"`: {findReportsValuesByIndex}},
		},
		"the first of equal values": {replacesFind(func(c findCall) (search.Result, error) {
			found, err := c.find()
			found.Occurrences = slices.DeleteFunc(found.Occurrences, func(o occurrence) bool {
				return slices.Index(c.values, c.values[o.Value]) < o.Value
			})
			return found, err
		}), found{`Find found ["people.remark 0 1" "people.remark 1 1"`: {findReportsValuesByIndex}}},
		"texts that equal a value": {hides(func(text string) bool { return strings.HasPrefix(text, "<") }), parts},
		"texts that are short":     {hides(func(text string) bool { return len(text) > 1000 }), parts},
		"lines": {
			hides(func(text string) bool { return strings.Contains(text, "\n") }),
			found{"Find found": {findSearchesPartsOfTexts, findMatchesCharactersLiterally}},
		},
		"spaces do not matter": {
			rewrites(func(text string) string { return strings.ReplaceAll(text, "zo e@", "zoe@") }), parts,
		},
		"the case matters": {
			hides(func(text string) bool { return text == "ZOË Ångström" }), found{"Find found": {findIgnoresCase}},
		},
		"the case of ASCII": {
			rewrites(func(text string) string { return strings.ReplaceAll(text, "Σ", "?") }),
			found{"Find found": {findIgnoresCase}},
		},
		"accents do not matter": {
			rewrites(func(text string) string { return strings.ReplaceAll(text, "zoe angstrom", "zoë ångström") }),
			found{"Find found": {findIgnoresCase}},
		},
		"wildcards": {
			rewrites(func(text string) string { return strings.ReplaceAll(text, "aXc", "a%c") }),
			found{"Find found": {findMatchesCharactersLiterally}},
		},
		"no backslash": {
			hides(func(text string) bool { return text == `a\c` }), found{"Find found": {findMatchesCharactersLiterally}},
		},
		"JSON as it is written": {
			hides(func(text string) bool { return strings.Contains(text, `\u`) }), found{"Find found": {findSearchesJSON}},
		},
		"no names in JSON": {
			hides(func(text string) bool { return strings.HasPrefix(text, `{"z`) }), found{"Find found": {findSearchesJSON}},
		},
		"nothing of habeas": {
			omitsOccurrences(func(o occurrence) bool { return strings.HasPrefix(o.Table, "habeas_") }),
			found{"Find found []": {findSearchesTheTablesOfHabeas}},
		},
		"nothing of the audit trail": {
			omitsOccurrences(func(o occurrence) bool { return o.Column == "payload" }),
			found{"Find found": {findSearchesTheTablesOfHabeas}},
		},
		"no binary data": {
			omitsOccurrences(func(o occurrence) bool { return o.Column == "photo" }),
			found{"Find found []": {findSearchesBinaryData}},
		},
		"no numbers": {
			omitsOccurrences(func(o occurrence) bool { return o.Column == "score" }),
			found{`Find found ["people.number 0 1" "people.token 2 1"]`: {findSearchesNumbersAndUUIDs}},
		},
		"no list of values": {replacesFind(func(c findCall) (search.Result, error) {
			found, err := c.find()
			found.NotFound = nil
			return found, err
		}), found{"not found are []": {findSearchesNumbersAndUUIDs}}},
		"no hexadecimal digits": {
			hides(func(text string) bool { return strings.HasPrefix(text, "0x") }),
			found{"Find found": {findSearchesEncodedCopies}},
		},
		"no base64": {
			hides(func(text string) bool { return strings.HasSuffix(text, "=") }),
			found{"Find found": {findSearchesEncodedCopies}},
		},
		"values of one character": {replacesFind(func(c findCall) (search.Result, error) {
			for i := range c.values {
				c.values[i] += "longer"
			}
			return c.find()
		}), found{": Find returned <nil>": {findRefusesValues}}},
		"a field without an index": {replacesFind(func(c findCall) (search.Result, error) {
			found, err := c.find()
			if err != nil && c.ctx.Err() == nil {
				err = domain.Invalid("find", []domain.FieldError{{Field: "value", Code: domain.FieldTooShort}})
			}
			return found, err
		}), found{"the fields are": {findRefusesValues}}},
		"no progress": {replacesFind(func(c findCall) (search.Result, error) {
			c.progress = nil
			return c.find()
		}), found{"progress was reported 0 times": {findReportsItsProgress}}},
		"progress without an end": {replacesFind(func(c findCall) (search.Result, error) {
			progress := c.progress
			c.progress = func(p search.Progress) {
				if p.Table != "" {
					progress(p)
				}
			}
			return c.find()
		}), found{"progress report": {findReportsItsProgress}}},
		"a value in the result": {replacesFind(func(c findCall) (search.Result, error) {
			found, err := c.find()
			for i := range found.Occurrences {
				found.Occurrences[i].Column = c.values[found.Occurrences[i].Value]
			}
			return found, err
		}), found{"the result contains a value": {findReturnsNoValues}}},
		"a value in an error": {replacesFind(func(c findCall) (search.Result, error) {
			found, err := c.find()
			if err != nil && len(c.values) > 0 {
				err = &domain.Error{Code: domain.ErrInvalid, Message: c.values[0]}
			}
			return found, err
		}), found{"error is nil or contains a value": {findReturnsNoValues}}},
		"a context that is ignored": {replacesFind(func(c findCall) (search.Result, error) {
			c.ctx = context.WithoutCancel(c.ctx)
			return c.find()
		}), found{"Find returned <nil>": {findEndsWithItsContext}}},
		"an unreachable store without rows": {func(store *Store) {
			store.Unreachable = func(testing.TB) Store {
				return Store{Finder: brokenFinder{nil, func(findCall) (search.Result, error) {
					return search.Result{}, nil
				}}}
			}
		}, found{"with an unreachable store, Find returned <nil>": {findReportsAStoreThatCannotBeReached}}},
	})
}
