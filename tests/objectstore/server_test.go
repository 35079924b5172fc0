// Package objectstore tests the resolver for files with an S3 server. The server runs in the test process and listens
// on the loopback interface.
package objectstore_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"
	"gocloud.dev/blob"
	"gocloud.dev/blob/s3blob"

	"github.com/habeas-data/habeas/adapters/objectstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/fixture"
)

const (
	accessKey = "test-access-key"
	secretKey = "test-secret-key"
)

// server is the address of the S3 server. All tests share it, because a process can run only one such server.
var server string

func TestMain(m *testing.M) {
	code, err := withServer(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, "the S3 server:", err)
		code = 1
	}
	os.Exit(code)
}

func withServer(run func() int) (code int, err error) {
	directory, err := os.MkdirTemp("", "habeas-objectstore-")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(directory)) }()
	data, versions, sidecar := filepath.Join(directory, "data"), filepath.Join(directory, "versions"),
		filepath.Join(directory, "sidecar")
	for _, each := range []string{data, versions, sidecar} {
		if err := os.Mkdir(each, 0o700); err != nil {
			return 1, err
		}
	}
	// The server stores attributes of objects in separate files, because not every file system supports extended
	// attributes.
	attributes, err := meta.NewSideCar(sidecar)
	if err != nil {
		return 1, err
	}
	store, err := posix.New(data, attributes, posix.PosixOpts{
		VersioningDir: versions, SideCarDir: sidecar, Concurrency: 16,
	})
	if err != nil {
		return 1, err
	}
	if server, err = freeAddress(); err != nil {
		return 1, err
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- embedgw.RunVersityGW(ctx, store, &embedgw.Config{
			RootUserAccess: accessKey, RootUserSecret: secretKey, Ports: []string{server}, Quiet: true, KeepAlive: true,
			MaxConnections: 1000, MaxRequests: 500, MultipartMaxParts: 10_000, HealthPath: "/health",
		})
	}()
	if err := awaitHealth(ended); err != nil {
		stop()
		return 1, err
	}
	code = run()
	stop()
	return code, <-ended
}

func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

func awaitHealth(ended <-chan error) error {
	ticks := time.NewTicker(20 * time.Millisecond)
	defer ticks.Stop()
	patience := time.After(30 * time.Second)
	for {
		if response, err := http.Get("http://" + server + "/health"); err == nil {
			_ = response.Body.Close()
			return nil
		}
		select {
		case err := <-ended:
			return err
		case <-patience:
			return context.DeadlineExceeded
		case <-ticks.C:
		}
	}
}

// world is a bucket, with clients that access the bucket.
type world struct {
	client *s3.Client // a client for the test itself
	name   string
	bucket *blob.Bucket                     // the client under test
	fault  atomic.Pointer[http.HandlerFunc] // if set, it responds to all requests of the client under test
}

var buckets atomic.Int64

// newWorld creates a bucket on the server. If versioned is true, the bucket stores all versions of an object, and
// supports legal holds, which forbid the deletion of a version.
func newWorld(t testing.TB, versioned bool) *world {
	t.Helper()
	w := &world{client: connect("http://" + server), name: fmt.Sprintf("bucket-%d", buckets.Add(1))}
	_, err := w.client.CreateBucket(t.Context(), &s3.CreateBucketInput{
		Bucket: &w.name, ObjectLockEnabledForBucket: aws.Bool(versioned),
	})
	must(t, err)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: server})
		r.Out.Host = r.In.Host // the signature of the request includes the host
	}}
	var one sync.Mutex // serializes deletions, which this server does not run atomically
	front := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if fault := w.fault.Load(); fault != nil {
			(*fault)(rw, r)
			return
		}
		one.Lock()
		defer one.Unlock()
		proxy.ServeHTTP(rw, r)
	}))
	t.Cleanup(front.Close)
	w.bucket, err = s3blob.OpenBucket(t.Context(), connect(front.URL), w.name, nil)
	must(t, err)
	t.Cleanup(func() { _ = w.bucket.Close() })
	return w
}

func connect(endpoint string) *s3.Client {
	return s3.New(s3.Options{
		BaseEndpoint: &endpoint, Region: "us-east-1", UsePathStyle: true, RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider(accessKey, secretKey, ""),
	})
}

func (w *world) resolver(t testing.TB, options objectstore.Options) *objectstore.Resolver {
	t.Helper()
	resolver, err := objectstore.New(w.bucket, options)
	must(t, err)
	return resolver
}

// write writes versions of an object.
func (w *world) write(t testing.TB, key string, contents ...string) {
	t.Helper()
	for _, content := range contents {
		must(t, w.bucket.WriteAll(t.Context(), key, []byte(content), &blob.WriterOptions{
			Metadata: map[string]string{"caption": "excluded-caption"},
		}))
	}
}

// versions maps each key to the number of its versions and delete markers.
func (w *world) versions(t testing.TB) map[string]int {
	t.Helper()
	all := map[string]int{}
	pages := s3.NewListObjectVersionsPaginator(w.client, &s3.ListObjectVersionsInput{Bucket: &w.name})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		must(t, err)
		for _, version := range page.Versions {
			all[*version.Key]++
		}
		for _, marker := range page.DeleteMarkers {
			all[*marker.Key]++
		}
	}
	return all
}

// hold sets a legal hold on the current version of an object. The server then refuses to delete this version.
func (w *world) hold(t testing.TB, key string) {
	t.Helper()
	must(t, w.setHold(t.Context(), key, types.ObjectLockLegalHoldStatusOn))
}

func (w *world) setHold(ctx context.Context, key string, status types.ObjectLockLegalHoldStatus) error {
	_, err := w.client.PutObjectLegalHold(ctx, &s3.PutObjectLegalHoldInput{
		Bucket: &w.name, Key: &key, LegalHold: &types.ObjectLockLegalHold{Status: status},
	})
	return err
}

func ref(value string) domain.SubjectRef {
	return domain.SubjectRef{Kind: objectstore.Name, Value: value}
}

var must = fixture.Must

// withoutVersions returns a client of the bucket. Its requests go through a proxy that refuses to list versions, as
// some object stores do.
func (w *world) withoutVersions(t testing.TB) *blob.Bucket {
	t.Helper()
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: server})
		r.Out.Host = r.In.Host
	}}
	front := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("versions") {
			rw.WriteHeader(http.StatusNotImplemented)
			return
		}
		proxy.ServeHTTP(rw, r)
	}))
	t.Cleanup(front.Close)
	bucket, err := s3blob.OpenBucket(t.Context(), connect(front.URL), w.name, nil)
	must(t, err)
	t.Cleanup(func() { _ = bucket.Close() })
	return bucket
}
