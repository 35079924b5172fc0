package export_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"testing"

	"github.com/golang/mock/gomock"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/export"
	"github.com/habeas-data/habeas/ports"
)

func TestTheJSONIsThatOfTheBundle(t *testing.T) {
	first := domain.ExportRecord{Source: "users", Field: "email", Value: `<"records":[]>`}
	for _, records := range [][]domain.ExportRecord{{}, {first}, {first, {Source: "users", Field: "name"}}} {
		bundle := domain.ExportBundle{
			SubjectID: newWorld(t, 0).Subject.ID, GeneratedAt: noon, SchemaVersion: domain.ExportSchemaVersion,
			Records: records, IncompleteSources: []string{"desk"},
		}
		var got, want bytes.Buffer
		encoder := export.NewJSON(&got)
		head := bundle
		head.Records = []domain.ExportRecord{}
		require(t, encoder.Begin(head))
		for _, record := range records {
			require(t, encoder.Record(record))
		}
		require(t, encoder.End())
		whole := json.NewEncoder(&want)
		whole.SetEscapeHTML(false)
		require(t, whole.Encode(bundle))
		if got.String() != want.String() {
			t.Errorf("got %s, want %s", got.String(), want.String())
		}
	}
}

// calls is an encoder that writes the names of its calls.
type calls struct{ w io.Writer }

func (c calls) write(name string) error { _, err := io.WriteString(c.w, name+" "); return err }

func (c calls) Begin(domain.ExportBundle) error  { return c.write("begin") }
func (c calls) Record(domain.ExportRecord) error { return c.write("record") }
func (c calls) End() error                       { return c.write("end") }

// twice runs each function twice, and returns the error instead of that of the second run.
type twice struct {
	ports.SessionFactory
	session ports.Session
	err     error
}

func (t twice) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	return errors.Join(fn(ctx, t.session), fn(ctx, t.session), t.err)
}

// A session that is repeated begins the document again.
func TestADocumentEndsAfterTheCommit(t *testing.T) {
	for want, commit := range map[string]error{"begin record end ": nil, "begin record ": errBoom} {
		w := newWorld(t, 0)
		w.Audit.EXPECT().AppendEvidence(gomock.Any(), gomock.Any()).Times(2)
		w.Audit.EXPECT().Append(gomock.Any(), gomock.Any()).Times(2)
		w.Subjects.EXPECT().Export(gomock.Any(), gomock.Any(), gomock.Any()).
			DoAndReturn(yields(domain.ExportRecord{})).Times(2)
		document := &export.Document{Encode: func(w io.Writer) export.Encoder { return calls{w} }}
		err := document.Export(t.Context(), twice{session: w.Session, err: commit}, w.Exporter, w.Subject)
		if got := string(document.Bytes()); got != want || !errors.Is(err, commit) {
			t.Errorf("got %q and %v, want %q", got, err, want)
		}
	}
}
