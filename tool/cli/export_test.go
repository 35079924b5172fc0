package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
)

func bundles(t *testing.T, text string) (all []domain.ExportBundle) {
	t.Helper()
	for line := range strings.Lines(text) {
		var bundle domain.ExportBundle
		must(t, json.Unmarshal([]byte(line), &bundle))
		all = append(all, bundle)
	}
	return all
}

func TestACopyHasADocumentForEachSubject(t *testing.T) {
	w := newWorld(t)
	for _, format := range []string{"text", "json"} {
		stdout, stderr := w.reading("1\n2\n").want(0, "export", "-", by, "-o", format)
		all := bundles(t, stdout)
		if len(all) != 2 || len(all[1].Records) != 4 || all[1].SubjectID.String() != "2" || stderr != "" {
			t.Errorf("copied %s%s", stdout, stderr)
		}
	}
	for _, event := range w.trail("1") {
		if event.Payload[domain.PayloadOperator] != "dpo" {
			t.Errorf("%s names the operator %v", event.EventType, event.Payload[domain.PayloadOperator])
		}
	}
}

func TestACopyThatLacksASystemIsAFinding(t *testing.T) {
	w := newWorld(t).reading(`{"subject_id":"1","refs":[{"kind":"crm","value":"c-1"}]}`)
	stdout, stderr := w.want(1, "export", "-", by)
	complains(t, stderr, "no response from: crm")
	if all := bundles(t, stdout); len(all) != 1 || len(all[0].Records) != 4 {
		t.Errorf("copied %s", stdout)
	}
}

func TestACopyInAFileIsForItsOwnerOnly(t *testing.T) {
	w := newWorld(t)
	name := filepath.Join(t.TempDir(), "copy.json")
	stdout, _ := w.want(0, "export", "1", by, "--file", name)
	info, err := os.Stat(name)
	must(t, err)
	text, err := os.ReadFile(name)
	must(t, err)
	if info.Mode().Perm() != 0o600 || stdout != "" || len(bundles(t, string(text))) != 1 {
		t.Errorf("mode %v, printed %q, copied %s", info.Mode(), stdout, text)
	}
	_, stderr := w.want(2, "export", "2", by, "-f", name)
	complains(t, stderr, "the file exists")
	if again, err := os.ReadFile(name); err != nil || !bytes.Equal(again, text) {
		t.Errorf("the file was overwritten, %v", err)
	}
}

func TestACopyThatFailsLeavesNoFile(t *testing.T) {
	w := newWorld(t)
	directory := t.TempDir()
	_, stderr := w.want(2, "export", "1", by, "-f", filepath.Join(directory, "none", "copy.json"))
	complains(t, stderr, "check the directory")
	for _, second := range []string{"c1@example.org", `{"subject_id":"2","refs":[{"kind":"erp","value":"7"}]}`} {
		name := filepath.Join(directory, "copy.json")
		_, stderr := w.reading("1\n"+second).want(2, "export", "-", by, "-f", name)
		complains(t, stderr, "line 2: ")
		if _, err := os.Stat(name); !os.IsNotExist(err) {
			t.Errorf("the file is there, %v", err)
		}
	}
}

func TestACopyToAClosedPipeFailsWithoutAnError(t *testing.T) {
	w := newWorld(t)
	var stderr bytes.Buffer
	if code := w.into(closed(t), &stderr, "export", "1", by); code != 2 || stderr.Len() > 0 {
		t.Errorf("ends with %d: %s", code, stderr.String())
	}
	stderr.Reset()
	if code := w.into(full{}, &stderr, "export", "1", by); code != 2 {
		t.Errorf("ends with %d", code)
	}
	complains(t, stderr.String(), "the copy cannot be written")
}
