package cli

import (
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/tool/check"
)

// leftOut prints which tables stay out of the data map because a person has decided so, so that nobody takes no
// findings for no data.
func (p *printer) leftOut(all []check.LeftOut) {
	var leading []string
	for _, out := range all {
		if out.LeadsToPeople {
			leading = append(leading, out.Table)
		}
	}
	others := len(all) - len(leading)
	switch {
	case len(leading) > 0 && others > 0:
		p.indented(tablesThatLead(leading)+" Others that are left out: "+strconv.Itoa(others)+".", "")
	case len(leading) > 0:
		p.indented(tablesThatLead(leading), "")
	case others > 0:
		p.line(counted(others, "table") + " left out by decision, none of which leads to people by a foreign key.")
	}
}

func tablesThatLead(names []string) string {
	begin := counted(len(names), "table") + " that lead to people are left out: "
	if len(names) == 1 {
		begin = "1 table that leads to people is left out: "
	}
	return begin + strings.Join(names, ", ") + "."
}
