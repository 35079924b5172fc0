package report

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// colours are legible on white and on black alike.
var colours = []string{"#8a94a3", "#1f9e89", "#b8860b", "#8e6bbf"}

const style = `<style>
text { font: 12px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #57606a }
.title { font-weight: 600; font-size: 14px }
.note { font-weight: 600 }
.axis { stroke: #8a94a3; stroke-opacity: .5 }
@media (prefers-color-scheme: dark) { text { fill: #b1bac4 } }
</style>
`

// The measures of the charts that stand beside each other, two in a row, in pixels.
const (
	panelWidth  = 410
	panelGap    = 40
	margin      = 20
	titleHeight = 34
)

// svg wraps what was drawn, so many panels wide.
func svg(panels, height int, body string) string {
	width := 2*margin + panels*panelWidth + (panels-1)*panelGap
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img">`+"\n",
		width, height, width, height) + style + body + "</svg>\n"
}

// key says which colour a series has. It returns where the next one goes.
func key(body *strings.Builder, x, y, series int, name string) int {
	fmt.Fprintf(body, `<rect x="%d" y="%d" width="12" height="12" rx="2" fill="%s"/>`+"\n", x, y, colours[series])
	fmt.Fprintf(body, `<text x="%d" y="%d">%s</text>`+"\n", x+18, y+11, escape(name))
	return x + 40 + 7*len(name)
}

func escape(text string) string {
	var escaped strings.Builder
	_ = xml.EscapeText(&escaped, []byte(text)) // a builder takes everything
	return escaped.String()
}
