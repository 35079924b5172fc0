package scaffold

import (
	"slices"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// reference is a foreign key, or a column whose name suggests that it refers to another table.
type reference struct {
	from, to   *table
	columns    []string
	referenced []string
	setsNull   bool
	cascades   bool // the database deletes the row with the row that it refers to
	restricts  bool // the database refuses to delete the other row before this row
	follows    bool // the database gives the columns the new values of the other row (ON UPDATE CASCADE)
	guessed    bool // there is no foreign key, only a name that suggests a reference
	doubtful   bool // guessed, although other references to people are foreign keys
	loose      bool // the application declares neither foreign keys nor NOT NULL; see markLoose
	role       names.Role
	name       string // the name of the relation, if the table has several paths
	kept       bool   // the data map has the reference as a relation
}

func (r *reference) nullable() bool {
	return slices.ContainsFunc(r.columns, func(name string) bool {
		c, ok := r.from.Column(name)
		return ok && c.Nullable
	})
}

// owns reports whether the row exists only with the row that it refers to: the reference is NOT NULL, and the database
// deletes the row with that row (ON DELETE CASCADE).
func (r *reference) owns() bool { return r.cascades && !r.nullable() }

// label returns the column that names the row to which the reference leads. A composite reference may also have columns
// that other references share, such as tenant_id in (user_id, tenant_id). These show neither a role nor a name.
func (r *reference) label() string {
	columns := slices.Clone(r.columns)
	prefer := func(isBetter func(string) bool) {
		if slices.ContainsFunc(columns, isBetter) {
			columns = slices.DeleteFunc(columns, func(name string) bool { return !isBetter(name) })
		}
	}
	prefer(func(name string) bool {
		i := slices.Index(r.columns, name)
		return i >= len(r.referenced) || flat(r.referenced[i]) != flat(name)
	})
	prefer(func(name string) bool {
		stem, _ := names.Stem(name)
		return names.EndsIn(stem, r.to.base)
	})
	prefer(func(name string) bool { return !r.shares(name) })
	prefer(func(name string) bool { return names.RoleOf(name) != names.Other })
	return columns[len(columns)-1]
}

// shares reports whether a foreign key with other columns has the column, too.
func (r *reference) shares(column string) bool {
	return slices.ContainsFunc(r.from.ForeignKeys, func(key datamap.CatalogForeignKey) bool {
		return slices.Contains(key.Columns, column) && slices.ContainsFunc(key.Columns, func(name string) bool {
			return !slices.Contains(r.columns, name)
		})
	})
}

// isUnique reports whether at most one row has each value of the reference: a key has only columns of the reference.
func (r *reference) isUnique() bool {
	isPart := func(key []string) bool {
		return len(key) > 0 && !slices.ContainsFunc(key, func(name string) bool { return !slices.Contains(r.columns, name) })
	}
	return isPart(r.from.PrimaryKey) || slices.ContainsFunc(r.from.Uniques, func(u datamap.CatalogUnique) bool {
		return isPlain(u) && isPart(u.Columns)
	})
}

// isRelation reports whether the data map can have the reference as a relation. A relation must not refer to only a
// part of a key, because rows of different subjects may have equal values in that part.
func (r *reference) isRelation() bool {
	if !r.from.canBeMapped() || !r.to.canBeMapped() || len(r.columns) == 0 || len(r.columns) != len(r.referenced) {
		return false
	}
	part := len(r.referenced) < len(r.to.key)
	for _, name := range r.referenced {
		_, ok := r.to.Column(name)
		if !ok {
			return false
		}
		part = part && slices.Contains(r.to.key, name)
	}
	return !part && !slices.ContainsFunc(r.columns, func(name string) bool {
		_, ok := r.from.Column(name)
		return !ok
	})
}

func (d *draft) add(r *reference) {
	last := r.label()
	switch r.role = names.RoleOf(last); {
	case names.Creates(last) && names.Is(r.from.Name, names.Messages):
		r.role = names.Holder // the person that created a message is its author
	case names.Writes(last) && names.Is(r.from.Name, names.Things):
		r.role = names.Maker // the author of a thing need not own it
	case names.Is(r.from.Name, names.Notices) && !r.owns() && r.from.isLetter():
		// the text of a message is the sender's, and the row is about both
	case names.Is(r.from.Name, names.Notices) && names.Receives(last):
		r.role = names.Holder // a notification belongs to its recipient
	case names.Is(r.from.Name, names.Notices) && names.Sends(last):
		r.role = names.Maker
	}
	twin := slices.IndexFunc(r.from.out, func(other *reference) bool {
		return other.to == r.to && slices.Equal(other.columns, r.columns) && slices.Equal(other.referenced, r.referenced)
	})
	if twin >= 0 {
		r.from.out[twin].setsNull = r.from.out[twin].setsNull && r.setsNull
		r.from.out[twin].cascades = r.from.out[twin].cascades && r.cascades
		r.from.out[twin].restricts = r.from.out[twin].restricts || r.restricts
		r.from.out[twin].follows = r.from.out[twin].follows && r.follows
		return
	}
	r.from.out, r.to.in = append(r.from.out, r), append(r.to.in, r)
}

func (d *draft) readForeignKeys() {
	for _, t := range d.tables {
		for _, key := range t.ForeignKeys {
			to := d.table(key.References)
			if to == nil || len(key.Columns) == 0 {
				continue
			}
			d.add(&reference{
				from: t, to: to, columns: key.Columns, referenced: key.Referenced,
				setsNull: key.OnDelete == datamap.ActionSetNull, cascades: key.OnDelete == datamap.ActionCascade,
				restricts: key.OnDelete == datamap.ActionRestrict, follows: key.Follows,
			})
		}
		t.dropWider()
	}
}

// dropWider drops each reference whose columns contain those of another reference to the same table. For example,
// (tenant_id, user_id) leads to the same person as user_id.
func (t *table) dropWider() {
	isWider := func(r *reference) bool {
		return slices.ContainsFunc(t.out, func(other *reference) bool {
			return other.to == r.to && len(other.columns) < len(r.columns) && other.isRelation() &&
				!slices.ContainsFunc(other.columns, func(name string) bool { return !slices.Contains(r.columns, name) })
		})
	}
	wider := slices.DeleteFunc(slices.Clone(t.out), func(r *reference) bool { return !isWider(r) })
	dropped := func(r *reference) bool { return slices.Contains(wider, r) }
	t.out = slices.DeleteFunc(t.out, dropped)
	for _, r := range wider {
		r.to.in = slices.DeleteFunc(r.to.in, dropped)
	}
}

// kindOf returns another column that names the table that the column refers to, as owner_type and owner_kind do for
// owner_id. The column then refers to several tables. Beside the role of a person, the other column may be a number or
// an enum.
func (t *table) kindOf(column string) (name string, ok bool) {
	stem, _ := names.Stem(column)
	for _, c := range t.Columns {
		base, isKind := cutSuffixFold(c.Name, "type")
		if !isKind {
			base, isKind = cutSuffixFold(c.Name, "kind")
		}
		isCode := names.IsRole(stem) && (family(c.Type) == datamap.TypeBigInt || len(c.Values) > 0)
		if isKind && (c.Type == datamap.TypeText || isCode) && flat(base) == flat(stem) {
			return c.Name, true
		}
	}
	return "", false
}

// hasType reports whether the column refers to several tables: see kindOf.
func (t *table) hasType(column string) bool {
	_, ok := t.kindOf(column)
	return ok
}

// hasSecretOf reports whether another column holds the secret of what the column names, as client_secret does for the
// client_id of an OAuth client.
func (t *table) hasSecretOf(column string) bool {
	stem, _ := names.Stem(column)
	return slices.ContainsFunc(t.Columns, func(c datamap.CatalogColumn) bool {
		base, ok := cutSuffixFold(c.Name, "secret")
		return ok && flat(base) == flat(stem)
	})
}

// family returns the same type for all key types that a database can compare with each other. It returns "" for a type
// that cannot be a key.
func family(t datamap.ColumnType) datamap.ColumnType {
	switch t { //nolint:exhaustive // the other types cannot be keys
	case datamap.TypeSmallInt, datamap.TypeInteger, datamap.TypeBigInt:
		return datamap.TypeBigInt
	case datamap.TypeText, datamap.TypeUUID:
		return t
	default:
		return ""
	}
}

// refers reports whether a foreign key or a guessed reference of the table contains the column.
func (t *table) refers(column string) bool {
	return slices.ContainsFunc(t.ForeignKeys, func(key datamap.CatalogForeignKey) bool {
		return slices.Contains(key.Columns, column)
	}) || slices.ContainsFunc(t.out, func(r *reference) bool { return slices.Contains(r.columns, column) })
}
