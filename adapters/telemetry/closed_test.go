package telemetry_test

import (
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/observation"
)

// attributes has the allowed values of each attribute. nil means that the value is a number. Only habeas.system and
// habeas.map have values that the application chooses.
var attributes = map[attribute.Key][]string{
	"http.request.method":       {"GET", "POST", "DELETE"},
	"http.route":                {"/export", "/consent/{purpose}"},
	"http.response.status_code": nil,
	"habeas.map":                {"staff"},
	"habeas.outcome":            texts(domain.Outcomes()),
	"habeas.system":             {"desk"},
	"habeas.duty":               {"journal"},
	"habeas.operation":          {"export", "erase", "rectify"},
	"habeas.decision":           {"granted", "withdrawn", "placed", "lifted"},
	"habeas.status":             {"pending", "in_flight", "failed", "abandoned", "spared"},
	"habeas.state":              {"closed", "half_open", "open"},
	"habeas.retries":            nil,
	"error.type":                texts(domain.Outcomes()),
}

func texts[T ~string](all []T) (texts []string) {
	for _, one := range all {
		texts = append(texts, string(one))
	}
	return texts
}

// reportAll reports every kind of activity and observation to the observer.
func (w *world) reportAll(t *testing.T) {
	t.Helper()
	for _, outcome := range domain.Outcomes() {
		for _, activity := range []observation.Activity{
			{Kind: observation.ActivityRequest, Method: "GET", Route: "/consent/{purpose}"},
			{Kind: observation.ActivityRequest, Method: "GET", Route: "/export"},
			{Kind: observation.ActivitySession},
			{Kind: observation.ActivityCall, System: "desk", Call: observation.CallExport},
			{Kind: observation.ActivityCall, System: "desk", Call: observation.CallErase},
			{Kind: observation.ActivityCall, System: "desk", Call: observation.CallRectify},
		} {
			w.during(t.Context(), activity, 1, observation.ActivityEnd{Outcome: outcome, Status: 500, Retries: 2})
		}
		for _, observation := range []observation.Observation{
			observation.RightObserved{Right: observation.RightErasure, Outcome: outcome},
			observation.RightObserved{Right: observation.RightExport, Outcome: outcome},
			observation.RightObserved{Right: observation.RightRectification, Outcome: outcome},
			observation.RightObserved{Right: observation.RightConsent, Decision: observation.DecisionGranted, Outcome: outcome},
			observation.RightObserved{
				Right: observation.RightConsent, Decision: observation.DecisionWithdrawn,
				Outcome: outcome,
			},
			observation.RightObserved{
				Right: observation.RightRestriction, Decision: observation.DecisionPlaced,
				Outcome: outcome,
			},
			observation.RightObserved{
				Right: observation.RightRestriction, Decision: observation.DecisionLifted,
				Outcome: outcome,
			},
			observation.PollObserved{At: noon, Outcome: outcome, Settled: 1},
			observation.BreakerObserved{System: "desk", State: observation.BreakerOpen},
			outbox("desk", 1, 1, noon, noon),
			observation.DutyObserved{Duty: domain.Duty{Name: domain.DutyJournal}, Outcome: outcome},
		} {
			w.Observe(t.Context(), observation)
		}
	}
}

func TestNoAttributeIsOutsideOfTheClosedSet(t *testing.T) {
	w := newWorlds(t, "staff")[0]
	w.reportAll(t)
	used := map[attribute.Key]map[string]bool{}
	check := func(where string, all []attribute.KeyValue) {
		for _, one := range all {
			values, known := attributes[one.Key]
			value := one.Value.String()
			_, err := strconv.Atoi(value)
			if !known || values != nil && !slices.Contains(values, value) || values == nil && err != nil {
				t.Errorf("%s has the attribute %s=%s", where, one.Key, value)
			}
			if used[one.Key] == nil {
				used[one.Key] = map[string]bool{}
			}
			used[one.Key][value] = true
		}
	}
	for name, m := range w.collect(t) {
		for _, p := range pointsOf(t, m) {
			check(name, p.attributes.ToSlice())
		}
	}
	for _, span := range w.spans.GetSpans() {
		check(span.Name, span.Attributes)
		if len(span.Events) > 0 || span.Status.Description != "" &&
			!slices.Contains(attributes["error.type"], span.Status.Description) {
			t.Errorf("%s has events, or the description %q", span.Name, span.Status.Description)
		}
	}
	for key := range attributes {
		if len(used[key]) == 0 {
			t.Errorf("nothing has the attribute %s", key)
		}
	}
}

// documented reads a table in a section of the package documentation. It maps the first field of each row to the other
// fields of the row.
func documented(t *testing.T, section string) map[string][]string {
	t.Helper()
	content, err := os.ReadFile("doc.go")
	must(t, err)
	_, after, found := strings.Cut(string(content), "// # "+section+"\n")
	if !found {
		t.Fatalf("there is no section %s", section)
	}
	text, _, _ := strings.Cut(after, "// # ")
	lines := map[string][]string{}
	for line := range strings.Lines(text) {
		if row, isRow := strings.CutPrefix(line, "//\t"); isRow {
			fields := strings.Fields(strings.ReplaceAll(row, ",", ""))
			lines[fields[0]] = fields[1:]
		}
	}
	return lines
}

func TestEveryMetricIsDocumentedWithItsUnitAndAttributes(t *testing.T) {
	w := newWorld(t)
	w.reportAll(t)
	rows := documented(t, "Metrics")
	delete(rows, "name") // the header line
	for name, m := range w.collect(t) {
		row, is := rows[name]
		delete(rows, name)
		if !is || len(row) < 2 {
			t.Errorf("%s is not documented", name)
			continue
		}
		keys := map[string]bool{}
		for _, p := range pointsOf(t, m) {
			for _, one := range p.attributes.ToSlice() {
				keys[string(one.Key)] = true
			}
		}
		if row[0] != kindOf(m) || row[1] != m.Unit || m.Description == "" {
			t.Errorf("%s is documented as a %s of %s, and is a %s of %s", name, row[0], row[1], kindOf(m), m.Unit)
		}
		for _, documented := range row[2:] {
			before := len(keys)
			prefix, isFamily := strings.CutSuffix(documented, "*")
			maps.DeleteFunc(keys, func(key string, _ bool) bool {
				return key == documented || isFamily && strings.HasPrefix(key, prefix)
			})
			if len(keys) == before {
				t.Errorf("%s has no attribute %s", name, documented)
			}
		}
		if len(keys) > 0 {
			t.Errorf("%s has the attributes %v, which are not documented", name, keys)
		}
	}
	if len(rows) > 0 {
		t.Errorf("there are no metrics %v", rows)
	}
}

func TestEveryAttributeIsDocumented(t *testing.T) {
	rows := documented(t, "Attributes")
	for key := range attributes {
		if len(rows[string(key)]) == 0 {
			t.Errorf("%s is not documented", key)
		}
		delete(rows, string(key))
	}
	if len(rows) > 0 {
		t.Errorf("there are no attributes %v", rows)
	}
}
