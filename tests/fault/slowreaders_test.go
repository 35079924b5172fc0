package fault_test

import (
	"cmp"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/uptrace/bun"
	"go.uber.org/goleak"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/httpfake"
	"github.com/habeas-data/habeas/internal/tests/shop"
)

const (
	slowReaders = 64
	slowExport  = 3 << 20 // bytes, more than the buffers of a connection

	others       = 100 // requests of other people
	othersWithin = 100 * time.Millisecond
)

// routers serve an integration on a listener, until the returned function is called.
var routers = map[string]func(t *testing.T, gdpr *app.Integration, listener net.Listener) (stop func()){
	"fiber": func(t *testing.T, gdpr *app.Integration, listener net.Listener) func() {
		t.Helper()
		host := fiber.New(fiber.Config{DisableStartupMessage: true})
		host.Route("/me", gdpr.Router(func(c *fiber.Ctx) (domain.Subject, error) { return personOf(c.Get("Person")) }))
		served := make(chan error, 1)
		go func() { served <- host.Listener(listener) }()
		return func() {
			must(t, host.Shutdown())
			must(t, <-served)
		}
	},
	"nethttp": func(t *testing.T, gdpr *app.Integration, listener net.Listener) func() {
		t.Helper()
		server := &http.Server{Handler: gdpr.Handler("/me",
			func(r *http.Request) (domain.Subject, error) { return personOf(r.Header.Get("Person")) })}
		go func() { _ = server.Serve(listener) }()
		return func() { must(t, server.Shutdown(t.Context())) }
	},
}

// personOf returns another person than the reader of the exports if the request names one.
func personOf(header string) (domain.Subject, error) {
	return domain.NewSubject(cmp.Or(strings.Clone(header), "7")) // Fiber reuses the memory of the header
}

// Half of the readers use HTTP/1.0, where a response has a length.
func TestSlowReadersKeepNoConnectionAndBoundedMemory(t *testing.T) {
	for name, serve := range routers {
		t.Run(name, func(t *testing.T) {
			databases.Each(t, func(t *testing.T, db *bun.DB) {
				directory := t.TempDir()
				w := newWorld(t, db, func(c *app.Config) { c.Resolvers, c.TempDir = nil, directory })
				databases.Insert(t, db, &shop.Parcel{CustomerID: 7, Address: strings.Repeat("x", slowExport)})
				db.SetMaxOpenConns(1)
				ping(t, db)
				running := goleak.IgnoreCurrent()
				listener, err := net.Listen("tcp", "127.0.0.1:0")
				must(t, err)
				address := listener.Addr().String()
				stop := serve(t, w.gdpr, httpfake.Narrow{Listener: listener})
				before := heap()
				for i := range slowReaders {
					client := slowClient(t, address, []string{"1.1", "1.0"}[i%2])
					defer client.Close()
				}
				other := http.Client{Transport: &http.Transport{}, Timeout: time.Minute}
				answersOthers(t, &other, "http://"+address+"/me/consent/newsletter")
				if grown := heap() - before; grown > slowReaders*slowExport/2 {
					t.Errorf("the unread exports hold %d MiB", grown>>20)
				}
				if left, err := os.ReadDir(directory); err != nil || len(left) > 0 {
					t.Errorf("%d files have names, %v", len(left), err)
				}
				other.CloseIdleConnections()
				began := time.Now()
				stop()
				if took := time.Since(began); took > 20*time.Second {
					t.Errorf("the shutdown took %v", took)
				}
				goleak.VerifyNone(t, running, goleak.IgnoreTopFunction("time.Sleep")) // fasthttp's own
			})
		})
	}
}

// answersOthers fails the test unless requests of other people succeed, 99% of them within othersWithin.
func answersOthers(t *testing.T, client *http.Client, url string) {
	t.Helper()
	took := make([]time.Duration, others)
	for i := range took {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
		must(t, err)
		request.Header.Set("Person", strconv.Itoa(100+i))
		began := time.Now()
		response, err := client.Do(request)
		must(t, err)
		_, err = io.Copy(io.Discard, response.Body)
		must(t, err)
		must(t, response.Body.Close())
		if took[i] = time.Since(began); response.StatusCode != http.StatusOK {
			t.Fatalf("another request got %s", response.Status)
		}
	}
	slices.Sort(took)
	median, p99 := took[others/2], took[others*99/100-1]
	t.Logf("other requests: median %v, p99 %v", median, p99)
	if p99 > othersWithin {
		t.Errorf("p99 is above %v", othersWithin)
	}
}

// slowClient requests an export and reads only the begin of the response.
func slowClient(t *testing.T, address, version string) net.Conn {
	t.Helper()
	client, err := net.Dial("tcp", address)
	must(t, err)
	must(t, client.(*net.TCPConn).SetReadBuffer(4<<10))
	_, err = io.WriteString(client, "GET /me/export HTTP/"+version+"\r\nHost: h\r\n\r\n")
	must(t, err)
	must(t, client.SetReadDeadline(time.Now().Add(time.Minute)))
	begin := make([]byte, 100)
	_, err = io.ReadFull(client, begin)
	must(t, err)
	if !strings.Contains(string(begin), " 200 OK") {
		t.Fatalf("the export was answered %q", begin)
	}
	return client
}

// ping waits for a free connection.
func ping(t *testing.T, db *bun.DB) {
	t.Helper()
	must(t, db.PingContext(t.Context()))
}

func heap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
