package export

import (
	"bytes"
	"encoding/json"
	"io"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// Encoder writes the document of one export. Its methods are called in this order: Begin, Record for each record, End.
// They write to the writer of the encoder, and return its error.
type Encoder interface {
	// Begin writes what precedes the records. The bundle has no records.
	Begin(bundle domain.ExportBundle) error
	// Record writes a record. The encoder keeps none of its memory.
	Record(record domain.ExportRecord) error
	// End writes the end of the document, without which nobody takes the document for complete. It is called after the
	// session has committed.
	End() error
}

// NewJSON returns an encoder that writes the JSON of a domain.ExportBundle, and a newline.
func NewJSON(w io.Writer) Encoder { return &jsonEncoder{w: w} }

type jsonEncoder struct {
	w       io.Writer
	part    bytes.Buffer        // what is written next
	current domain.ExportRecord // shared by all records, because encoding moves it to the heap
	isFirst bool
	end     struct {
		IncompleteSources []string `json:"incomplete_sources"`
	}
}

func (e *jsonEncoder) Begin(bundle domain.ExportBundle) error {
	e.isFirst, e.end.IncompleteSources = true, bundle.IncompleteSources
	if err := appendJSON(&e.part, struct {
		SubjectID     domain.SubjectID `json:"subject_id"`
		Request       string           `json:"request,omitempty"`
		GeneratedAt   time.Time        `json:"generated_at"`
		SchemaVersion int              `json:"schema_version"`
	}{bundle.SubjectID, bundle.Request, bundle.GeneratedAt, bundle.SchemaVersion}); err != nil {
		return err
	}
	e.part.Truncate(e.part.Len() - 1) // the brace at the end
	e.part.WriteString(`,"records":[`)
	return e.write()
}

func (e *jsonEncoder) Record(record domain.ExportRecord) error {
	if !e.isFirst {
		e.part.WriteByte(',')
	}
	e.isFirst, e.current = false, record
	if err := appendJSON(&e.part, &e.current); err != nil {
		return err
	}
	return e.write()
}

func (e *jsonEncoder) End() error {
	var end bytes.Buffer
	if err := appendJSON(&end, e.end); err != nil {
		return err
	}
	end.Next(1) // the brace at the begin
	e.part.WriteString("],")
	e.part.Write(end.Bytes())
	e.part.WriteByte('\n')
	return e.write()
}

func (e *jsonEncoder) write() error {
	_, err := e.part.WriteTo(e.w)
	return err
}

// appendJSON appends the JSON of v to body, without a final newline.
func appendJSON(body *bytes.Buffer, v any) error {
	encoder := json.NewEncoder(body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return err
	}
	body.Truncate(body.Len() - 1)
	return nil
}
