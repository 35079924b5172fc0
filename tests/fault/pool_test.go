package fault_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/supportdesk"
	"github.com/habeas-data/habeas/adapters/supportdesk/desktest"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

func TestAnExportThatWaitsForADeskKeepsNoConnectionBusy(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		latch := desktest.NewLatch()
		t.Cleanup(latch.Open)
		desk := desktest.New("token")
		desk.Always(latch.Hold)
		server := httptest.NewServer(desk)
		t.Cleanup(server.Close)
		patient, err := supportdesk.New("token", supportdesk.Options{BaseURL: server.URL, Timeout: time.Minute})
		must(t, err)
		w := newWorld(t, db, func(c *app.Config) {
			c.Resolvers, c.ResolverTimeout = []ports.Resolver{patient}, time.Minute
		})
		db.SetMaxOpenConns(1)

		exported := make(chan int, 1)
		go func() {
			response, err := w.shop.Test(httptest.NewRequest(http.MethodGet, "/me/export", nil), int(time.Minute.Milliseconds()))
			if err != nil {
				t.Error(err)
				exported <- 0
				return
			}
			_ = response.Body.Close()
			exported <- response.StatusCode
		}()
		<-latch.Entered() // the worker waits for the desk
		var status domain.ConsentStatus
		w.send(http.MethodGet, "/me/consent/newsletter", &status)
		select {
		case code := <-exported:
			t.Errorf("the export was answered %d without its desk", code)
		default:
		}
		latch.Open()
		if code := <-exported; code != http.StatusOK {
			t.Errorf("the export was answered %d", code)
		}
	})
}
