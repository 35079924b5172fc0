package journal_test

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/journal"
	"github.com/habeas-data/habeas/ports"
)

// The lines of the journal are written into a buffer. An application configures a journal for its worker instead. See
// app.Config.
func ExampleWrite() {
	dataMap, err := datamap.NewDataMap(datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{{Name: "id", Type: datamap.TypeBigInt}},
	})
	check(err)
	store, err := memory.New(dataMap, memory.Options{})
	check(err)
	at := time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)
	zoe, err := domain.NewSubjectID("42")
	check(err)
	check(store.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
		_, err := s.Subjects().Lock(ctx, zoe, at) // as an erasure does
		return err
	}))
	var lines bytes.Buffer
	written, err := journal.Write(context.Background(), store, &lines, journal.From{})
	check(err)
	line, _, err := domain.ParseJournalLine(lines.Bytes())
	check(err)
	fmt.Println(written, line.Number, line.SubjectID, line.ErasedAt)
	// Output: 1 1 42 2024-03-01 12:00:00 +0000 UTC
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
