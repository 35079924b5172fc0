package scaffold_test

import (
	"slices"
	"strings"
	"testing"
)

// The rows of such a table have the present value of a thing. Without them, the thing does not work.
func TestThePresentValueOfAThingStays(t *testing.T) {
	single := users + `
		rotations: id*, name
		rotation_participants: id*, rotation_id>rotations=cascade, user_id>users=cascade, position:integer
		`
	composite := `
		users: id*, email, tenant_id
		tenants: id*, name
		rotations: id*, name, tenant_id>tenants
		rotation_participants: id*, rotation_id>rotations/tenant_id=cascade, user_id>users/tenant_id=cascade,
			tenant_id>tenants, position:integer
		`
	for _, line := range []string{
		single + "rotation_state: rotation_id*>rotations=cascade, rotation_participant_id>rotation_participants, s:time",
		single + "current: rotation_id*>rotations=cascade, rotation_participant_id>rotation_participants=cascade, s:time",
		single + "turns: id*, rotation_id!>rotations, rotation_participant_id>rotation_participants=cascade, s:time",
		single + "rotation_log: id*, rotation_id>rotations, rotation_participant_id>rotation_participants=cascade, s:time",
		single + "shifts: rotation_id*>rotations, user_id>users=cascade, s:time",
		single + "shifts: id*, rotation_id!>rotations=cascade, user_id>users=cascade, s:time",
		composite + "turns: rotation_id*>rotations/tenant_id=cascade, tenant_id*>tenants, s:time, " +
			"rotation_participant_id>rotation_participants/tenant_id=cascade",
		composite + "shifts: rotation_id*>rotations, tenant_id*>tenants, user_id>users/tenant_id=cascade, s:time",
		composite + "shifts: rotation_id*>rotations/tenant_id, tenant_id*>tenants, user_id>users/tenant_id=cascade, s:time",
	} {
		lines := strings.Split(line, "\n")
		name, _, _ := strings.Cut(lines[len(lines)-1], ":")
		name = strings.TrimSpace(name)
		p := propose(t, schema(line))
		if _, mapped := p.dataMap.Table(name); mapped || !slices.Contains(p.asked(), name) {
			t.Errorf("%s: in the data map: %t, asked about %v", lines[len(lines)-1], mapped, p.asked())
		}
	}
}

func TestRowsThatEachPersonHasOnceAreTheirs(t *testing.T) {
	for _, line := range []string{
		"logins: user_id*>users=cascade, device_id!>devices, s:time",
		"logins: id*, user_id!>users=cascade, device_id!>devices, s:time",
		"user_profiles: id*, user_id>users=cascade, file_id!>files, bio\nfiles: id*, size:integer",
	} {
		p := propose(t, schema(users+"devices: id*, size:integer\n"+line))
		name, _, _ := strings.Cut(line, ":")
		if table, mapped := p.dataMap.Table(name); !mapped || !table.Owned {
			t.Errorf("%s: in the data map: %t, left out %v", line, mapped, p.LeftOut)
		}
	}
}
