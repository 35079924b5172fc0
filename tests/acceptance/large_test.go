package acceptance_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"testing"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/internal/tests/databases"
)

// While a client reads an export with many rows, the live memory of the process grows by at most 8 MiB, because the
// process buffers at most 1 MiB of the export.
func TestAnExportOfManyRowsTakesLittleMemory(t *testing.T) {
	const most = 8 << 20
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		rows := 100_000
		if db.Dialect().Name() == dialect.SQLite {
			rows = 20_000 // fewer rows, because SQLite is slow under the race detector
		}
		s := newHost(t, db, 1)
		_, err := db.NewRaw("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"+
			" INSERT INTO parcels (customer_id, address) SELECT 1, 'Street ' || i FROM n", rows).Exec(context.Background())
		must(t, err)
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		go func() { _ = s.server.Listener(listener) }()
		defer func() { must(t, s.server.Shutdown()) }()

		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
			"http://"+listener.Addr().String()+"/me/export", nil)
		must(t, err)
		request.Header.Set("X-Customer", "1")
		request.Close = true
		before := live()
		response, err := http.DefaultClient.Do(request)
		must(t, err)
		defer func() { _ = response.Body.Close() }()
		counter := &records{decoder: json.NewDecoder(response.Body)}
		for counter.next(t) {
			if counter.n%10_000 == 0 {
				if now := live(); now > before+most {
					t.Fatalf("after %d records %d KiB are live", counter.n, (now-before)>>10)
				}
			}
		}
		if counter.n != rows+4 { // the email address, and the three parcels that newHost adds
			t.Errorf("there are %d records", counter.n)
		}
	})
}

// live returns the number of live bytes.
func live() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// records decodes the records of an export one by one.
type records struct {
	decoder *json.Decoder
	n       int
	inside  bool
}

func (r *records) next(t *testing.T) bool {
	t.Helper()
	for !r.inside {
		token, err := r.decoder.Token()
		must(t, err)
		r.inside = fmt.Sprint(token) == "["
	}
	if !r.decoder.More() {
		for {
			if _, err := r.decoder.Token(); errors.Is(err, io.EOF) {
				return false
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
	var record struct{ Source string }
	must(t, r.decoder.Decode(&record))
	r.n++
	return true
}
