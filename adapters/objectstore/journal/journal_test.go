package journal_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/memblob"

	"github.com/habeas-data/habeas/adapters/objectstore/journal"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/ports/porttest"
)

func TestConformance(t *testing.T) {
	for name, open := range map[string]func(testing.TB) *blob.Bucket{
		"in memory": func(testing.TB) *blob.Bucket { return memblob.OpenBucket(nil) },
		"in files": func(t testing.TB) *blob.Bucket {
			t.Helper()
			bucket, err := fileblob.OpenBucket(t.TempDir(), nil)
			must(t, err)
			return bucket
		},
	} {
		t.Run(name, func(t *testing.T) {
			porttest.TestJournal(t, porttest.JournalHarness{New: func(t testing.TB) func() ports.Journal {
				t.Helper()
				bucket := open(t)
				t.Cleanup(func() { _ = bucket.Close() })
				return func() ports.Journal {
					sink, err := journal.New(bucket, journal.Options{})
					must(t, err)
					return sink
				}
			}})
		})
	}
}

// stopped is a clock that stands still.
type stopped struct{}

func (stopped) Now() time.Time { return time.Date(2024, 3, 1, 13, 0, 0, 0, time.FixedZone("", 3600)) }

// Each key of a process must be greater than the previous key, even if the clock does not advance.
func TestKeysAreInTheOrderOfCalls(t *testing.T) {
	bucket := memblob.OpenBucket(nil)
	defer func() { _ = bucket.Close() }()
	must(t, bucket.WriteAll(t.Context(), "other/a", []byte("x\n"), nil))
	sink, err := journal.New(bucket, journal.Options{Prefix: "shop/", Clock: stopped{}})
	must(t, err)
	want := ""
	for _, line := range []string{"a\n", "b\n", "c\n"} {
		must(t, sink.Append(t.Context(), []byte(line)))
		want += line
	}
	lines, err := sink.Open(t.Context())
	must(t, err)
	text, err := io.ReadAll(lines)
	if must(t, err); string(text) != want {
		t.Errorf("the lines are %q", text)
	}
	must(t, lines.Close())
	keys := bucket.List(&blob.ListOptions{Prefix: "shop/"})
	for _, instant := range []string{"00.000000Z-", "00.000001Z-", "00.000002Z-"} {
		object, err := keys.Next(t.Context())
		must(t, err)
		if !strings.HasPrefix(object.Key, "shop/2024-03-01T12-00-"+instant) || !strings.HasSuffix(object.Key, ".jsonl") {
			t.Errorf("a key is %s", object.Key)
		}
	}
	if sink.Name() != "bucket shop/" {
		t.Errorf("the name is %s", sink.Name())
	}
}

func TestABucketThatCannotBeUsedIsUnavailable(t *testing.T) {
	if _, err := journal.New(nil, journal.Options{}); !errors.Is(err, domain.ErrConfiguration) {
		t.Errorf("no bucket: got %v", err)
	}
	bucket := memblob.OpenBucket(nil)
	sink, err := journal.New(bucket, journal.Options{Prefix: "secret/"})
	must(t, err)
	must(t, sink.Append(t.Context(), []byte("a\n")))
	ctx, cancel := context.WithCancel(t.Context())
	lines, err := sink.Open(ctx)
	must(t, err)
	cancel()
	if _, err := io.ReadAll(lines); !errors.Is(err, context.Canceled) {
		t.Errorf("context that has ended: got %v", err)
	}
	must(t, bucket.Close())
	if err := sink.Append(t.Context(), []byte("b\n")); !errors.Is(err, domain.ErrUnavailable) ||
		strings.Contains(err.Error(), "secret") {
		t.Errorf("closed bucket: got %v", err)
	}
	lines, err = sink.Open(t.Context())
	must(t, err)
	if _, err := io.ReadAll(lines); !errors.Is(err, domain.ErrUnavailable) {
		t.Errorf("closed bucket: got %v", err)
	}
}

var must = fixture.Must
