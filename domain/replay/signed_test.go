package replay_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/replay"
	"github.com/habeas-data/habeas/internal/system"
)

// With a key, a replay believes only lines that were written with this key. A line that was changed or added by
// another hand, or signed with another key, is broken and has no effect.
func TestOnlySignedLinesAreReplayedWithAKey(t *testing.T) {
	w := newWorld(t)
	w.recordErasure(t, "9", 0)
	own := w.installation(t).ID
	line := func(id string, number int64, key string) string {
		return string(domain.JournalEntry{
			Installation: own, Number: number, After: number - 1, SubjectID: idOf(t, id), ErasedAt: noon,
		}.AppendSigned(nil, system.Signer([]byte(key))))
	}
	changed := strings.Replace(line("3", 4, "secret"), `["3"]`, `["8"]`, 1)
	lines := line("1", 2, "secret") + line("2", 3, "") + changed + line("4", 5, "other") +
		string(domain.AppendTruncated(nil)) + line("5", 6, "secret")
	report, err := w.replay(t, lines, func(c *replay.Config) { c.Sign = system.Signer([]byte("secret")) })
	if !errors.Is(err, replay.ErrIncomplete) || report.Broken < 2 {
		t.Errorf("%+v, %v", report, err)
	}
	if erased := w.erasures(); !slices.Equal(erased, []string{"1", "5"}) {
		t.Errorf("erased %q", erased)
	}
}
