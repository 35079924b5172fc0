package desktest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"

	"github.com/habeas-data/habeas/adapters/supportdesk"
	"github.com/habeas-data/habeas/adapters/supportdesk/desktest"
	"github.com/habeas-data/habeas/domain"
)

// An application tests that it erases contacts at the support desk.
func ExampleNew() {
	desk := desktest.New("token")
	desk.Add(desktest.Contact{ID: "c1", Email: "zoe@example.org"}, desktest.Conversation{ID: "515", State: "open"})
	server := httptest.NewServer(desk)
	defer server.Close()

	resolver, err := supportdesk.New("token", supportdesk.Options{BaseURL: server.URL})
	check(err)
	_, err = resolver.EraseSubject(context.Background(), domain.SubjectRef{Kind: supportdesk.Name, Value: "c1"},
		domain.ErasureCall{EntryID: "entry-1"})
	check(err)

	request := desk.Requests()[0]
	fmt.Println(request.Method, request.Path, "known:", desk.Knows("c1"))
	// Output: DELETE /contacts/c1 known: false
}

// The desk refuses the first request because of a rate limit. The desk deletes the contact for the second request, but
// the response is lost.
func ExampleDesk_Script() {
	ctx := context.Background()
	server, err := desktest.Start(ctx, "token")
	check(err)
	defer func() { _ = server.Close() }()
	server.Add(desktest.Contact{ID: "c1", Email: "zoe@example.org"})
	server.Script(desktest.Status(429).With("Retry-After", "30"), desktest.LoseResponse)

	resolver, err := supportdesk.New("token", supportdesk.Options{BaseURL: server.URL})
	check(err)
	for range 3 {
		var busy *domain.RetryLaterError
		absent, err := resolver.EraseSubject(ctx, domain.SubjectRef{Kind: supportdesk.Name, Value: "c1"},
			domain.ErasureCall{EntryID: "entry-1"})
		if errors.As(err, &busy) {
			fmt.Println("again, after", busy.After)
			continue
		}
		fmt.Println("erased, already absent:", absent)
	}
	// Output:
	// again, after 30s
	// again, after 0s
	// erased, already absent: true
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
