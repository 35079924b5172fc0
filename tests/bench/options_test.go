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
		{"-nonsense"},
	} {
		if _, err := parse(arguments, io.Discard); err == nil {
			t.Errorf("%q was accepted", arguments)
		}
	}
}
