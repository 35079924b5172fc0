package main

import (
	"context"
	"net"
	"path/filepath"
	"testing"

	"github.com/habeas-data/habeas/internal/tests/visit"
)

func TestTheProgramServesAndEnds(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shop.db")
	visit.Program(t, func(ctx context.Context, address string) error { return run(ctx, file, address) })
}

func TestTheProgramEndsIfItCannotListen(t *testing.T) {
	taken, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	if err := run(t.Context(), filepath.Join(t.TempDir(), "shop.db"), taken.Addr().String()); err == nil {
		t.Error("the program reports no error")
	}
}
