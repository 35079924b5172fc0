package main

import (
	"flag"
	"os"
	"testing"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"

	"github.com/habeas-data/habeas/adapters/diagram"
	"github.com/habeas-data/habeas/adapters/persistence/bunmodels"
	"github.com/habeas-data/habeas/domain/erasure"
)

var update = flag.Bool("update", false, "write the picture of the data map into the documentation")

// The README shows the picture.
func TestThePictureOfTheDataMapIsCurrent(t *testing.T) {
	const file = "../../docs/pictures/datamap.svg"
	m, err := bunmodels.Read(bun.NewDB(nil, sqlitedialect.New()), models, nil)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := erasure.Planner{}.Plan(m, []string{"supportdesk"})
	if err != nil {
		t.Fatal(err)
	}
	picture := diagram.SVG(m, plan)
	if *update {
		if err := os.WriteFile(file, []byte(picture), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	shown, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(shown) != picture {
		t.Error("the picture in docs/pictures has changed: run the test with -update, and check the new picture")
	}
}
