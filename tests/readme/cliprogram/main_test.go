package main

import (
	"context"
	"io"
	"path/filepath"
	"testing"

	"github.com/habeas-data/habeas/tool/cli"
)

func TestTheCommandErasesTheUser(t *testing.T) {
	ctx := context.Background()
	db, err := open(ctx, filepath.Join(t.TempDir(), "shop.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.NewInsert().Model(&User{Email: "zoe@example.org", Theme: "dark"}).Exec(ctx); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) int {
		command, err := newCommand(db)
		if err != nil {
			t.Fatal(err)
		}
		command.SetArgs(args)
		command.SetOut(io.Discard)
		command.SetErr(io.Discard)
		return cli.Execute(ctx, command)
	}
	if code := run("status"); code != cli.ExitOK {
		t.Errorf("status ends with %d", code)
	}
	if code := run("erase", "1", "--operator", "dpo", "--yes"); code != cli.ExitOK {
		t.Errorf("erase ends with %d", code)
	}
	var zoe User
	if err := db.NewSelect().Model(&zoe).Where("id = 1").Scan(ctx); err != nil {
		t.Fatal(err)
	}
	if zoe.Email == "zoe@example.org" || zoe.Theme != "dark" {
		t.Errorf("the row is %+v", zoe)
	}
}
