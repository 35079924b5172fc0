package cookbook_test

import (
	"net/netip"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

type Visitor struct {
	bun.BaseModel `bun:"table:visitors"`

	ID     int64       `bun:"id,pk" subject:"id"`
	Gender string      `bun:"gender,type:gender" pii:"identity,erasure:anonymize,surrogate:unknown"`
	IP     netip.Addr  `bun:"ip,type:inet" pii:"technical,erasure:anonymize"`
	LastIP *netip.Addr `bun:"last_ip,type:inet" pii:"technical,erasure:null"`
	Proxy  string      `bun:"proxy,type:inet" pii:"technical,erasure:anonymize,surrogate:0.0.0.0"`
}

func TestColumnsOfTheTypesOfADatabase(t *testing.T) {
	db := databases.PostgreSQL(t)
	prepare(t, db, "CREATE TYPE gender AS ENUM ('female', 'male', 'other', 'unknown')", (*Visitor)(nil))
	gdpr, err := app.New(app.Config{DB: db, Models: []any{(*Visitor)(nil)}})
	must(t, err)
	home := netip.MustParseAddr("192.0.2.7")
	insert(t, db, &Visitor{ID: 42, Gender: "female", IP: home, LastIP: &home, Proxy: "192.0.2.1"})

	expectText(t, erasing(t, db, gdpr, subject(t, "42"), "visitors"), `
		before    visitors: id=42, gender=female, ip=192.0.2.7, last_ip=192.0.2.7, proxy=192.0.2.1
		exported  visitors.gender = female
		exported  visitors.ip = 192.0.2.7
		exported  visitors.last_ip = 192.0.2.7
		exported  visitors.proxy = 192.0.2.1
		after     visitors: id=42, gender=unknown, ip=0.0.0.0, last_ip=NULL, proxy=0.0.0.0
	`)
	must(t, db.NewSelect().Model(&Visitor{ID: 42}).WherePK().Scan(t.Context()))
}

// stranger is a model of visitors with a surrogate that is not a value of the enum type gender.
type stranger struct {
	bun.BaseModel `bun:"table:visitors"`

	ID     int64  `bun:"id,pk" subject:"id"`
	Gender string `bun:"gender,type:gender" pii:"identity,erasure:anonymize,surrogate:unsaid"`
	Name   string `bun:"name" pii:"identity,erasure:anonymize"`
}

func TestASurrogateThatAnEnumDoesNotHaveFailsTheErasure(t *testing.T) {
	db := databases.PostgreSQL(t)
	prepare(t, db, "CREATE TYPE gender AS ENUM ('female', 'male', 'other', 'unknown')", (*stranger)(nil))
	gdpr, err := app.New(app.Config{DB: db, Models: []any{(*stranger)(nil)}})
	must(t, err)
	insert(t, db, &stranger{ID: 42, Gender: "female", Name: "Zoe"})
	_, err = gdpr.Operator().Erase(t.Context(), subject(t, "42"))
	if rows := rowsOf(t, db, "visitors"); err == nil || rows[0] != "id=42, gender=female, name=Zoe" {
		t.Error(err, rows)
	}
}
