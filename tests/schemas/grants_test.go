package schemas

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/journal"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/tool/cli"
)

// The role of the application owns nothing, and has exactly the privileges that the command privileges prints. All
// rights and duties work, and nothing is missing for lint. The role cannot put a row in front of others in the trail.
func TestThePrintedPrivilegesAreEnough(t *testing.T) {
	t.Parallel()
	db, crmSystem := onPostgres(t), &system{}
	a := open(t, db, app.Config{Models: shop, Resolvers: []ports.Resolver{crmSystem}}, shopTables()...)
	var printed, complaints bytes.Buffer
	tree := cli.New(a.Operator())
	tree.SetArgs([]string{"privileges", "--role", "habeas_part"})
	tree.SetOut(&printed)
	tree.SetErr(&complaints)
	if code := cli.Execute(t.Context(), tree); code != 0 {
		t.Fatal(code, complaints.String())
	}
	restricted(t, db, append([]string{
		"REVOKE ALL ON ALL TABLES IN SCHEMA public FROM habeas_part",
		"REVOKE ALL ON ALL SEQUENCES IN SCHEMA public FROM habeas_part",
	}, append(strings.Split(strings.TrimSpace(printed.String()), "\n"),
		"GRANT INSERT ON people TO habeas_part")...)...) // for the application itself

	must(t, a.Stack().Sessions.Probe(t.Context()))
	result, err := a.check(t.Context())
	must(t, err)
	for _, finding := range result.Findings {
		if strings.HasPrefix(finding.Code, "privilege") {
			t.Errorf("lint says %+v", finding)
		}
	}
	a.useEverything(t)
	_, err = db.ExecContext(t.Context(), "INSERT INTO habeas_audit_events (event_id, seq, event_type, subject_ref,"+
		" occurred_at, payload) OVERRIDING SYSTEM VALUE VALUES ('e', -1, 'consent_granted', '2', now(), '{}')")
	if err == nil {
		t.Error("a row was put in front of the trail")
	}
}

// useEverything uses the rights of two people, and runs the duties.
func (a *application) useEverything(t *testing.T) {
	t.Helper()
	s, operator := a.Stack(), a.Operator()
	subject := fixture.MustSubject(t, "1", crm)
	must(t, s.Sessions.Do(t.Context(), func(ctx context.Context, session ports.Session) error {
		for _, granted := range []bool{true, false, true} {
			_, err := s.Consent.Record(ctx, session, subject.ID, domain.ConsentDecision{
				Purpose: "news", PolicyVersion: "v1", Granted: granted, Source: "test",
			})
			if err != nil {
				return err
			}
		}
		_, err := s.Restriction.Record(ctx, session, subject.ID, domain.RestrictionDecision{Restricted: true, Source: "test"})
		return err
	}))
	_, err := a.rectify(t.Context(), "1", domain.Corrections{domain.CategoryContact: "new@example.org"})
	must(t, err)
	_, err = operator.Export(t.Context(), subject, io.Discard)
	must(t, err)
	_, err = operator.Rehearse(t.Context(), subject)
	must(t, err)
	_, err = operator.Erase(t.Context(), subject)
	must(t, err)
	a.drain(t)
	execute(t, a.db, "INSERT INTO people VALUES (1, 'again@example.org')")
	for name, run := range map[string]func() error{
		"verify":  func() error { _, err := operator.Verify(t.Context(), subject.ID); return err },
		"sweep":   func() error { _, err := operator.Sweep(t.Context(), func(domain.SweepReport) {}); return err },
		"journal": func() error { _, err := operator.Journal(t.Context(), io.Discard, journal.From{}); return err },
		"purge":   func() error { _, err := operator.Purge(t.Context()); return err },
		"status":  func() error { _, err := operator.Status(t.Context()); return err },
		"trail":   func() error { _, err := operator.Trail(t.Context(), subject.ID); return err },
		"register": func() error {
			return s.Sessions.Do(t.Context(), func(ctx context.Context, session ports.Session) error {
				return a.Registered(ctx, session, subject)
			})
		},
	} {
		if err := run(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
