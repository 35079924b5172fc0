package main

import (
	"context"
	"testing"
	"time"

	gormpostgres "gorm.io/driver/postgres"
	"gorm.io/gorm"

	"github.com/habeas-data/habeas/internal/tests/postgres"
	"github.com/habeas-data/habeas/internal/tests/visit"
)

func TestMain(m *testing.M) { postgres.Main(m) }

func TestTheProgramErasesTheUser(t *testing.T) {
	url := postgres.NewDatabase(t)
	orm, err := gorm.Open(gormpostgres.Open(url), &gorm.Config{})
	if err != nil {
		t.Fatal(err)
	}
	connections, err := orm.DB()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connections.Close() })
	if _, err := newIntegration(t.Context(), orm); err != nil {
		t.Fatal(err)
	}
	zoe := Patient{Name: "Zoe", Visits: []Visit{
		{At: time.Now(), Finding: "this year"}, {At: time.Now().AddDate(-11, 0, 0), Finding: "long ago"},
	}}
	bob := Patient{Name: "Bob"}
	if err := orm.Create(&[]*Patient{&zoe, &bob}).Error; err != nil {
		t.Fatal(err)
	}
	if err := orm.Delete(&zoe).Error; err != nil { // only sets the column deleted_at
		t.Fatal(err)
	}
	visit.Program(t, func(ctx context.Context, address string) error { return run(ctx, url, address) })
	var patients []Patient
	if err := orm.Unscoped().Preload("Visits").Order("id").Find(&patients).Error; err != nil {
		t.Fatal(err)
	}
	if len(patients) != 2 || patients[0].Name == "Zoe" || patients[1].Name != "Bob" {
		t.Errorf("the patients are %+v", patients)
	}
	if visits := patients[0].Visits; len(visits) != 2 ||
		visits[0].Finding != "this year" || visits[1].Finding == "long ago" {
		t.Errorf("the visits are %+v", visits)
	}
}
