package growth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

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
	server, err := c.Start(ctx, database)
	if err != nil {
		return Subject{}, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	if _, err := exportOver(ctx, server, 1, SmallestSubject, nil); err != nil { // warms up
		return Subject{}, err
	}
	subject := Subject{Rows: rows}
	for i := range int64(c.Each) {
		if subject.Bytes, err = exportOver(ctx, server, user+i, rows, &subject.Export); err != nil {
			return Subject{}, err
		}
	}
	subject.ExportPeak = peak(server)
	for i := range int64(c.Each) {
		if err := eraseOver(ctx, server, user+i, rows, &subject.Erase); err != nil {
			return Subject{}, err
		}
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

// exportOver exports a user and checks that all of the rows are there.
func exportOver(ctx context.Context, server *process.Server, user int64, rows int, times *[]time.Duration) (int64, error) {
	body, err := ask(ctx, server, http.MethodGet, "/me/export", user, times)
	if err != nil {
		return 0, err
	}
	var bundle struct{ Records []struct{ Field string } }
	if err := json.Unmarshal(body, &bundle); err != nil {
		return 0, fmt.Errorf("an export is broken: %w", err)
	}
	if got, want := len(bundle.Records), recordsOf(rows); got != want {
		return 0, fmt.Errorf("an export has %d records, want %d", got, want)
	}
	return int64(len(body)), nil
}

// eraseOver erases a user and checks that all of the rows were reached.
func eraseOver(ctx context.Context, server *process.Server, user int64, rows int, times *[]time.Duration) error {
	body, err := ask(ctx, server, http.MethodDelete, "/me", user, times)
	if err != nil {
		return err
	}
	var result struct{ Anonymized map[string]int }
	if err := json.Unmarshal(body, &result); err != nil {
		return err
	}
	if got, want := result.Anonymized["orders"], rows-SmallestSubject+ordersOfUser; got != want {
		return fmt.Errorf("%d orders were anonymized, want %d", got, want)
	}
	return nil
}

// ask sends a request of a user, and adds how long it took until the last byte of the answer was there.
func ask(
	ctx context.Context, server *process.Server, method, path string, user int64, times *[]time.Duration,
) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://"+server.Address+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+strconv.FormatInt(user, 10))
	begin := time.Now()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("%s %s was broken off: %w", method, path, err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s %s was answered %d", method, path, response.StatusCode)
	}
	if times != nil {
		*times = append(*times, time.Since(begin))
	}
	return body, nil
}

// perRow is what one row of the subject cost.
func (s Subject) perRow(times []time.Duration) time.Duration {
	return stats.Median(times) / time.Duration(s.Rows)
}
