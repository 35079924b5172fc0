package main

import (
	"io"
	"slices"
	"testing"
	"time"
)

func TestAFlagAfterQuickOverridesItsValue(t *testing.T) {
	o, err := parse([]string{"-quick", "-pairs", "3", "-connections", "2,8"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if o.pairs != 3 || !slices.Equal(o.connections, []int{2, 8}) || o.duration >= time.Second {
		t.Errorf("options = %+v", o)
	}
}

func TestOptionsThatMakeNoSenseAreRefused(t *testing.T) {
	for _, arguments := range [][]string{
		{"more"},
		{"-pairs", "0"},
		{"-users", "99"},
		{"-sqlite-users", "99"},
		{"-pool", "0"},
		{"-duration", "0s"},
		{"-connections", "1,,2"},
		{"-connections", "0"},
		{"-limit", "0s"},
		{"-parts", "endpoints,nonsense"},
		{"-parts", ""},
		{"-entries", "1599"},
		{"-wakeups", "0"},
		{"-rows", "10000,1000"},
		{"-subject-rows", "33"},
		{"-nonsense"},
	} {
		if _, err := parse(arguments, io.Discard); err == nil {
			t.Errorf("%q was accepted", arguments)
		}
	}
}

func TestOnlyThePartsThatWereChosenAreMeasured(t *testing.T) {
	o, err := parse([]string{"-parts", "growth", "-rows", "1000000,10000"}, io.Discard)
	if err != nil || !slices.Equal(o.parts, []string{partGrowth}) || !slices.Equal(o.rows, []int{10_000, 1_000_000}) {
		t.Errorf("options = %+v, %v", o, err)
	}
}
