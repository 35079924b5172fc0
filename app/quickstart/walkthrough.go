package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"time"

	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// completionTimeout is the time limit for the erasure at the support desk. Normally, the erasure takes far less than a
// second, because the commit wakes the worker.
const completionTimeout = 15 * time.Second

// walkthrough starts the application on a free port with a new database, and plays the scenario. It stops at the first
// response that is not as expected.
func walkthrough(ctx context.Context, c config, output io.Writer) (err error) {
	db, remove, err := openFresh(ctx, c.databaseURL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	c.addr = "127.0.0.1:0"
	return serve(ctx, db, c, func(address string, d demo) error {
		fmt.Fprintf(output, "The quickstart application runs at http://%s, on a new database (%s).\n",
			address, map[bool]string{true: "PostgreSQL", false: "SQLite"}[db.Dialect().Name() == dialect.PG])
		story := &story{demo: d, ctx: ctx, client: newClient(address, output), output: output}
		for _, chapter := range []func() error{
			story.authenticate, story.consent, story.restrict, story.rectify, story.export, story.erase, story.completion,
			story.eraseAgain, story.trail,
		} {
			if err := chapter(); err != nil {
				return err
			}
		}
		fmt.Fprintln(output, "\nThe walkthrough is complete: every response was as expected.")
		return nil
	})
}

type story struct {
	demo
	ctx    context.Context
	client *client
	output io.Writer
	before bundle // Alice's export before her erasure
	others bundle // Bob's export before Alice's erasure
}

func (s *story) heading(title string) { fmt.Fprintf(s.output, "\n== %s\n", title) }

// check prints the expectation if the condition is true. Otherwise it returns an error that contains the expectation.
func (s *story) check(ok bool, format string, args ...any) error {
	expected := fmt.Sprintf(format, args...)
	if !ok {
		return errors.New("the walkthrough failed; expected: " + expected)
	}
	fmt.Fprintf(s.output, "   ok: %s\n", expected)
	return nil
}

func (s *story) authenticate() error {
	s.heading("A request without a valid token is refused")
	var problem struct{ Title string }
	if err := s.client.exchange(s.ctx, "mallory", "GET", "/me/export", nil, 401, &problem); err != nil {
		return err
	}
	return s.check(problem.Title == "Unauthorized", "the application's own authentication has refused the request")
}

func (s *story) consent() error {
	s.heading("Alice consents to the newsletter, and withdraws the consent (Art. 7)")
	for _, granted := range []bool{true, false} {
		decision := map[string]any{"purpose": "newsletter", "policy_version": "2026-01", "granted": granted}
		var record domain.ConsentRecord
		if err := s.client.exchange(s.ctx, "alice", "POST", "/me/consent", decision, 200, &record); err != nil {
			return err
		}
		var status domain.ConsentStatus
		if err := s.client.exchange(s.ctx, "alice", "GET", "/me/consent/newsletter", nil, 200, &status); err != nil {
			return err
		}
		if err := s.check(status.Granted == granted && status.RecordedAt.Equal(record.RecordedAt),
			"the status has granted=%v, from the record of this decision", granted); err != nil {
			return err
		}
	}
	return nil
}

func (s *story) restrict() error {
	s.heading("Alice restricts processing, and lifts the restriction (Art. 18)")
	for _, restricted := range []bool{true, false} {
		decision := map[string]any{"restricted": restricted}
		if restricted {
			decision["reason"] = "the address is wrong"
		}
		if err := s.client.exchange(s.ctx, "alice", "POST", "/me/restriction", decision, 200, nil); err != nil {
			return err
		}
		var status domain.RestrictionStatus
		err := s.client.exchange(s.ctx, "alice", "GET", "/me/restriction?purpose=newsletter", nil, 200, &status)
		if err != nil {
			return err
		}
		if err := s.check(status.Restricted == restricted && (status.Scope != nil) == restricted,
			"the status for the newsletter has restricted=%v", restricted); err != nil {
			return err
		}
	}
	return nil
}

func (s *story) rectify() error {
	s.heading("Alice corrects her name, with a route of the application (Art. 16)")
	var result domain.RectificationResult
	profile := map[string]any{"name": "Alicia Example"}
	if err := s.client.exchange(s.ctx, "alice", "PATCH", "/me/profile", profile, 200, &result); err != nil {
		return err
	}
	return s.check(reflect.DeepEqual(result.Rectified, map[string]int64{"users": 1}), "one row of users is corrected")
}

func (s *story) export() error {
	s.heading("Alice requests a copy of her data, from the shop and the support desk (Art. 15)")
	if err := s.client.exchange(s.ctx, "alice", "GET", "/me/export", nil, 200, &s.before); err != nil {
		return err
	}
	ledgers := s.before.ledgers()
	local, external := s.before.split()
	if err := s.check(len(local) == 18 && len(s.before.IncompleteSources) == 0,
		"the export has 18 values from five tables, each with its row, category and legal basis"); err != nil {
		return err
	}
	if err := s.check(ledgers == 4, "the export has two decisions on consent and two on restriction"); err != nil {
		return err
	}
	if s.desk.standIn != nil {
		err := s.check(len(external) == 8, "8 values are from the support desk: from a contact and two conversations")
		if err != nil {
			return err
		}
	}
	s.client.quiet = true
	defer func() { s.client.quiet = false }()
	return s.client.exchange(s.ctx, "bob", "GET", "/me/export", nil, 200, &s.others)
}

func (s *story) erase() error {
	s.heading("Alice requests her erasure (Art. 17)")
	var result domain.ErasureResult
	if err := s.client.exchange(s.ctx, "alice", "DELETE", "/me", nil, 200, &result); err != nil {
		return err
	}
	if err := s.check(reflect.DeepEqual(result.Deleted, map[string]int64{"addresses": 1, "order_items": 3, "orders": 2}),
		"the rows of addresses, orders and order_items are deleted"); err != nil {
		return err
	}
	if err := s.check(result.Anonymized["users"] == 1 && result.Anonymized["invoices"] == 1,
		"the rows of users and invoices stay, and personal values in them are overwritten"); err != nil {
		return err
	}
	return s.afterErasure()
}

// afterErasure exports the data of Alice and of Bob again. It checks that each of Alice's values was overwritten or is
// retained by law, and that Bob's records are unchanged.
func (s *story) afterErasure() error {
	var after bundle
	if err := s.client.exchange(s.ctx, "alice", "GET", "/me/export", nil, 200, &after); err != nil {
		return err
	}
	local, _ := after.split()
	for _, field := range local {
		old, existed := s.before.find(field)
		retained := field.RetentionReason != nil
		if !existed || retained != equalJSON(old.Value, field.Value) {
			return s.check(false, "%s.%s is either retained or overwritten", field.Source, field.Field)
		}
	}
	if err := s.check(len(local) == 6, "retained values are unchanged, and all other values are overwritten"); err != nil {
		return err
	}
	s.client.quiet = true
	defer func() { s.client.quiet = false }()
	var others bundle
	if err := s.client.exchange(s.ctx, "bob", "GET", "/me/export", nil, 200, &others); err != nil {
		return err
	}
	return s.check(reflect.DeepEqual(others.Records, s.others.Records), "Bob's records are unchanged")
}

// completion waits until the worker has erased Alice at the support desk. The commit of the erasure has already woken
// the worker.
func (s *story) completion() error {
	s.heading("The worker erases Alice at the support desk")
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for start := time.Now(); ; {
		trail, err := s.events()
		if err != nil {
			return err
		}
		if slices.ContainsFunc(trail, func(e domain.AuditEvent) bool { return e.EventType == domain.EventErasureCompleted }) {
			break
		}
		if time.Since(start) > completionTimeout {
			return s.check(false, "erasure_completed is on the audit trail within %v", completionTimeout)
		}
		select {
		case <-tick.C:
		case <-s.ctx.Done():
			return s.ctx.Err()
		}
	}
	if s.desk.standIn != nil {
		if err := s.check(!s.desk.standIn.Knows(contactID("Alice")), "the support desk has no contact Alice"); err != nil {
			return err
		}
	}
	return s.check(true, "erasure_completed is on the audit trail")
}

func (s *story) eraseAgain() error {
	s.heading("A second erasure succeeds")
	var result domain.ErasureResult
	if err := s.client.exchange(s.ctx, "alice", "DELETE", "/me", nil, 200, &result); err != nil {
		return err
	}
	return s.check(result.Deleted["orders"] == 0 && result.Retained["invoices"] == 1,
		"there is no row left to delete, and the invoice is still retained")
}

func (s *story) trail() error {
	s.heading("The audit trail has an event for each step, without personal data")
	trail, err := s.events()
	if err != nil {
		return err
	}
	var types []domain.EventType
	for _, event := range trail {
		payload, err := json.Marshal(event.Payload)
		if err != nil {
			return err
		}
		fmt.Fprintf(s.output, "   %s  %-29s %s\n", event.OccurredAt.Format("15:04:05.000000"), event.EventType, payload)
		types = append(types, event.EventType)
	}
	erasures := slices.DeleteFunc(types, func(t domain.EventType) bool { return t != domain.EventErasureLocalCompleted })
	return s.check(len(erasures) == 2, "both erasures are complete")
}

// events returns Alice's audit trail.
func (s *story) events() (trail []domain.AuditEvent, err error) {
	alice, err := domain.NewSubject("1")
	if err != nil {
		return nil, err
	}
	err = s.gdpr.Sessions().Do(s.ctx, func(ctx context.Context, session ports.Session) (err error) {
		trail, err = session.Audit().Trail(ctx, alice.ID)
		return err
	})
	return trail, err
}
