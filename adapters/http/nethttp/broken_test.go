package nethttp_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/habeas-data/habeas/adapters/http/nethttp"
)

// recovering is a middleware that recovers every panic of the handler.
func recovering(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { _ = recover() }()
		next.ServeHTTP(w, r)
	})
}

// compressing is a middleware that compresses the response. It finishes the compressed body even after a panic.
func compressing(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		compressor := gzip.NewWriter(w)
		defer func() { _ = compressor.Close() }()
		next.ServeHTTP(redirected{w, compressor}, r)
	})
}

// redirected is a ResponseWriter that writes the body to the given writer. Unwrap returns the original ResponseWriter,
// which gives access to the connection.
type redirected struct {
	http.ResponseWriter
	to io.Writer
}

func (p redirected) Write(b []byte) (int, error) {
	p.Header().Del("Content-Length")
	return p.to.Write(b)
}

func (p redirected) WriteHeader(status int) {
	p.Header().Del("Content-Length")
	p.ResponseWriter.WriteHeader(status)
}

func (p redirected) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// sealed is a middleware that hides all methods of the ResponseWriter except those of the interface
// http.ResponseWriter.
func sealed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(struct{ http.ResponseWriter }{w}, r)
	})
}

// buffering is a middleware that buffers the body. It sends the buffer when the handler has ended, even by a panic.
func buffering(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body bytes.Buffer
		defer func() { _, _ = w.Write(body.Bytes()) }()
		next.ServeHTTP(redirected{w, &body}, r)
	})
}

func chain(wraps ...func(http.Handler) http.Handler) func(http.Handler) http.Handler {
	return func(handler http.Handler) http.Handler {
		for _, wrap := range wraps {
			handler = wrap(handler)
		}
		return handler
	}
}

func TestABrokenExportNeverLooksComplete(t *testing.T) {
	for name, wrap := range map[string]func(http.Handler) http.Handler{
		"alone":                          chain(),
		"recover":                        chain(recovering),
		"recover in a sealed writer":     chain(sealed, recovering),
		"recover outside of buffering":   chain(buffering, recovering),
		"recover inside of buffering":    chain(recovering, buffering),
		"recover outside of gzip":        chain(compressing, recovering),
		"recover inside of gzip":         chain(recovering, compressing),
		"recover in gzip that is sealed": chain(sealed, recovering, compressing),
	} {
		for _, http2 := range []bool{false, true} {
			t.Run(name+map[bool]string{true: " over HTTP/2", false: " over HTTP/1.1"}[http2], func(t *testing.T) {
				store := newLargeStore(t)
				server := httptest.NewUnstartedServer(wrap(nethttp.Handler("/me", store.api(t), as42)))
				server.Config.ErrorLog = log.New(io.Discard, "", 0)
				server.EnableHTTP2 = http2
				server.StartTLS()
				defer server.Close()
				get := func() (int, []byte, error) {
					response, err := server.Client().Get(server.URL + "/me/export")
					if err != nil {
						return 0, nil, err
					}
					defer response.Body.Close()
					if (response.ProtoMajor == 2) != http2 {
						t.Fatalf("over %s", response.Proto)
					}
					body, err := io.ReadAll(response.Body)
					return response.StatusCode, body, err
				}
				if status, body, err := get(); err != nil || status != 200 || !store.IsComplete(body) {
					t.Fatalf("an export without a failure: %d with %d bytes, %v", status, len(body), err)
				}
				store.Cut.Store(true)
				if status, body, err := get(); err == nil && status == 200 {
					t.Errorf("a broken export of %d bytes looks complete; is it JSON: %v", len(body), json.Valid(body))
				}
				store.Cut.Store(false)
				if status, body, err := get(); err != nil || status != 200 || !store.IsComplete(body) {
					t.Errorf("afterwards: %d with %d bytes, %v", status, len(body), err)
				}
			})
		}
	}
}

func TestAnExportOverHTTP10HasALength(t *testing.T) {
	for _, connection := range []string{"", "Connection: keep-alive\r\n"} {
		store := newLargeStore(t)
		server := httptest.NewServer(recovering(nethttp.Handler("/me", store.api(t), as42)))
		defer server.Close()
		get := func() (int, int64, []byte, error) {
			client, err := net.Dial("tcp", server.Listener.Addr().String())
			require(t, err)
			defer client.Close()
			_, err = io.WriteString(client, "GET /me/export HTTP/1.0\r\n"+connection+"\r\n")
			require(t, err)
			response, err := http.ReadResponse(bufio.NewReader(client), nil)
			require(t, err)
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			return response.StatusCode, response.ContentLength, body, err
		}
		status, length, body, err := get()
		if err != nil || status != 200 || int(length) != len(body) || !store.IsComplete(body) {
			t.Errorf("%d with %d of %d bytes, %v", status, len(body), length, err)
		}
		store.Cut.Store(true)
		if status, _, _, err := get(); err != nil || status != 500 {
			t.Errorf("%d, %v", status, err)
		}
	}
}
