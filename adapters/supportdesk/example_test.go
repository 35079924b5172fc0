package supportdesk_test

import (
	"context"
	"fmt"
	"log"

	"github.com/habeas-data/habeas/adapters/supportdesk"
	"github.com/habeas-data/habeas/adapters/supportdesk/desktest"
	"github.com/habeas-data/habeas/domain"
)

func ExampleNew() {
	ctx := context.Background()
	server, err := desktest.Start(ctx, "token") // a fake of https://api.intercom.io
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	server.Add(desktest.Contact{ID: "c1", Email: "zoe@example.org"}, desktest.Conversation{ID: "515", State: "open"})

	desk, err := supportdesk.New("token", supportdesk.Options{BaseURL: server.URL})
	if err != nil {
		log.Fatal(err)
	}
	zoe := domain.SubjectRef{Kind: supportdesk.Name, Value: "c1"}
	records, err := desk.ExportSubject(ctx, zoe)
	if err != nil {
		log.Fatal(err)
	}
	for _, record := range records {
		fmt.Println(record.Field, record.Value)
	}
	for range 2 {
		alreadyAbsent, err := desk.EraseSubject(ctx, zoe, domain.ErasureCall{EntryID: "entry-1"})
		fmt.Println("erased, already absent:", alreadyAbsent, err)
	}
	// Output:
	// contact.email zoe@example.org
	// conversation.515.state open
	// erased, already absent: false <nil>
	// erased, already absent: true <nil>
}
