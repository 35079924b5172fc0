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

// The server reuses the buffers of a connection for the next request. Many subjects share a few connections here, so a
// string that points into such a buffer would change.
func requestsShareNoStrings(t testing.TB, harness Harness) {
	w := harness.open(t)
	crowd := harness.crowd
	if crowd == 0 {
		crowd = 100
	}
	var sending sync.WaitGroup
	for i := range crowd {
		sending.Go(func() {
			if err := w.sendAs(memberOf(i)); err != nil {
				t.Error(err)
			}
		})
	}
	sending.Wait()
	w.storeIsIntact(t, crowd)
}

// member is one of the subjects that send requests concurrently. Its strings differ from those of all other members.
type member struct{ subject, purpose, version, reason string }

func memberOf(i int) member {
	subject := strconv.Itoa(1000 + i)
	filler := strings.Repeat(string(rune('a'+i%26)), i%50) // so that the strings begin at different offsets of a buffer
	// A purpose with this separator is sent without percent-encoding. The server may then pass a part of its buffer to the
	// API as the purpose, without a copy.
	separator := "-"
	if i%2 == 0 {
		separator = "/"
	}
	return member{subject, "purpose" + separator + subject + filler, "version " + subject, "reason " + subject}
}

// sendAs sends all requests of a member. It returns an error if a response has the data of another member.
func (w *world) sendAs(m member) error {
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
		got, err := w.try(r.withSubject(m.subject))
		if err != nil {
			return fmt.Errorf("%s gets no response: %w", r, err)
		}
		if got.status != 200 || got.text("subject_id") != m.subject ||
			r.method != http.MethodDelete && got.text("purpose") != m.purpose {
			return fmt.Errorf("subject %s, %s: got status %d, want 200 with the subject and purpose of the request: %s",
				m.subject, r, got.status, got.body)
		}
		if r.path == "/restriction" && got.text("reason") != m.reason { // the erasure clears the reason
			return fmt.Errorf("subject %s, %s: want the reason of the request, got %s", m.subject, r, got.body)
		}
	}
	return nil
}

// storeIsIntact checks that the store has exactly the records that the members have sent.
func (w *world) storeIsIntact(t testing.TB, crowd int) {
	t.Helper()
	var entries []domain.OutboxEntry
	w.inSession(t, func(ctx context.Context, s ports.Session) (err error) {
		query := domain.ClaimQuery{Now: time.Unix(1<<40, 0), LeaseUntil: time.Unix(1<<40, 0), LeaseToken: "lease"}
		for _, name := range []string{desk, mailing} {
			query.Takes = append(query.Takes, domain.Take{
				Resolver: name, Operation: domain.OperationErase, Fresh: 3 * crowd, Retries: 3 * crowd,
			})
		}
		entries, err = s.Outbox().Claim(ctx, query)
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
		if len(records) != 2 {
			t.Errorf("subject %s: the store has the records %+v, want the consent and its end by the erasure",
				m.subject, records)
		}
		for _, record := range records {
			if record.SubjectID.String() != m.subject || record.Purpose != m.purpose || record.PolicyVersion != m.version {
				t.Errorf("subject %s: the store has the records %+v, want only records of this subject", m.subject, records)
			}
		}
		restrictions := w.restriction(t, m.subject, m.purpose)
		assert(t, len(restrictions) == 1 && *restrictions[0].Purpose == m.purpose && restrictions[0].Reason == nil,
			"subject %s: the store has the restriction %+v", m.subject, restrictions)
		assert(t, refs[desk+m.subject] == 1 && refs[mailing+m.subject] == 1,
			"subject %s: the outbox does not have exactly its own erasure", m.subject)
	}
	assert(t, len(entries) == 2*crowd, "the store has %d outbox entries, want %d", len(entries), 2*crowd)
	w.sessions.mu.Lock()
	defer w.sessions.mu.Unlock()
	for _, query := range w.sessions.queries {
		assert(t, query.purpose == query.purposeCopy && strings.Contains(query.purpose, query.subject.String()),
			"subject %s queried %q, which has changed to %q", query.subject, query.purposeCopy, query.purpose)
	}
}
