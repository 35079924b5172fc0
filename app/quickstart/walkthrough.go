package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// walkthrough starts the application on a free port with a fresh database and plays the story. The first answer that
// is not as it should be ends it.
func walkthrough(ctx context.Context, c config, output io.Writer) (err error) {
	db, remove, err := openFresh(ctx, c.databaseURL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	return serve(ctx, db, "127.0.0.1:0", func(address string, gdpr *app.Integration) error {
		fmt.Fprintf(output, "The quickstart application runs at http://%s, on a fresh database (%s).\n",
			address, db.Dialect().Name())
		story := &story{ctx: ctx, client: newClient(address, output), output: output, gdpr: gdpr}
		for _, chapter := range []func() error{
			story.authenticate, story.consent, story.restrict, story.export, story.erase, story.eraseAgain, story.trail,
		} {
			if err := chapter(); err != nil {
				return err
			}
		}
		fmt.Fprintln(output, "\nThe walkthrough is complete: every answer was as expected.")
		return nil
	})
}

type story struct {
	ctx    context.Context
	client *client
	output io.Writer
	gdpr   *app.Integration
	before bundle // what was held about Alice
	others bundle // what is held about Bob
}

func (s *story) heading(title string) { fmt.Fprintf(s.output, "\n== %s\n", title) }

// check prints what was expected, and is an error when it did not come true.
func (s *story) check(ok bool, format string, args ...any) error {
	expected := fmt.Sprintf(format, args...)
	if !ok {
		return errors.New("the walkthrough met a surprise; expected: " + expected)
	}
	fmt.Fprintf(s.output, "   ok: %s\n", expected)
	return nil
}

func (s *story) authenticate() error {
	s.heading("Nobody gets in without saying who they are")
	var problem struct{ Title string }
	if err := s.client.exchange(s.ctx, "mallory", "GET", "/me/export", nil, 401, &problem); err != nil {
		return err
	}
	return s.check(problem.Title == "Unauthorized", "the application's own authentication decides")
}

func (s *story) consent() error {
	s.heading("Alice consents to the newsletter, and changes her mind (Art. 7)")
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
			"granted is %v, by the record that was just made", granted); err != nil {
			return err
		}
	}
	return nil
}

func (s *story) restrict() error {
	s.heading("Alice has processing restricted, and lifts the restriction (Art. 18)")
	for _, restricted := range []bool{true, false} {
		decision := map[string]any{"restricted": restricted}
		if restricted {
			decision["reason"] = "the address is wrong"
		}
		if err := s.client.exchange(s.ctx, "alice", "POST", "/me/restriction", decision, 200, nil); err != nil {
			return err
		}
		var status domain.RestrictionStatus
		if err := s.client.exchange(s.ctx, "alice", "GET", "/me/restriction?purpose=newsletter", nil, 200, &status); err != nil {
			return err
		}
		if err := s.check(status.Restricted == restricted && (status.Scope != nil) == restricted,
			"for the newsletter, restricted is %v", restricted); err != nil {
			return err
		}
	}
	return nil
}

func (s *story) export() error {
	s.heading("Alice asks for everything that is held about her (Art. 15)")
	if err := s.client.exchange(s.ctx, "alice", "GET", "/me/export", nil, 200, &s.before); err != nil {
		return err
	}
	if err := s.check(len(s.before.Records) == 18 && len(s.before.IncompleteSources) == 0,
		"18 fields from five tables, each with its row, category and legal basis"); err != nil {
		return err
	}
	s.client.quiet = true
	defer func() { s.client.quiet = false }()
	return s.client.exchange(s.ctx, "bob", "GET", "/me/export", nil, 200, &s.others)
}

func (s *story) erase() error {
	s.heading("Alice has herself erased (Art. 17)")
	var result domain.ErasureResult
	if err := s.client.exchange(s.ctx, "alice", "DELETE", "/me", nil, 200, &result); err != nil {
		return err
	}
	if err := s.check(reflect.DeepEqual(result.Deleted, map[string]int64{"addresses": 1, "order_items": 3, "orders": 2}),
		"addresses, orders and their items are deleted"); err != nil {
		return err
	}
	if err := s.check(result.Anonymized["users"] == 1 && result.Anonymized["invoices"] == 1,
		"users and invoices keep their rows, anonymized"); err != nil {
		return err
	}
	return s.afterErasure()
}

// afterErasure exports again: what is left of Alice are surrogates and what the law retains; Bob is as he was.
func (s *story) afterErasure() error {
	var after bundle
	if err := s.client.exchange(s.ctx, "alice", "GET", "/me/export", nil, 200, &after); err != nil {
		return err
	}
	for _, field := range after.Records {
		old, existed := s.before.find(field)
		retained := field.RetentionReason != nil
		if !existed || retained != equalJSON(old.Value, field.Value) {
			return s.check(false, "%s.%s is retained or anonymized", field.Source, field.Field)
		}
	}
	if err := s.check(len(after.Records) == 6, "what is retained is unchanged, everything else is a surrogate"); err != nil {
		return err
	}
	s.client.quiet = true
	defer func() { s.client.quiet = false }()
	var others bundle
	if err := s.client.exchange(s.ctx, "bob", "GET", "/me/export", nil, 200, &others); err != nil {
		return err
	}
	return s.check(reflect.DeepEqual(others.Records, s.others.Records), "what is held about Bob is as it was")
}

func (s *story) eraseAgain() error {
	s.heading("To erase again is no error")
	var result domain.ErasureResult
	if err := s.client.exchange(s.ctx, "alice", "DELETE", "/me", nil, 200, &result); err != nil {
		return err
	}
	return s.check(result.Deleted["orders"] == 0 && result.Retained["invoices"] == 1,
		"nothing is left to delete, and what is retained still is")
}

func (s *story) trail() error {
	s.heading("All of it is on the audit trail, without any personal data")
	subject, err := domain.NewSubject("1")
	if err != nil {
		return err
	}
	var trail []domain.AuditEvent
	err = s.gdpr.Sessions().Do(s.ctx, func(ctx context.Context, session ports.Session) (err error) {
		trail, err = session.Audit().Trail(ctx, subject.ID)
		return err
	})
	if err != nil {
		return err
	}
	var types []domain.EventType
	for _, event := range trail {
		payload, err := json.Marshal(event.Payload)
		if err != nil {
			return err
		}
		fmt.Fprintf(s.output, "   %s  %-24s %s\n", event.OccurredAt.Format("15:04:05.000000"), event.EventType, payload)
		types = append(types, event.EventType)
	}
	erasures := slices.DeleteFunc(types, func(t domain.EventType) bool { return t != domain.EventErasureLocalCompleted })
	return s.check(len(erasures) == 2, "both erasures are complete")
}

// bundle is an export as it comes over the wire.
type bundle struct {
	Records           []record `json:"records"`
	IncompleteSources []string `json:"incomplete_sources"`
}

type record struct {
	Source          string          `json:"source"`
	Field           string          `json:"field"`
	Row             string          `json:"row"`
	Category        string          `json:"category"`
	Value           json.RawMessage `json:"value"`
	LegalBasis      *string         `json:"legal_basis"`
	RetentionReason *string         `json:"retention_reason"`
	ExpiresAt       *string         `json:"expires_at"`
}

func (b bundle) find(other record) (record, bool) {
	i := slices.IndexFunc(b.Records, func(r record) bool {
		return r.Source == other.Source && r.Field == other.Field && r.Row == other.Row
	})
	if i < 0 {
		return record{}, false
	}
	return b.Records[i], true
}

func equalJSON(a, b json.RawMessage) bool { return string(a) == string(b) }
