// Package story runs one long test, in which a person uses every right. The test starts with a refused request and ends
// with an export after the erasure. It uses a real server and a real store. Other modules can import the package to run
// the test with their drivers.
package story

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/rectification"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/ports/porttest"
	"github.com/habeas-data/habeas/tests/internal/conformance"
)

// Play runs the test with each router on each of the kinds of stores. The responses, the tables and the audit trail
// must always be the same.
func Play(t *testing.T, kinds ...conformance.Kind) {
	t.Helper()
	for _, kind := range kinds {
		t.Run(kind.Name, func(t *testing.T) {
			harness := kind.Harness(t)
			for _, router := range routers() {
				t.Run(router.name, func(t *testing.T) { newStory(t, harness.Open(t), router).play() })
			}
		})
	}
}

// story is the test for customer 1 of the tenant acme. Customer 1 of the tenant rival is another person, whose data
// must not change.
type story struct {
	t       *testing.T
	store   porttest.Store
	engines stack.Stack
	desk    *desk
	url     string
	others  map[string][]porttest.Row // the rows of the other person
	events  []domain.EventType        // the expected events of the trail

	operation string // the operation id of the latest operation that checkTrail has seen
}

func newStory(t *testing.T, store porttest.Store, router router) *story {
	t.Helper()
	s := &story{t: t, store: store, desk: newDesk()}
	described, err := dataMap()
	must(t, err)
	s.engines, err = stack.New(stack.Config{
		Sessions: store.Sessions, DataMap: described, Resolvers: []ports.Resolver{s.desk},
		Clock: &ticking{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)},
	})
	must(t, err)
	api, err := s.engines.API(httpapi.Config{Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	s.url = router.serve(t, api)
	seed(t, store, "acme", 10)
	seed(t, store, "rival", 20)
	s.others = rowsOf(t, store, "rival", 20)
	return s
}

func (s *story) play() {
	for _, chapter := range []func(){
		s.refusals, s.consent, s.restriction, s.export, s.exportWithoutTheDesk, s.rectification, s.erasure,
		s.completion, s.erasureAgain, s.exportAfterErasure, s.refusals,
	} {
		chapter()
		s.checkTrail()
		if s.t.Failed() {
			return // the following checks would fail in the same way
		}
	}
	if now := rowsOf(s.t, s.store, "rival", 20); !reflect.DeepEqual(now, s.others) {
		s.t.Errorf("what is held about somebody else was %v and is %v", s.others, now)
	}
	if events := s.trail("rival"); len(events) > 0 || len(s.desk.erased) != 1 {
		s.t.Errorf("somebody else has the events %v, and the desk erased %v", events, s.desk.erased)
	}
}

// checkTrail checks that the audit trail has exactly the events in s.events.
func (s *story) checkTrail() {
	s.t.Helper()
	var types []domain.EventType
	for _, event := range s.trail("acme") {
		types = append(types, event.EventType)
		s.checkOperation(event)
	}
	if !slices.Equal(types, s.events) {
		s.t.Fatalf("the trail is %v, want %v", types, s.events)
	}
}

// checkOperation checks the operation id of an event. The id must be the event id of the latest event whose type ends
// with "requested". Events of consents and restrictions have no operation id.
func (s *story) checkOperation(event domain.AuditEvent) {
	right, what, _ := strings.Cut(string(event.EventType), "_")
	switch {
	case right != "export" && right != "erasure" && right != "rectification":
		return
	case what == "requested":
		s.operation = event.EventID
	}
	if event.Payload["operation_id"] != s.operation {
		s.t.Errorf("%s is of the operation %v, want %s", event.EventType, event.Payload["operation_id"], s.operation)
	}
}

func (s *story) trail(tenant string) (events []domain.AuditEvent) {
	s.t.Helper()
	subject, err := subjectOf(tenant)
	must(s.t, err)
	must(s.t, s.store.Sessions.Do(s.t.Context(), func(ctx context.Context, session ports.Session) (err error) {
		events, err = session.Audit().Trail(ctx, subject.ID)
		return err
	}))
	return events
}

func (s *story) happened(types ...domain.EventType) { s.events = append(s.events, types...) }

// refusals checks that refused requests write nothing.
func (s *story) refusals() {
	s.exchange("", "GET", "/me/export", "", http.StatusUnauthorized, nil)
	s.exchange("acme", "POST", "/me/consent", `{`, http.StatusBadRequest, nil)
	s.exchange("acme", "POST", "/me/consent", `{"purpose":""}`, http.StatusUnprocessableEntity, nil)
	s.exchange("acme", "POST", "/me/consent", strings.Repeat(" ", 65<<10), http.StatusRequestEntityTooLarge, nil)
	s.exchange("acme", "GET", "/me/unknown", "", http.StatusNotFound, nil)
	s.exchange("acme", "PUT", "/me", "", http.StatusMethodNotAllowed, nil)
}

func (s *story) consent() {
	for _, granted := range []bool{true, false} {
		var record domain.ConsentRecord
		body := fmt.Sprintf(`{"purpose":"a/b c","policy_version":"v1","granted":%v}`, granted)
		s.exchange("acme", "POST", "/me/consent", body, http.StatusOK, &record)
		var status domain.ConsentStatus
		s.exchange("acme", "GET", "/me/consent/a%2Fb%20c", "", http.StatusOK, &status)
		if status.Granted != granted || status.RecordedAt == nil || !status.RecordedAt.Equal(record.RecordedAt) {
			s.t.Errorf("granted is %v: %+v", granted, status)
		}
	}
	s.happened(domain.EventConsentGranted, domain.EventConsentWithdrawn)
}

func (s *story) restriction() {
	for _, body := range []string{`{"restricted":true,"reason":"the address is wrong"}`, `{"restricted":false}`} {
		s.exchange("acme", "POST", "/me/restriction", body, http.StatusOK, nil)
		var status domain.RestrictionStatus
		s.exchange("acme", "GET", "/me/restriction?purpose=ads", "", http.StatusOK, &status)
		if want := strings.Contains(body, "true"); status.Restricted != want || (status.Scope != nil) != want ||
			status.Purpose == nil || *status.Purpose != "ads" {
			s.t.Errorf("after %s: %+v", body, status)
		}
	}
	s.happened(domain.EventRestrictionPlaced, domain.EventRestrictionLifted)
}

// exported returns the export, with the given number of lines of the ledgers: two decisions on consent and two on
// restriction, or none after the erasure.
func (s *story) exported(ledgerLines int) (values map[string]any, bundle domain.ExportBundle) {
	s.t.Helper()
	s.exchange("acme", "GET", "/me/export", "", http.StatusOK, &bundle)
	s.happened(domain.EventExportRequested, domain.EventExportCompleted)
	values = map[string]any{}
	lines := map[string]bool{} // records of the ledgers
	bundle.Records = slices.DeleteFunc(bundle.Records, func(r domain.ExportRecord) bool {
		ledger := strings.HasPrefix(r.Source, "habeas_")
		if ledger {
			lines[r.Source+" "+r.Row] = true
		}
		return ledger
	})
	if len(lines) != ledgerLines {
		s.t.Errorf("lines of the ledgers: %v", lines)
	}
	for _, record := range bundle.Records {
		values[record.Source+"."+record.Field] = record.Value
		ends := issued.AddDate(10, 0, 0) // in a year without February 29, the period ends on March 1
		if retained := record.Field == "address"; retained != (record.RetentionReason != nil) ||
			retained && !record.ExpiresAt.Equal(ends) {
			s.t.Errorf("%s.%s: %+v", record.Source, record.Field, record)
		}
	}
	return values, bundle
}

func (s *story) export() {
	values, bundle := s.exported(4)
	want := map[string]any{ // decoded from JSON
		"people.name": "Ada", "people.email": "ada@example.org", "people.nickname": "al",
		"people.born": "2024-02-29T00:00:00Z", "people.score": domain.Number("12.5"),
		"people.level": domain.Number("3"), "people.visits": domain.Number("1073741824"),
		"people.active": true, "people.token": "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
		"people.settings": domain.JSON(`{"theme":"dark"}`), "people.photo": "AQI=",
		"addresses.street": "1 Main Street", "messages.body": "anybody there?", "orders.note": "ring twice",
		"order_lines.engraving": "for you", "invoices.address": "1 Main Street", "invoices.phone": "555",
		"desk.contact.name": "of acme",
		"people.badge":      nil, "people.login": nil, "people.mobile": nil, "people.motto": nil,
	}
	if !reflect.DeepEqual(values, want) || len(bundle.Records) != len(want)+1 || len(bundle.IncompleteSources) > 0 {
		s.t.Errorf("exported %v, %d records, incomplete: %v", values, len(bundle.Records), bundle.IncompleteSources)
	}
}

func (s *story) exportWithoutTheDesk() {
	s.desk.down = true
	defer func() { s.desk.down = false }()
	values, bundle := s.exported(4)
	if !slices.Equal(bundle.IncompleteSources, []string{"desk"}) || len(values) != 21 {
		s.t.Errorf("%d fields, incomplete: %v", len(values), bundle.IncompleteSources)
	}
}

// rectification corrects data without the API. The API has no route for corrections, so an application calls the
// service.
func (s *story) rectification() {
	subject, err := subjectOf("acme")
	must(s.t, err)
	var result domain.RectificationResult
	must(s.t, s.engines.Sessions.Do(s.t.Context(), func(ctx context.Context, session ports.Session) (err error) {
		corrections := domain.Corrections{domain.CategoryContact: "lovelace@example.org"}
		result, err = s.engines.Rectifier.RectifySubject(ctx, session, subject, corrections, rectification.AllColumns())
		return err
	}))
	held := rowsOf(s.t, s.store, "acme", 10)
	if !maps.Equal(result.Rectified, map[string]int64{"people": 1, "invoices": 1}) ||
		held["people"][0]["email"] != "lovelace@example.org" || held["invoices"][0]["phone"] != "lovelace@example.org" {
		s.t.Errorf("%+v, and then %v", result, held)
	}
	s.drain(1)
	if s.desk.names["acme"] != "lovelace@example.org" {
		s.t.Errorf("the desk knows %v", s.desk.names)
	}
	s.happened(domain.EventRectificationRequested, domain.EventRectificationStepSucceeded,
		domain.EventRectificationStepSucceeded, domain.EventRectificationLocalCompleted,
		domain.EventRectificationStepSucceeded, domain.EventRectificationCompleted)
}

// drain processes the entries of the outbox, as a worker does. It expects the given number of entries.
func (s *story) drain(want int) {
	s.t.Helper()
	for _, want := range []int{want, 0} {
		if settled, err := s.engines.Runner.RunOnce(s.t.Context()); err != nil || settled != want {
			s.t.Errorf("%d entries were settled, want %d: %v", settled, want, err)
		}
	}
}
