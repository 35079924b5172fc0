package telemetry_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/habeas-data/habeas/adapters/telemetry"
	"github.com/habeas-data/habeas/domain/observation"
	"github.com/habeas-data/habeas/internal/tests/fixture"
)

var noon = time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)

// world is an observer with an SDK, and a clock that advances only when a test advances it.
type world struct {
	*telemetry.Observer
	reader *sdkmetric.ManualReader
	spans  *tracetest.InMemoryExporter
	now    time.Time
}

func (w *world) Now() time.Time { return w.now }

func newWorld(t testing.TB) *world {
	t.Helper()
	return newWorlds(t, "")[0]
}

// newWorlds returns an observer for each name of a data map. All observers use the same SDK.
func newWorlds(t testing.TB, names ...string) (all []*world) {
	t.Helper()
	reader, spans := sdkmetric.NewManualReader(), tracetest.NewInMemoryExporter()
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	tracers := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	for _, name := range names {
		w := &world{reader: reader, spans: spans, now: noon}
		var err error
		w.Observer, err = telemetry.New(telemetry.Options{
			MeterProvider: meters, TracerProvider: tracers, Clock: w, Name: name,
		})
		must(t, err)
		all = append(all, w)
	}
	return all
}

// during reports an activity to the observer, and advances the clock by the given duration of the activity.
func (w *world) during(
	ctx context.Context, a observation.Activity, took time.Duration, ended observation.ActivityEnd,
) context.Context {
	ctx, end := w.Start(ctx, a)
	w.now = w.now.Add(took)
	end(ended)
	return ctx
}

// collect returns all metrics by name.
func (w *world) collect(t testing.TB) map[string]metricdata.Metrics {
	t.Helper()
	var all metricdata.ResourceMetrics
	must(t, w.reader.Collect(t.Context(), &all))
	byName := map[string]metricdata.Metrics{}
	for _, scope := range all.ScopeMetrics {
		if scope.Scope.Name != telemetry.Scope {
			t.Errorf("the scope is %s", scope.Scope.Name)
		}
		for _, m := range scope.Metrics {
			byName[m.Name] = m
		}
	}
	return byName
}

// point is one value of a metric, with its attributes. For a histogram, the value is the sum.
type point struct {
	attributes attribute.Set
	value      float64
}

func pointsOf(t testing.TB, m metricdata.Metrics) (points []point) {
	t.Helper()
	switch data := m.Data.(type) {
	case metricdata.Histogram[float64]:
		for _, p := range data.DataPoints {
			points = append(points, point{p.Attributes, p.Sum})
		}
	case metricdata.Sum[int64]:
		for _, p := range data.DataPoints {
			points = append(points, point{p.Attributes, float64(p.Value)})
		}
	case metricdata.Gauge[int64]:
		for _, p := range data.DataPoints {
			points = append(points, point{p.Attributes, float64(p.Value)})
		}
	case metricdata.Gauge[float64]:
		for _, p := range data.DataPoints {
			points = append(points, point{p.Attributes, p.Value})
		}
	default:
		t.Fatalf("%s is a %T", m.Name, m.Data)
	}
	return points
}

// lines returns all points whose value is not 0, in the form "name{attributes} value".
func (w *world) lines(t testing.TB) (lines []string) {
	t.Helper()
	for name, m := range w.collect(t) {
		for _, p := range pointsOf(t, m) {
			if p.value != 0 {
				lines = append(lines, fmt.Sprintf("%s{%s} %g", name, p.attributes.Encoded(attribute.DefaultEncoder()), p.value))
			}
		}
	}
	slices.Sort(lines)
	return lines
}

func (w *world) want(t *testing.T, want ...string) {
	t.Helper()
	if got := w.lines(t); !slices.Equal(got, want) {
		t.Errorf("measured\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

var must = fixture.Must
