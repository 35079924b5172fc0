package growth

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/habeas-data/habeas/tests/bench/endpoints"
	"github.com/habeas-data/habeas/tests/bench/process"
	"github.com/habeas-data/habeas/tests/bench/results"
	"github.com/habeas-data/habeas/tests/bench/shop"
)

// smallShop is the number of users with few rows. They have the numbers 1 to smallShop. The users with many rows have
// higher numbers.
const smallShop = 500

const moreOrders = `
INSERT INTO orders (id, user_id, recipient, product, note, status, total, placed_at)
SELECT (SELECT max(id) FROM orders) + n, :user, 'Erika Mustermann ' || n, 'Article no. ' || n % 5000,
       CASE WHEN n % 4 = 0 THEN 'Please leave it with the neighbours on the second floor' END, 'delivered',
       (n % 50000) / 100.0, TIMESTAMPTZ '2024-01-01 00:00Z' + n * INTERVAL '1 minute'
FROM generate_series(1, :rows) AS n`

func (c Config) measureSubjects(ctx context.Context, all *results.Set) error {
	c.Progress("making subjects of many rows")
	users := smallShop + len(c.Subjects)*c.Each
	database, err := shop.CreateAs(ctx, c.ServerURL, "growth_subjects", users)
	if err != nil {
		return err
	}
	user := int64(smallShop)
	for _, rows := range c.Subjects {
		for range c.Each {
			user++
			if err := shop.Execute(ctx, database, strings.NewReplacer(":user", strconv.FormatInt(user, 10),
				":rows", strconv.Itoa(rows-SmallestSubject)).Replace(moreOrders)); err != nil {
				return err
			}
		}
	}
	for _, statement := range []string{"VACUUM ANALYZE", "CHECKPOINT"} {
		if err := shop.Execute(ctx, database, statement); err != nil {
			return err
		}
	}
	user = smallShop + 1
	for _, rows := range c.Subjects {
		if err := c.measureSubject(ctx, database, rows, user, all); err != nil {
			return fmt.Errorf("%d rows: %w", rows, err)
		}
		user += int64(c.Each)
	}
	return nil
}

// measureSubject measures exports and erasures of several users with the given number of rows. The users have
// consecutive numbers, and the given user is the first of them. measureSubject starts a new server, because a result
// contains the peak memory of the server since its start.
func (c Config) measureSubject(
	ctx context.Context, database string, rows int, user int64, all *results.Set,
) (err error) {
	c.Progress(fmt.Sprintf("export and erasure of subjects with %d rows", rows))
	server, err := c.Start(ctx, endpoints.Habeas, database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	if _, _, err := exportOver(ctx, server, 1, SmallestSubject); err != nil { // warms the server up
		return err
	}
	add := func(operation string, took time.Duration, more ...benchfmt.Value) {
		peak, _ := process.PeakMemory(server.Process()) // 0 if unknown
		values := append([]benchfmt.Value{
			results.Seconds(took, "sec/op"), results.Seconds(took/time.Duration(rows), "sec/row"),
			results.Value(float64(peak), "peak-B"),
		}, more...)
		all.Add(Subject, 1, results.Known(values...), "operation", operation, "rows", rows)
	}
	for i := range int64(c.Each) {
		bytes, took, err := exportOver(ctx, server, user+i, rows)
		if err != nil {
			return err
		}
		add("export", took, results.Value(float64(bytes), "response-B"))
	}
	for i := range int64(c.Each) {
		took, err := eraseOver(ctx, server, user+i, rows)
		if err != nil {
			return err
		}
		add("erase", took)
	}
	return nil
}
