package httpapi

import (
	"bytes"
	"encoding/json"
	"sync"
)

// encode returns the JSON of v, followed by a newline.
func encode(v any) ([]byte, error) {
	line, _ := lines.Get().(*bytes.Buffer)
	defer func() {
		if line.Cap() <= maxLine {
			line.Reset()
			lines.Put(line)
		}
	}()
	encoder := json.NewEncoder(line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.Clone(line.Bytes()), nil
}

// lines is a pool of the buffers that encode uses. A buffer with more than maxLine bytes is not put back.
var lines = sync.Pool{New: func() any { return &bytes.Buffer{} }}

const maxLine = 16 << 10
