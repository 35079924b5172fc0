package telemetry_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"gopkg.in/yaml.v3"
)

func kindOf(m metricdata.Metrics) string {
	switch m.Data.(type) {
	case metricdata.Histogram[float64]:
		return "histogram"
	case metricdata.Sum[int64]:
		return "counter"
	default:
		return "gauge"
	}
}

// exported returns the names that Prometheus gives to a metric, by the OpenTelemetry specification "Prometheus and
// OpenMetrics Compatibility". The unit s becomes the suffix seconds. A unit in braces is dropped. The name of a counter
// gets the suffix total.
func exported(m metricdata.Metrics) []string {
	name := strings.ReplaceAll(m.Name, ".", "_")
	if m.Unit == "s" {
		name += "_seconds"
	}
	switch kindOf(m) {
	case "histogram":
		return []string{name + "_bucket", name + "_sum", name + "_count"}
	case "counter":
		return []string{name + "_total"}
	default:
		return []string{name}
	}
}

// series returns the names of all exported series with their labels. The labels that a scrape adds are not included.
func series(t *testing.T) map[string][]string {
	t.Helper()
	w := newWorlds(t, "staff")[0]
	w.reportAll(t)
	all := map[string][]string{}
	for _, m := range w.collect(t) {
		var labels []string
		for _, p := range pointsOf(t, m) {
			for _, one := range p.attributes.ToSlice() {
				labels = append(labels, strings.ReplaceAll(string(one.Key), ".", "_"))
			}
		}
		for _, name := range exported(m) {
			all[name] = labels
		}
	}
	return all
}

var (
	metricName = regexp.MustCompile(`\bhabeas_[a-z_]+`)
	quoted     = regexp.MustCompile(`"[^"]*"`)
	labelName  = regexp.MustCompile(`\b(?:habeas|http|error)_[a-z_]+`)
)

// checkExpression checks that the PromQL expression uses only exported metrics and labels. It searches for names and
// does not parse the expression.
func checkExpression(t *testing.T, where, expression string, all map[string][]string) {
	t.Helper()
	if strings.Count(expression, "(") != strings.Count(expression, ")") ||
		strings.Count(expression, "{") != strings.Count(expression, "}") {
		t.Errorf("%s: the brackets of %q are not closed", where, expression)
	}
	var names, labels []string
	for _, word := range labelName.FindAllString(quoted.ReplaceAllString(expression, `""`), -1) {
		if _, is := all[word]; is {
			names = append(names, word)
			labels = append(labels, all[word]...)
		}
	}
	if len(names) == 0 {
		t.Errorf("%s: %q names no metric", where, expression)
	}
	for _, word := range labelName.FindAllString(quoted.ReplaceAllString(expression, `""`), -1) {
		if !slices.Contains(names, word) && !slices.Contains(labels, word) {
			t.Errorf("%s: %q names %s, which is neither a metric nor a label of its metrics", where, expression, word)
		}
	}
}

func TestTheAlertsUseExportedMetrics(t *testing.T) {
	content, err := os.ReadFile("alerts.yaml")
	must(t, err)
	var file struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	decoder := yaml.NewDecoder(strings.NewReader(string(content)))
	decoder.KnownFields(true)
	must(t, decoder.Decode(&file))
	all, seen := series(t), map[string]bool{}
	for _, group := range file.Groups {
		for _, rule := range group.Rules {
			if rule.Alert == "" || seen[rule.Alert] || rule.Labels["severity"] == "" ||
				rule.Annotations["summary"] == "" || rule.Annotations["description"] == "" {
				t.Errorf("%q is incomplete or a duplicate", rule.Alert)
			}
			seen[rule.Alert] = true
			checkExpression(t, rule.Alert, rule.Expr, all)
			if _, err := time.ParseDuration(rule.For); rule.For != "" && err != nil {
				t.Errorf("%s: %v", rule.Alert, err)
			}
		}
	}
	if len(seen) < 8 {
		t.Errorf("the file has %d alerts", len(seen))
	}
}

// panel is a panel of a Grafana dashboard.
type panel struct {
	ID          int
	Title, Type string
	Description string
	GridPos     struct{ X, Y, W, H int }
	Targets     []struct{ Expr, RefID, LegendFormat string }
	FieldConfig struct {
		Defaults struct{ Unit string }
	}
}

func TestTheDashboardUsesExportedMetrics(t *testing.T) {
	content, err := os.ReadFile("dashboard.json")
	must(t, err)
	var dashboard struct {
		Title, UID    string
		SchemaVersion int
		Panels        []panel
		Templating    struct {
			List []struct{ Name, Type, Query string }
		}
	}
	must(t, json.Unmarshal(content, &dashboard))
	all, ids, shown := series(t), map[int]bool{}, map[string]bool{}
	for _, p := range dashboard.Panels {
		if p.Title == "" || ids[p.ID] || p.GridPos.W == 0 || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("panel %d %q is incomplete or a duplicate", p.ID, p.Title)
		}
		ids[p.ID] = true
		if p.Type == "row" {
			continue
		}
		if len(p.Targets) == 0 || p.FieldConfig.Defaults.Unit == "" {
			t.Errorf("panel %q has no target or no unit", p.Title)
		}
		for _, target := range p.Targets {
			checkExpression(t, p.Title, target.Expr, all)
			for _, name := range metricName.FindAllString(target.Expr, -1) {
				shown[name] = true
			}
		}
	}
	if dashboard.Title == "" || dashboard.SchemaVersion == 0 || len(dashboard.Templating.List) == 0 {
		t.Error("the dashboard is incomplete")
	}
	for name := range all {
		if strings.HasSuffix(name, "_sum") || strings.HasSuffix(name, "_count") || shown[name] {
			continue
		}
		t.Errorf("no panel shows %s", name)
	}
}

// checkExpression must report a metric or label that does not exist. Otherwise the other tests of this file would
// always pass.
func TestTheCheckFindsUnknownMetrics(t *testing.T) {
	all := series(t)
	for _, expression := range []string{
		`sum(habeas_erasure_total)`, `habeas_erasures_total{habeas_system="desk"}`, `up`, `sum(habeas_erasures_total`,
	} {
		failed := &testing.T{}
		done := make(chan struct{})
		go func() {
			defer close(done)
			checkExpression(failed, "test", expression, all)
		}()
		<-done
		if !failed.Failed() {
			t.Errorf("%q is accepted", expression)
		}
	}
}
