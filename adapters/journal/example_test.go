package journal_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/habeas-data/habeas/adapters/journal"
)

// An application gives the file to app.Config.Journal. The worker then appends a line for each erasure.
func ExampleNewFile() {
	directory, err := os.MkdirTemp("", "journal")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(directory) }()
	file, err := journal.NewFile(filepath.Join(directory, "erasures.jsonl"), journal.Options{Name: "backup"})
	if err != nil {
		panic(err)
	}
	line := `{"v":2,"installation":"shop","number":1,"after":0,"subject":["42"],"erased_at":"2024-03-01T12:00:00Z"}` + "\n"
	if err := file.Append(context.Background(), []byte(line)); err != nil {
		panic(err)
	}
	lines, err := file.Open(context.Background())
	if err != nil {
		panic(err)
	}
	defer lines.Close()
	text, err := io.ReadAll(lines)
	if err != nil {
		panic(err)
	}
	fmt.Println(file.Name())
	fmt.Print(string(text))
	// Output: backup
	// {"v":2,"installation":"shop","number":1,"after":0,"subject":["42"],"erased_at":"2024-03-01T12:00:00Z"}
}
