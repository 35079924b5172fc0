package fiberhttp_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/habeas-data/habeas/internal/tests/httpfake"
)

type (
	sessions = httpfake.Sessions
	clock    = httpfake.Clock
	ids      = httpfake.IDs
)

// newLargeStore returns a store in which every subject has 2.5 MiB of data.
func newLargeStore() *httpfake.Large { return &httpfake.Large{SessionFactory: &sessions{}} }

// getExport sends GET /me/export with a client of net/http. It returns the status and the body.
func getExport(t *testing.T, address string) (status int, body []byte, err error) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{}} // decompresses gzip
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/me/export", nil)
	require(t, err)
	request.Header.Set("X-User", "42")
	response, err := client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	body, err = io.ReadAll(response.Body)
	return response.StatusCode, body, err
}
