package growth

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/habeas-data/habeas/tests/bench/endpoints"
	"github.com/habeas-data/habeas/tests/bench/process"
	"github.com/habeas-data/habeas/tests/bench/report"
	"github.com/habeas-data/habeas/tests/bench/shop"
	"github.com/habeas-data/habeas/tests/bench/stats"
)

// Subject is what subjects of so many rows cost, over HTTP.
type Subject struct {
	Rows   int
	Bytes  int64 // of an export
	Export []time.Duration
	Erase  []time.Duration
	// Peak memory of the server, in bytes, after the exports and then after the erasures; 0 where that is not known.
	ExportPeak, ErasePeak int64
}

// smallShop are the users around those who have many rows. All have the numbers before theirs.
const smallShop = 500

// moreOrders gives a user orders beyond those that rows.sql has given.
const moreOrders = `
INSERT INTO orders (id, user_id, recipient, product, note, status, total, placed_at)
SELECT (SELECT max(id) FROM orders) + n, :user, 'Erika Mustermann ' || n, 'Article no. ' || n % 5000,
       CASE WHEN n % 4 = 0 THEN 'Please leave it with the neighbours on the second floor' END, 'delivered',
       (n % 50000) / 100.0, TIMESTAMPTZ '2024-01-01 00:00Z' + n * INTERVAL '1 minute'
FROM generate_series(1, :rows) AS n`

func (c Config) measureSubjects(ctx context.Context) ([]Subject, error) {
	c.Progress("making subjects of many rows")
	users := smallShop + len(c.Subjects)*c.Each
	database, err := shop.CreateAs(ctx, c.ServerURL, "growth_subjects", users)
	if err != nil {
		return nil, err
	}
	user := int64(smallShop)
	for _, rows := range c.Subjects {
		for range c.Each {
			user++
			if err := shop.Execute(ctx, database, strings.NewReplacer(":user", strconv.FormatInt(user, 10),
				":rows", strconv.Itoa(rows-SmallestSubject)).Replace(moreOrders)); err != nil {
				return nil, err
			}
		}
	}
	for _, statement := range []string{"VACUUM ANALYZE", "CHECKPOINT"} {
		if err := shop.Execute(ctx, database, statement); err != nil {
			return nil, err
		}
	}
	var all []Subject
	user = smallShop + 1
	for _, rows := range c.Subjects {
		subject, err := c.measureSubject(ctx, database, rows, user)
		if err != nil {
			return nil, fmt.Errorf("%d rows: %w", rows, err)
		}
		all = append(all, subject)
		user += int64(c.Each)
	}
	return all, nil
}

// measureSubject has a server of its own, whose memory has only seen subjects of that size.
func (c Config) measureSubject(ctx context.Context, database string, rows int, user int64) (_ Subject, err error) {
	c.Progress(fmt.Sprintf("export and erasure of subjects with %s rows", report.Rate(float64(rows))))
	server, err := c.Start(ctx, endpoints.Habeas, database)
	if err != nil {
		return Subject{}, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	if _, _, err := exportOver(ctx, server, 1, SmallestSubject); err != nil { // warms up
		return Subject{}, err
	}
	subject := Subject{Rows: rows}
	for i := range int64(c.Each) {
		bytes, took, err := exportOver(ctx, server, user+i, rows)
		if err != nil {
			return Subject{}, err
		}
		subject.Bytes, subject.Export = bytes, append(subject.Export, took)
	}
	subject.ExportPeak = peak(server)
	for i := range int64(c.Each) {
		took, err := eraseOver(ctx, server, user+i, rows)
		if err != nil {
			return Subject{}, err
		}
		subject.Erase = append(subject.Erase, took)
	}
	subject.ErasePeak = peak(server)
	return subject, nil
}

func peak(server *process.Server) int64 {
	bytes, err := server.PeakMemory()
	if err != nil {
		return 0
	}
	return bytes
}

// perRow is what one row of the subject cost.
func (s Subject) perRow(times []time.Duration) time.Duration {
	return stats.Median(times) / time.Duration(s.Rows)
}
