package porttest

import (
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"

	"github.com/habeas-data/habeas/domain"
)

func outboxValueDefects() defects {
	return defects{
		"the time of the attempt as given": {changesTaken(func(c outboxCall, taken entries) entries {
			return changed(taken, func(e *domain.OutboxEntry) { e.LastAttemptAt = &c.query.Now })
		}), found{"LastAttemptAt is": {outboxInstantsAreInUTCAndMicroseconds}}},
		"bytes that are no base64": {changesEnqueued(func(e *domain.OutboxEntry) {
			if raw, isBytes := e.Corrections[domain.CategoryIdentity].([]byte); isBytes {
				e.Corrections[domain.CategoryIdentity] = hex.EncodeToString(raw)
			}
		}), found{"comes back as the string 00ff, want AP8=": {outboxCorrectionsComeBackAsJSON}}},
		"numbers that are float64": {changesClaimed(func(e *domain.OutboxEntry) {
			for category, value := range e.Corrections {
				if n, isNumber := value.(json.Number); isNumber {
					e.Corrections[category], _ = n.Float64()
				}
			}
		}), found{
			"a int64 comes back as the float64 9.007199254740992e+15, want 9007199254740993": {
				outboxCorrectionsComeBackAsJSON,
			},
		}},
		"numbers that have gone through a float64": {changesClaimed(func(e *domain.OutboxEntry) {
			for category, value := range e.Corrections {
				if n, isNumber := value.(json.Number); isNumber {
					f, _ := n.Float64()
					e.Corrections[category] = json.Number(strconv.FormatFloat(f, 'f', -1, 64))
				}
			}
		}), found{
			"a int64 comes back as the json.Number 9007199254740992, want 9007199254740993": {outboxCorrectionsComeBackAsJSON},
		}},
		"a document whose numbers are float64": {changesClaimed(func(e *domain.OutboxEntry) {
			if document, ok := e.Corrections[domain.CategoryTechnical].(map[string]any); ok {
				document["a"] = []any{float64(maxExact), nil}
			}
		}), found{"a domain.JSON comes back as the map": {outboxCorrectionsComeBackAsJSON}}},
		"refs that are the caller's": {func(store *Store) {
			var seen remembered
			brokenOutbox{
				enqueue: func(c outboxCall) error { seen.note(c.entries...); return c.enqueue() },
				claim: func(c outboxCall) (entries, error) {
					return changesEach(func(e *domain.OutboxEntry) {
						if given, ok := seen.get(e.EntryID); ok {
							e.Ref.Extra = given.Ref.Extra
						}
					})(c.claim())
				},
			}.breaks(store)
		}, found{"an entry changed with the one that was given or returned": {outboxKeepsCopies}}},
		"a settlement that is the caller's": {func(store *Store) {
			var next *time.Time
			brokenOutbox{
				settle: func(c outboxCall) (results, error) {
					if len(c.settlements) == 1 {
						next = c.settlements[0].NextAttemptAt
					}
					return c.settle()
				},
				claim: func(c outboxCall) (entries, error) {
					if c.query.Takes[0].Fresh == 1000 && next != nil && next.Equal(noon) && c.query.Now.Equal(noon) {
						c.query.Now = noon.Add(time.Hour)
					}
					return c.claim()
				},
			}.breaks(store)
		}, found{"the next attempt changed with the settlement": {outboxKeepsCopies}}},
	}
}
