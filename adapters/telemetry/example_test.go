package telemetry_test

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/adapters/telemetry"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
)

// The application chooses the SDK and the exporters. app.New also passes the observer to the store.
func ExampleNew() {
	reader := metric.NewManualReader() // an application uses an exporter instead
	observer, err := telemetry.New(telemetry.Options{
		MeterProvider: metric.NewMeterProvider(metric.WithReader(reader)),
	})
	check(err)
	dataMap, err := datamap.NewDataMap(datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{{Name: "id", Type: datamap.TypeBigInt}},
	})
	check(err)
	store, err := memory.New(dataMap, memory.Options{Observer: observer})
	check(err)
	engines, err := stack.New(stack.Config{
		Sessions: store, DataMap: dataMap, Options: stack.Options{Observer: observer},
	})
	check(err)

	zoe, err := domain.NewSubject("42")
	check(err)
	check(engines.Sessions.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
		_, err := engines.Eraser.Erase(ctx, s, zoe)
		return err
	}))

	var collected metricdata.ResourceMetrics
	check(reader.Collect(context.Background(), &collected))
	for _, m := range collected.ScopeMetrics[0].Metrics {
		counter, isCounter := m.Data.(metricdata.Sum[int64])
		for _, point := range counter.DataPoints {
			if isCounter && point.Value > 0 {
				outcome, _ := point.Attributes.Value("habeas.outcome")
				fmt.Println(m.Name, outcome.AsString(), point.Value)
			}
		}
	}
	// Output: habeas.erasures ok 1
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
