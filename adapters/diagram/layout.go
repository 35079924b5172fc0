package diagram

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// Lengths are in pixels.
const (
	letter     = 7.25 // the width of a character of the monospaced font
	lineHeight = 18.0
	header     = 40.0
	padding    = 10.0
	below      = 22.0 // the gap between two boxes of a column
	between    = 90.0 // the minimum gap between two columns
	small      = 6.4  // the width of a character of a label
	margin     = 24.0
	legend     = 44.0
	tallest    = 1100.0 // the maximum height of a column of boxes
)

// placed is a box with its position and size in the diagram.
type placed struct {
	box
	x, y, width, height float64
}

// layout computes the position of each box, and the size of the diagram. It places the boxes in layers from left to
// right. The first layer is the table of subjects. A table is in a later layer than the tables that it references.
// Within a layer, a box is placed near the boxes to which its arrows lead.
func (p picture) layout() (boxes []placed, width, height float64) {
	boxes = make([]placed, len(p.boxes))
	var layers [][]int
	for i, b := range p.boxes {
		boxes[i] = placed{box: b, width: widthOf(b), height: heightOf(b)}
		for len(layers) <= b.layer {
			layers = append(layers, nil)
		}
		layers[b.layer] = append(layers[b.layer], i)
	}
	x := margin - between
	for _, layer := range layers {
		p.order(layer, boxes)
		for _, column := range columnsOf(layer, boxes) {
			x += p.gapBefore(column)
			y, widest := margin+legend, 0.0
			for _, i := range column {
				boxes[i].x, boxes[i].y = x, y
				y += boxes[i].height + below
				widest = max(widest, boxes[i].width)
			}
			for _, i := range column {
				boxes[i].width = widest
			}
			height = max(height, y)
			x += widest
		}
	}
	for i := range layers[0] { // the table of subjects is at half the height
		boxes[i].y = max(margin+legend, (height-boxes[i].height)/2)
	}
	return boxes, x + margin, height + margin
}

// gapBefore returns the width of the gap to the left of a column of boxes. The gap must be wide enough for the labels
// of the arrows that start at these boxes.
func (p picture) gapBefore(column []int) float64 {
	gap := between
	for _, a := range p.arrows {
		if slices.Contains(column, a.from) {
			gap = max(gap, small*float64(utf8.RuneCountInString(a.label))+30)
		}
	}
	return gap
}

func heightOf(b box) float64 {
	if len(b.cells) == 0 {
		return header
	}
	return header + lineHeight*float64(len(b.cells)) + padding
}

func widthOf(b box) float64 {
	longest := max(utf8.RuneCountInString(b.title), utf8.RuneCountInString(b.says))
	for _, cell := range b.cells {
		longest = max(longest, utf8.RuneCountInString(cell.name)+utf8.RuneCountInString(cell.says)+3)
	}
	return max(150, 2*padding+letter*float64(longest))
}

// order sorts the boxes of a layer. A layer has either the tables with the same distance from the table of subjects, or
// the external systems. Arrows connect a box to boxes in layers further left. The sort key of the box is the mean
// vertical position of those boxes.
func (p picture) order(layer []int, boxes []placed) {
	heights := map[int]float64{}
	for _, i := range layer {
		sum, n := 0.0, 0
		for _, a := range p.arrows {
			other := a.to
			if a.to == i { // i is a system, and its arrows start at the tables with its keys
				other = a.from
			} else if a.from != i {
				continue
			}
			if boxes[other].layer < boxes[i].layer {
				sum, n = sum+boxes[other].y+boxes[other].height/2, n+1
			}
		}
		if n > 0 {
			heights[i] = sum / float64(n)
		}
	}
	slices.SortStableFunc(layer, func(a, b int) int {
		return cmp.Or(cmp.Compare(heights[a], heights[b]), cmp.Compare(rank(boxes[a]), rank(boxes[b])))
	})
}

// rank returns the sort key of a box by its effect. External systems come last.
func rank(b placed) int { return slices.Index(effects, b.effect) }

// columnsOf divides the boxes of a layer into columns of similar height, because a layer with many boxes would be too
// high.
func columnsOf(layer []int, boxes []placed) [][]int {
	total := 0.0
	for _, i := range layer {
		total += boxes[i].height + below
	}
	share := total / max(1, float64(int((total+tallest-1)/tallest)))
	var columns [][]int
	filled := share
	for _, i := range layer {
		if filled >= share {
			columns, filled = append(columns, nil), 0
		}
		last := len(columns) - 1
		columns[last] = append(columns[last], i)
		filled += boxes[i].height + below
	}
	return columns
}
