package main

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/tests/postgres"
)

// A server of a side is this program once more, and in a test the test.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		main()
		return
	}
	os.Exit(m.Run())
}

// What is measured checks by itself that it was done.
func TestEveryPartIsMeasuredInMiniature(t *testing.T) {
	o, err := parse(strings.Fields("-quick -users 40 -pairs 1 -connections 2 -duration 100ms -warmup 20ms -pool 2 "+
		"-entries 2000 -drains 1 -wakeups 3 -polls 1 -rows 3200,6400 -subject-rows 50,3000"), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	server := postgres.Private(t)
	verdicts := map[string]int{partEndpoints: 4, partDrain: 1, partGrowth: 0}
	for _, part := range allParts {
		t.Run(part, func(t *testing.T) {
			sections, verdict, err := measurements[part](t.Context(), place{
				options: o, serverURL: server.URL(), progress: func(text string) { t.Log(text) },
			})
			if err != nil {
				t.Fatal(err)
			}
			if len(sections) == 0 || strings.Count(verdict, "ratio ") != verdicts[part] {
				t.Errorf("%d sections, verdict %q", len(sections), verdict)
			}
			for _, section := range sections {
				if len(section.Table.Rows) == 0 || len(section.Notes) == 0 {
					t.Errorf("%s: %+v", section.Title, section)
				}
			}
		})
	}
}
