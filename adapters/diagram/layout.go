package diagram

import (
	"cmp"
	"math"
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
	between    = 60.0 // the minimum gap between a box and the boxes whose arrows lead to it
	apart      = 40.0 // the gap between two columns of groups
	small      = 6.4  // the width of a character of a label
	margin     = 24.0
	legend     = 44.0
	aspect     = 1.41 // of the diagram, approximately: a page of A4 in landscape
)

// placed is a box with its position and size in the diagram.
type placed struct {
	box
	x, y, width, height float64
}

// group is a table with the tables whose arrows lead to it, directly or through each other. No box of another group is
// between them.
type group struct {
	root          int
	width, height float64
}

// layout computes the position of each box, and the size of the diagram. The table of subjects and the external systems
// are the first column. The groups follow in columns of similar height, those with several tables first.
func (p picture) layout() (boxes []placed, width, height float64) {
	boxes = make([]placed, len(p.boxes))
	var groups []group
	var first []int
	for i, b := range p.boxes {
		boxes[i] = placed{box: b, width: widthOf(b), height: heightOf(b)}
	}
	area, tallest := 0.0, 0.0
	for i, b := range p.boxes {
		if i == 0 || b.effect == external {
			first = append(first, i)
		} else if b.parent < 0 {
			w, h := p.place(boxes, i, 0, 0)
			groups = append(groups, group{i, w, h})
			area, tallest = area+(w+apart)*(h+below), max(tallest, h)
		}
	}
	slices.SortStableFunc(groups, func(a, b group) int {
		return cmp.Or(cmp.Compare(len(p.children(b.root)), len(p.children(a.root))),
			cmp.Compare(rank(boxes[a.root]), rank(boxes[b.root])))
	})
	arrange := func(limit float64) (width, height float64) {
		x, y, widest := margin, margin+legend, 0.0
		for _, i := range first {
			boxes[i].x, boxes[i].y = x, y
			y += boxes[i].height + below
			widest = max(widest, boxes[i].width)
		}
		height = y
		for i, g := range groups {
			if i == 0 || y+g.height > limit {
				x, y, widest = x+widest+apart, margin+legend, 0
			}
			p.place(boxes, g.root, x, y)
			y += g.height + below
			widest, height = max(widest, g.width), max(height, y)
		}
		return x + widest + margin, height + margin
	}
	best, off := 0.0, math.Inf(1)
	for i := range 24 { // the heights of a column around that of a page without gaps
		limit := margin + legend + max(tallest, math.Sqrt(area/aspect)*(0.6+float64(i)*0.05))
		w, h := arrange(limit)
		if now := math.Abs(math.Log(w / h / aspect)); now < off {
			best, off = limit, now
		}
	}
	width, height = arrange(best)
	return boxes, width, height
}

// place positions a box at x and y, and the boxes whose arrows lead to it to the right of it. It returns the size of
// all of them.
func (p picture) place(boxes []placed, i int, x, y float64) (width, height float64) {
	boxes[i].x, boxes[i].y = x, y
	width, height = boxes[i].width, boxes[i].height
	children := p.children(i)
	right := x + width + p.gapBefore(children)
	bottom := y
	for _, child := range children {
		w, h := p.place(boxes, child, right, bottom)
		width = max(width, right+w-x)
		bottom += h + below
	}
	return width, max(height, bottom-below-y)
}

// children returns the boxes whose arrows lead to a box.
func (p picture) children(i int) (found []int) {
	for j, b := range p.boxes {
		if b.parent == i {
			found = append(found, j)
		}
	}
	return found
}

// gapBefore returns the width of the gap to the left of boxes. The gap must be wide enough for the labels of the arrows
// that start at these boxes.
func (p picture) gapBefore(boxes []int) float64 {
	gap := between
	for _, a := range p.arrows {
		if slices.Contains(boxes, a.from) {
			gap = max(gap, small*float64(utf8.RuneCountInString(a.label))+40)
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

// rank returns the sort key of a box by its effect.
func rank(b placed) int { return slices.Index(effects, b.effect) }

type point struct{ x, y float64 }

// trunk is the distance of the vertical part of an arrow from the box to which it leads.
const trunk = 16.0

// route returns the points of an arrow: from the left side of a box to the left, then up or down, and to the right side
// of the box to which it leads. The arrow runs only through the gap between the two boxes.
func route(from, to placed) []point {
	start, end := point{from.x, from.y + header/2}, point{to.x + to.width, to.y + header/2}
	return []point{start, {end.x + trunk, start.y}, {end.x + trunk, end.y}, end}
}
