package httptestsuite

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// The crowd shares a few connections, whose buffers a server uses again.
func requestsShareNoStrings(t testing.TB, harness Harness) {
	w := harness.open(t)
	crowd := harness.crowd
	if crowd == 0 {
		crowd = 200
	}
	var asking sync.WaitGroup
	for i := range crowd {
		asking.Go(func() {
			if err := w.askAs(memberOf(i)); err != nil {
				t.Error(err)
			}
		})
	}
	asking.Wait()
	w.storeIsIntact(t, crowd)
}

// member is one of the crowd: all that a member sends is its own.
type member struct{ subject, purpose, version, reason string }

func memberOf(i int) member {
	subject := strconv.Itoa(1000 + i)
	filler := strings.Repeat(string(rune('a'+i%26)), i%50) // so that strings lie at different places
	// This separator needs no unescaping, so that a server may hand out its own memory.
	separator := "-"
	if i%2 == 0 {
		separator = "/"
	}
	return member{subject, "purpose" + separator + subject + filler, "version " + subject, "reason " + subject}
}

// askAs sends all requests of a member, and checks that the answers are its own.
func (w *world) askAs(m member) error {
	consent, _ := json.Marshal(map[string]any{"granted": true, "policy_version": m.version, "purpose": m.purpose})
	restriction, _ := json.Marshal(map[string]any{"restricted": true, "purpose": m.purpose, "reason": m.reason})
	escaped := strings.ReplaceAll(m.purpose, "/", "%2F")
	for _, r := range []request{
		post("/consent", string(consent)),
		get("/consent/" + escaped),
		post("/restriction", string(restriction)),
		get("/restriction?purpose=" + escaped),
		{method: http.MethodDelete},
	} {
		got, err := w.try(r.as(m.subject))
		if err != nil {
			return fmt.Errorf("%s gets no answer: %w", r, err)
		}
		if got.status != 200 || got.text("subject_id") != m.subject ||
			r.method != http.MethodDelete && got.text("purpose") != m.purpose {
			return fmt.Errorf("subject %s, %s: answered %d %s", m.subject, r, got.status, got.body)
		}
		if r.path == "/restriction" && got.text("reason") != m.reason { // which the erasure clears
			return fmt.Errorf("subject %s, %s: answered %d %s", m.subject, r, got.status, got.body)
		}
	}
	return nil
}

// storeIsIntact checks that the store has what each member of the crowd sent, and nothing else.
func (w *world) storeIsIntact(t testing.TB, crowd int) {
	t.Helper()
	var entries []domain.OutboxEntry
	w.look(t, func(ctx context.Context, s ports.Session) (err error) {
		entries, err = s.Outbox().Claim(ctx, 3*crowd, time.Unix(1<<40, 0), time.Unix(1<<40, 0), "lease")
		return err
	})
	refs := map[string]int{}
	for _, entry := range entries {
		if entry.SubjectID.String() == entry.Ref.Value {
			refs[entry.Ref.Kind+entry.Ref.Value]++
		}
	}
	for i := range crowd {
		m := memberOf(i)
		records := w.consented(t, m.subject, m.purpose)
		if len(records) != 2 { // given, and ended by the erasure
			t.Errorf("subject %s: the store has the consent %+v", m.subject, records)
		}
		for _, record := range records {
			if record.SubjectID.String() != m.subject || record.Purpose != m.purpose || record.PolicyVersion != m.version {
				t.Errorf("subject %s: the store has the consent %+v", m.subject, records)
			}
		}
		restrictions := w.restricted(t, m.subject, m.purpose)
		assert(t, len(restrictions) == 1 && *restrictions[0].Purpose == m.purpose && restrictions[0].Reason == nil,
			"subject %s: the store has the restriction %+v", m.subject, restrictions)
		assert(t, refs[desk+m.subject] == 1 && refs[mailing+m.subject] == 1,
			"subject %s: the outbox has not exactly its own erasure", m.subject)
	}
	assert(t, len(entries) == 2*crowd, "the store has %d outbox entries", len(entries))
	w.sessions.mu.Lock()
	defer w.sessions.mu.Unlock()
	for _, asked := range w.sessions.asked {
		assert(t, asked.given == asked.copied && strings.Contains(asked.given, asked.subject.String()),
			"subject %s asked for %q, which is now %q", asked.subject, asked.copied, asked.given)
	}
}
