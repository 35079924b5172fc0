package diagram

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/internal/tests/fixture"
)

// large returns a data map with the table of subjects and 40 other tables. Each other table refers to the subject, or
// to the table before it, or to both.
func large(t *testing.T) (datamap.DataMap, datamap.Plan) {
	t.Helper()
	columns := func(references ...string) []datamap.Column {
		note := &datamap.Annotation{Category: domain.CategoryCommunication, Strategy: domain.StrategyAnonymize}
		if len(references) > 1 {
			note.Via = "users"
		}
		all := []datamap.Column{
			{Name: "id", Type: datamap.TypeBigInt},
			{Name: "note", Type: datamap.TypeText, Personal: note},
		}
		for _, name := range references {
			all = append(all, datamap.Column{Name: name, Type: datamap.TypeBigInt})
		}
		return all
	}
	tables := []datamap.Table{
		{Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"}, Columns: columns()},
	}
	for i := 1; i <= 40; i++ {
		var relations []datamap.Relation
		var names []string
		for _, to := range map[int][]int{0: {0}, 1: {i - 1}, 2: {i - 1}, 3: {0, i - 1}}[i%4] {
			name := fmt.Sprintf("ref_%d", to)
			relations = append(relations, datamap.Relation{
				Columns: []string{name}, References: tables[to].Name, ReferencedColumns: []string{"id"}, Path: true,
			})
			names = append(names, name)
		}
		tables = append(tables, datamap.Table{
			Name: fmt.Sprintf("table_%d_of_the_shop", i), PrimaryKey: []string{"id"}, Relations: relations,
			Columns: columns(names...),
		})
	}
	m := fixture.MustMap(t, tables...)
	plan, err := erasure.Planner{}.Plan(m, []string{"desk", "mail"})
	if err != nil {
		t.Fatal(err)
	}
	return m, plan
}

// overlap reports whether two ranges have more than an edge in common.
func overlap(a, b, c, d float64) bool {
	return min(a, b) < max(c, d)-0.01 && min(c, d) < max(a, b)-0.01
}

func TestBoxesAndArrowsOfALargeMapDoNotMeet(t *testing.T) {
	m, plan := large(t)
	p := pictureOf(m, plan, nil)
	boxes, width, height := p.layout()
	for i, a := range boxes {
		if a.x < 0 || a.y < margin || a.x+a.width > width || a.y+a.height > height {
			t.Errorf("%s is outside of the picture", a.title)
		}
		for _, b := range boxes[:i] {
			if overlap(a.x, a.x+a.width, b.x, b.x+b.width) && overlap(a.y, a.y+a.height, b.y, b.y+b.height) {
				t.Errorf("%s lies on %s", a.title, b.title)
			}
		}
	}
	if len(p.arrows) < 10 {
		t.Errorf("the picture has only %d arrows", len(p.arrows))
	}
	for _, arrow := range p.arrows {
		if arrow.to == 0 || boxes[arrow.to].effect == external {
			t.Errorf("an arrow leads from %s to %s", boxes[arrow.from].title, boxes[arrow.to].title)
		}
		points := route(boxes[arrow.from], boxes[arrow.to])
		for i, end := range points[1:] {
			begin := points[i]
			for _, b := range boxes {
				if crosses(begin, end, b) {
					t.Errorf("the arrow from %s to %s runs behind %s", boxes[arrow.from].title, boxes[arrow.to].title, b.title)
				}
			}
		}
	}
	if width > 3*height || height > 3*width {
		t.Errorf("the picture has %.0f x %.0f pixels", width, height)
	}
}

// crosses reports whether a horizontal or vertical line runs through the inside of a box.
func crosses(begin, end point, b placed) bool {
	const inside = 0.5
	left, right := min(begin.x, end.x), max(begin.x, end.x)
	top, bottom := min(begin.y, end.y), max(begin.y, end.y)
	return left < b.x+b.width-inside && right > b.x+inside && top < b.y+b.height-inside && bottom > b.y+inside
}

func TestEachLinkThatLeadsToTheSubjectIsShown(t *testing.T) {
	m, plan := large(t)
	links := 0
	for _, b := range pictureOf(m, plan, nil).boxes[1:] {
		for _, c := range b.cells {
			if c == (cell{"ref_0", "→ users", true}) {
				links++
			}
		}
	}
	if links != 21 {
		t.Errorf("%d links lead to the subject", links)
	}
}

func TestATableThatIsLeftOutStandsBesideTheOthersWithItsReason(t *testing.T) {
	m, plan := large(t)
	m = m.WithDecisions(
		datamap.Decision{
			Object: "teams", Seen: []string{"id", "owner_id -> users", "room_id -> rooms"}, Answer: "not-about-people",
			Because: "a team outlives each of the people who are its members",
		},
		datamap.Decision{Object: "users", Columns: []string{"note"}, Answer: "not-personal"},
		datamap.Decision{Object: "logs"}, datamap.Decision{Object: "table_1_of_the_shop", Answer: "overwrite"},
	)
	var left []box
	for _, b := range pictureOf(m, plan, nil).boxes {
		if b.effect == leftOut {
			left = append(left, b)
		}
	}
	if len(left) != 2 || left[0].title != "teams" || left[0].says != "not-about-people" ||
		left[1].says != "open question" ||
		!reflect.DeepEqual(left[0].cells, []cell{
			{"owner_id", "→ users", true}, {name: "a team outlives each of the people"}, {name: "who are its members"},
		}) {
		t.Errorf("got %+v", left)
	}
	svg := SVG(m, plan)
	if !strings.Contains(svg, ">left out<") || strings.Contains(SVG(large(t)), ">left out<") ||
		strings.Contains(svg, ">deleted<") {
		t.Error("the legend is not about what is used")
	}
}

func TestFortyTablesFitAPageInLandscape(t *testing.T) {
	m, plan := large(t)
	if _, width, height := pictureOf(m, plan, nil).layout(); width/height < 1.2 || width/height > 1.7 {
		t.Errorf("the picture has %.0f x %.0f pixels", width, height)
	}
}

func TestWhatBecomesNULLHasAColourAndABasisAPurpose(t *testing.T) {
	m := fixture.MustMap(t,
		datamap.Table{Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"}, Columns: []datamap.Column{
			{Name: "id", Type: datamap.TypeBigInt},
			{Name: "note", Type: datamap.TypeText, Personal: &datamap.Annotation{
				Category: domain.CategoryContact, Strategy: domain.StrategyNull,
				Basis: domain.BasisContract, Purpose: "account login",
			}},
		}},
	)
	plan, err := erasure.Planner{}.Plan(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	users := pictureOf(m, plan, nil).boxes[0]
	if users.effect != nulled || users.says != "becomes NULL" || !reflect.DeepEqual(users.cells, []cell{
		{name: "note", says: "contact, becomes NULL"}, {name: "contract", says: "account login"},
	}) {
		t.Errorf("got %+v", users)
	}
}

func TestAPictureCanHaveOnlyATableAndItsPaths(t *testing.T) {
	m, plan := large(t)
	for name, draw := range map[string]func(datamap.DataMap, datamap.Plan, ...string) string{
		"SVG": SVG, "DOT": DOT, "Mermaid": Mermaid,
	} {
		picture := draw(m, plan, "table_5_of_the_shop")
		for _, shown := range []string{"users", "table_4_of_the_shop", "table_5_of_the_shop", "desk"} {
			if !strings.Contains(picture, shown) {
				t.Errorf("%s lacks %s", name, shown)
			}
		}
		if strings.Contains(picture, "table_8_of_the_shop") {
			t.Errorf("%s has another table", name)
		}
		if len(picture) > len(draw(m, plan))/2 {
			t.Errorf("%s has %d bytes", name, len(picture))
		}
	}
}

// Level AA of the Web Content Accessibility Guidelines demands a contrast of 4.5 for texts.
func TestHeadersHaveEnoughContrast(t *testing.T) {
	for effect, colours := range light {
		if got := contrast(t, colours[0], colours[1]); got < 4.5 {
			t.Errorf("%s has a contrast of %.2f", effect, got)
		}
	}
	if got := contrast(t, "#000000", "#ffffff"); got != 21 {
		t.Errorf("black on white has a contrast of %.2f", got)
	}
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	luminance := func(colour string) float64 {
		sum := 0.0
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			n, err := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
			if err != nil {
				t.Fatal(err)
			}
			part := float64(n) / 255
			if part <= 0.04045 {
				part /= 12.92
			} else {
				part = math.Pow((part+0.055)/1.055, 2.4)
			}
			sum += weight * part
		}
		return sum
	}
	la, lb := luminance(a), luminance(b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}
