package supportdesk_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/adapters/supportdesk"
	"github.com/habeas-data/habeas/adapters/supportdesk/desktest"
	"github.com/habeas-data/habeas/domain"
)

func byField(records []domain.ExportRecord) []domain.ExportRecord {
	return slices.SortedFunc(slices.Values(records), func(a, b domain.ExportRecord) int {
		return strings.Compare(a.Field, b.Field)
	})
}

func TestAnExportDoesNotDependOnPagesAndOrder(t *testing.T) {
	var current atomic.Pointer[desktest.Desk]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		current.Load().ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	resolver, err := supportdesk.New(token, supportdesk.Options{BaseURL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfNDistinct(rapid.StringMatching(`[0-9a-z{}./]{1,4}`), 0, 40, rapid.ID).Draw(t, "ids")
		desk := desktest.New(token)
		conversations := make([]desktest.Conversation, len(ids))
		for i, id := range ids {
			conversations[i] = conversation(id)
		}
		desk.Add(zoe(), conversations...)
		current.Store(desk)
		want, err := resolver.ExportSubject(context.Background(), ref(zoeID))
		if err != nil {
			t.Fatal(err)
		}
		if len(want) != 3+3*len(ids) {
			t.Fatalf("%d records of %d conversations in one page", len(want), len(ids))
		}

		shuffled := rapid.Permutation(conversations).Draw(t, "order")
		// The search can return a conversation twice, if the conversation moves to a later page during the search.
		again := rapid.SliceOf(rapid.SampledFrom(append(shuffled, conversation("moved")))).Draw(t, "again")
		for _, moved := range again {
			if moved.ID != "moved" {
				shuffled = append(shuffled, moved)
			}
		}
		desk = desktest.New(token)
		desk.Add(zoe(), shuffled...)
		desk.SetPageSizes(append(rapid.SliceOfN(rapid.IntRange(0, 7), 0, 5).Draw(t, "sizes"),
			rapid.IntRange(1, 7).Draw(t, "size"))...)
		current.Store(desk)
		got, err := resolver.ExportSubject(context.Background(), ref(zoeID))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(byField(got), byField(want)) {
			t.Fatalf("exported\n%v\nwant\n%v", byField(got), byField(want))
		}
	})
}

func TestASearchEndsWithoutANextPage(t *testing.T) {
	for _, pages := range []string{
		``, `,"pages":null`, `,"pages":{}`, `,"pages":{"next":null}`, `,"pages":{"next":{}}`,
		`,"pages":{"next":{"starting_after":null}}`, `,"pages":{"next":{"starting_after":""}}`,
		`,"pages":{"type":"pages","page":1,"per_page":150,"total_pages":9}`,
	} {
		w := newWorld(t)
		w.desk.Script(desktest.OK, desktest.JSON(`{"conversations":[{"id":"9","state":"open"}]`+pages+`}`))
		if got := values(w.export(t))["conversation.9.state"]; got != "open" {
			t.Errorf("%s: exported %v", pages, got)
		}
		if requests := len(w.desk.Requests()); requests != 2 {
			t.Errorf("%s: %d requests", pages, requests)
		}
	}
	w := newWorld(t)
	w.desk.Script(desktest.OK, desktest.JSON(`{"conversations":null,"pages":null}`))
	if records := w.export(t); len(records) != 3 {
		t.Errorf("no conversations were exported as %v", records)
	}
}

func TestOfAConversationFoundTwiceTheFirstVersionIsExported(t *testing.T) {
	w := newWorld(t)
	w.desk.Script(desktest.OK,
		desktest.JSON(`{"conversations":[{"id":"9","state":"open"}],"pages":{"next":{"starting_after":"c1"}}}`),
		desktest.JSON(`{"conversations":[{"id":9,"state":"closed"},{"id":"10","state":"snoozed"}]}`))
	got := values(w.export(t)[3:])
	want := map[string]any{"conversation.9.state": "open", "conversation.10.state": "snoozed"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("exported %v, want %v", got, want)
	}
}

func TestACursorIsSentBackUnchanged(t *testing.T) {
	w := newWorld(t)
	w.desk.Script(desktest.OK,
		desktest.JSON(`{"conversations":[],"pages":{"next":{"starting_after":"a/b+c==\n<\u00e9>"}}}`),
		desktest.JSON(`{"conversations":[]}`))
	w.export(t)
	if got := w.desk.Requests()[2].Body; !strings.Contains(got, `"starting_after":"a/b+c==\n\u003cé\u003e"`) {
		t.Errorf("the request for the next page is %s", got)
	}
}

func TestACursorThatRepeatsIsAnError(t *testing.T) {
	w := newWorld(t)
	w.desk.Always(desktest.RepeatCursor)
	_, err := w.ExportSubject(t.Context(), ref(zoeID))
	mustRetry(t, err, 0, "POST got a response that cannot be used: the cursor repeats")

	w = newWorld(t) // a cycle of several cursors
	next := func(cursor string) desktest.Fault {
		return desktest.JSON(fmt.Sprintf(`{"conversations":[],"pages":{"next":{"starting_after":%q}}}`, cursor))
	}
	w.desk.Script(desktest.OK, next("a"), next("b"), next("c"), next("a"))
	_, err = w.ExportSubject(t.Context(), ref(zoeID))
	mustRetry(t, err, 0, "the cursor repeats")
	if requests := len(w.desk.Requests()); requests != 5 {
		t.Errorf("%d requests", requests)
	}
}

func TestPagesWithoutEndAreAnError(t *testing.T) {
	w := newWorld(t)
	w.desk.SetPageSizes(0)
	_, err := w.ExportSubject(t.Context(), ref(zoeID))
	mustRetry(t, err, 0, "too many pages")
	if requests := len(w.desk.Requests()); requests != 1+supportdesk.MaxPages {
		t.Errorf("%d requests", requests)
	}
}
