package report

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// drawn are the attributes of all elements of a name, and all texts.
func drawn(t *testing.T, svg, element, attribute string) (values, texts []string) {
	t.Helper()
	for decoder := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return values, texts
		}
		if err != nil {
			t.Fatalf("the chart is no XML: %v", err)
		}
		switch token := token.(type) {
		case xml.CharData:
			texts = append(texts, string(token))
		case xml.StartElement:
			for _, a := range token.Attr {
				if token.Name.Local == element && a.Name.Local == attribute {
					values = append(values, a.Value)
				}
			}
		}
	}
}
