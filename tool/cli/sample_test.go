package cli_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/manifest"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/cli"
)

// wide is a terminal with many columns.
type wide struct{ terminal }

func (*wide) Width() int { return 120 }

func TestAPreviewShowsRowsBeforeAndAfter(t *testing.T) {
	w := newWorld(t)
	screen := &wide{}
	if code := w.into(screen, &bytes.Buffer{}, "rehearse", "1", "--sample", "5"); code != 0 {
		t.Fatalf("ends with %d", code)
	}
	shown := strings.Join(strings.Fields(withoutColours.Replace(screen.String())), " ")
	for _, part := range []string{
		"invoices: retain, 1 row path: customer_id > customers kept: address (no end)",
		"ID COLUMN BEFORE AFTER 0 address 1 Main Street 1 Main Street",
		"parcels: delete, 2 rows path: customer_id > customers ID COLUMN BEFORE AFTER 0 address 1 Main Street (deleted) " +
			"1 address 1 Main Street (deleted)",
		"customers: anonymize, 1 row path: the subject's own row overwritten: email",
		"1 email c1@example.org anon-",
		"The erasure of 1 would change:",
	} {
		if !strings.Contains(shown, part) {
			t.Errorf("the preview lacks %q:\n%s", part, screen.String())
		}
	}
	if len(w.emails()) != 3 {
		t.Error("the preview has changed the database")
	}
}

func TestAPreviewMasksWhatNoExportShows(t *testing.T) {
	w := newWorld(t)
	hidden, err := manifest.Read(strings.NewReader(strings.ReplaceAll(shop,
		`"category": "contact"`, `"category": "contact", "export": "no"`)))
	must(t, err)
	screen := &wide{}
	run(t.Context(), otherMap{w.gdpr.Operator(), hidden}, nil, screen, &bytes.Buffer{}, "rehearse", "1", "--sample", "5")
	if shown := screen.String(); strings.Contains(shown, "c1@example.org") ||
		!strings.Contains(shown, "(masked)  (masked)") ||
		!strings.Contains(shown, "1 Main Street") {
		t.Errorf("the preview shows %s", shown)
	}
}

// otherMap is an application whose data map annotates other columns.
type otherMap struct {
	cli.Application
	dataMap datamap.DataMap
}

func (o otherMap) DataMap() datamap.DataMap { return o.dataMap }

func TestAPreviewIsOnlyForATerminal(t *testing.T) {
	w := newWorld(t)
	stdout, stderr := w.want(2, "rehearse", "1", "--sample", "5")
	complains(t, stderr, "only written to a terminal")
	if stdout != "" {
		t.Errorf("printed %s", stdout)
	}
	screen, complaint := &terminal{}, &bytes.Buffer{}
	if code := w.into(screen, complaint, "rehearse", "1", "--sample", "5", "-o", "json"); code != 2 || screen.Len() > 0 {
		t.Errorf("ends with %d: %s", code, screen.String())
	}
	complains(t, complaint.String(), "--output json")
	for _, rows := range []string{"0", "51", "-1"} {
		complaint.Reset()
		if code := w.into(screen, complaint, "rehearse", "1", "--sample", rows); code != 2 || screen.Len() > 0 {
			t.Errorf("%s rows: ends with %d: %s", rows, code, screen.String())
		}
		complains(t, complaint.String(), "1 to 50")
	}
}
