package modelsource

import (
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// tag is one key of a struct tag, with its value. A tag with an empty value is not written.
type tag struct{ key, value string }

// tags returns a struct tag.
func tags(list ...tag) string {
	var parts []string
	for _, t := range list {
		if t.value != "" {
			parts = append(parts, t.key+":"+strconv.Quote(t.value))
		}
	}
	text := strings.Join(parts, " ")
	if strings.ContainsAny(text, "`") {
		return strconv.Quote(text)
	}
	return "`" + text + "`"
}

func ifTrue(holds bool, text string) string {
	if holds {
		return text
	}
	return ""
}

func (m *model) bunTag(c datamap.Column, live datamap.CatalogColumn, sqlType string) string {
	parts := []string{c.Name}
	isKey := slices.Contains(m.PrimaryKey, c.Name)
	isNumber := c.Type == datamap.TypeSmallInt || c.Type == datamap.TypeInteger || c.Type == datamap.TypeBigInt
	switch {
	case isKey:
		parts = append(parts, "pk")
		if live.Default && isNumber && len(m.PrimaryKey) == 1 {
			parts = append(parts, "autoincrement")
		}
	case live.Generated:
		parts = append(parts, "scanonly")
	case !live.Nullable:
		parts = append(parts, "notnull")
	}
	if sqlType != "" {
		parts = append(parts, sqlType)
	}
	for _, u := range m.live.Uniques {
		plain := !u.Partial && !u.Exclusion && !u.Expressions && !u.NullsEqual
		if !plain || !slices.Contains(u.Columns, c.Name) || !m.staysUnique(u.Columns) {
			continue
		}
		if len(u.Columns) == 1 {
			parts = append(parts, "unique")
		} else if u.Name != "" && !strings.ContainsAny(u.Name, ",:\"'()") {
			parts = append(parts, "unique:"+u.Name)
		}
	}
	return strings.Join(parts, ",")
}

// staysUnique reports whether the values of the columns stay unique after an erasure. They stay unique if the erasure
// deletes the rows, writes NULL or a different value into each cell, or does not write to the columns. The models omit
// all other unique constraints, because package bunmodels would refuse them.
func (m *model) staysUnique(columns []string) bool {
	for _, name := range columns {
		c, ok := m.Column(name)
		if !ok {
			return false
		}
		if c.Personal != nil && c.Personal.Strategy != domain.StrategyNull && !c.Unique() && !m.RowsDeleted() {
			return false
		}
	}
	return true
}

func (m *model) piiTag(c datamap.Column) string {
	a := c.Personal
	switch {
	case c.NotPersonal:
		return "none"
	case a == nil:
		return ""
	}
	parts := []string{string(a.Category)}
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, name+":"+quote(value))
		}
	}
	if a.Strategy != domain.StrategyErase {
		add("erasure", string(a.Strategy))
	}
	add("basis", string(a.Basis))
	add("purpose", a.Purpose)
	add("export", string(a.Export))
	add("reason", a.Reason)
	add("retain", a.Retain.String())
	add("since", a.Since)
	add("from", a.From)
	add("via", m.viaOf(a.Via))
	add("ref", a.Ref)
	if c.Surrogate == datamap.EmptySurrogate {
		parts = append(parts, "surrogate:''")
	} else {
		add("surrogate", c.Surrogate)
	}
	if c.Always {
		parts = append(parts, "always")
	}
	return strings.Join(parts, ",")
}

// quote returns a value for a pii or subject tag. It puts the value in single quotes if the syntax of the tag requires
// them.
func quote(value string) string {
	if strings.ContainsAny(value, ",'") || strings.TrimSpace(value) != value {
		return "'" + strings.ReplaceAll(value, "'", "''") + "'"
	}
	return value
}

func relationTag(r datamap.Relation) string {
	parts := []string{"rel:belongs-to"}
	for i, name := range r.Columns {
		parts = append(parts, "join:"+name+"="+r.ReferencedColumns[i])
	}
	if r.SetsNull {
		parts = append(parts, "on_delete:SET NULL")
	}
	return strings.Join(parts, ",")
}

func (m *model) ownedTag() string {
	switch {
	case !m.Owned && !m.isDeleted:
		return ""
	case m.owners == "":
		return "owned"
	default:
		return "owned,via:" + quote(m.owners)
	}
}

func pathTag(r datamap.Relation) string {
	var parts []string
	if r.Path {
		parts = append(parts, "path")
	}
	if r.OnErasure != "" {
		parts = append(parts, "erasure:"+string(r.OnErasure))
	}
	if r.SamePerson {
		parts = append(parts, "same")
	}
	if len(parts) > 0 && r.When != nil {
		parts = append(parts, "when:"+quote(r.When.Column+"="+r.When.Value))
	}
	return strings.Join(parts, ",")
}
