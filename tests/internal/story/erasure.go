package story

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// erase requests an erasure and checks the counts of deleted, anonymized and retained rows.
func (s *story) erase() domain.ErasureResult {
	s.t.Helper()
	var result domain.ErasureResult
	s.exchange("acme", "DELETE", "/me", "", http.StatusOK, &result)
	s.happened(domain.EventErasureRequested)
	for range s.engines.Eraser.Plan().Local() {
		s.happened(domain.EventErasureStepSucceeded)
	}
	s.happened(domain.EventErasureLocalCompleted)
	if !slices.Equal(result.EnqueuedExternal, []string{"desk"}) {
		s.t.Errorf("enqueued for %v", result.EnqueuedExternal)
	}
	want := map[string]int64{"people": 1, "orders": 1, "order_lines": 1, "invoices": 1}
	if !maps.Equal(result.Anonymized, want) ||
		!maps.Equal(result.Retained, map[string]int64{"invoices": 1}) {
		s.t.Errorf("%+v", result)
	}
	return result
}

func (s *story) erasure() {
	if result := s.erase(); !maps.Equal(result.Deleted, map[string]int64{"addresses": 1, "messages": 2}) {
		s.t.Errorf("deleted %v", result.Deleted)
	}
	held := rowsOf(s.t, s.store, "acme", 10)
	if len(held["addresses"])+len(held["messages"]) > 0 {
		s.t.Errorf("%v and %v were not deleted", held["addresses"], held["messages"])
	}
	person := held["people"][0]
	want := map[string]any{
		"tenant": "acme", "number": int64(1), "nickname": "it's ?gone", "born": time.Unix(0, 0).UTC(), "score": 0.0,
		"level": int64(0), "visits": int64(0), "active": false, "settings": domain.JSON("{}"), "remark": "likes tea",
	}
	for column, value := range want {
		if !reflect.DeepEqual(person[column], value) {
			s.t.Errorf("people.%s is %v, want %v", column, person[column], value)
		}
	}
	for _, text := range []any{
		person["name"], person["email"], held["orders"][0]["note"], held["order_lines"][0]["engraving"],
		held["invoices"][0]["phone"],
	} {
		if !strings.HasPrefix(fmt.Sprint(text), "anon-") {
			s.t.Errorf("a text is %v", text)
		}
	}
	if person["token"] == "6ba7b810-9dad-11d1-80b4-00c04fd430c8" || !reflect.DeepEqual(person["photo"], []byte{}) ||
		held["orders"][0]["status"] != "shipped" || held["invoices"][0]["address"] != "1 Main Street" {
		s.t.Errorf("held is %v", held)
	}
	s.checkSteps()
}

// checkSteps checks the events of the last erasure. They must have the order of the steps in the erasure plan, and the
// expected numbers of rows.
func (s *story) checkSteps() {
	s.t.Helper()
	plan, events := s.engines.Eraser.Plan().Local(), s.trail("acme")
	steps := events[len(events)-1-len(plan) : len(events)-1]
	for i, event := range steps {
		rows := 1
		if plan[i].Target == "messages" {
			rows = 2
		}
		got := fmt.Sprint(event.Payload["strategy"], event.Payload["target"], event.Payload["rows"])
		if want := fmt.Sprint(string(plan[i].Strategy), plan[i].Target, rows); got != want {
			s.t.Errorf("step %d is %s, want %s", i, got, want)
		}
	}
}

// completion runs the worker, which calls the desk. The erasure is then complete.
func (s *story) completion() {
	s.drain(1)
	if s.desk.erased["acme"] != 1 {
		s.t.Errorf("the desk was told %d times", s.desk.erased["acme"])
	}
	s.happened(domain.EventErasureStepSucceeded, domain.EventErasureCompleted)
	events := s.trail("acme")
	if step := events[len(events)-2].Payload; step["target"] != "desk" || step["external"] != true ||
		step["already_absent"] != false {
		s.t.Errorf("the desk's step is %v", step)
	}
}

func (s *story) erasureAgain() {
	if result := s.erase(); !maps.Equal(result.Deleted, map[string]int64{"addresses": 0, "messages": 0}) {
		s.t.Errorf("deleted %v", result.Deleted)
	}
	s.drain(1)
	s.happened(domain.EventErasureStepSucceeded, domain.EventErasureCompleted)
	events := s.trail("acme")
	if step := events[len(events)-2].Payload; step["already_absent"] != true {
		s.t.Errorf("the desk's step is %v", step)
	}
}

// exportAfterErasure checks an export of the erased customer. The export must contain the data that the erasure has
// retained, and must mark all other data as erased, but not NULL.
func (s *story) exportAfterErasure() {
	values, bundle := s.exported(0) // the lines of the ledgers belong to an earlier life of the id
	if len(bundle.Records) != 19 || values["invoices.address"] != "1 Main Street" {
		s.t.Errorf("exported %v", values)
	}
	for _, record := range bundle.Records {
		wasNull := slices.Contains([]string{"motto", "login", "badge"}, record.Field) && record.Source == "people"
		if held := record.Field == "address" || record.Source == "desk" || wasNull; record.Erased == held ||
			record.Erased && record.Value != nil {
			s.t.Errorf("exported %+v", record)
		}
	}
}
