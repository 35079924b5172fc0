package check_test

import (
	"slices"
	"strings"
	"testing"
)

// devices creates two tables of the data map whose rows an erasure deletes with their person.
var devices = []string{
	`CREATE TABLE devices (id bigint PRIMARY KEY, user_id bigint NOT NULL REFERENCES users, UNIQUE (user_id, id))`,
	`CREATE TABLE cards (id bigint PRIMARY KEY, user_id bigint NOT NULL REFERENCES users, UNIQUE (user_id, id))`,
}

const (
	ofDevices = ` FOREIGN KEY (user_id, device_id) REFERENCES devices (user_id, id) ON DELETE CASCADE`
	ofCards   = ` FOREIGN KEY (user_id, card_id) REFERENCES cards (user_id, id) ON DELETE CASCADE`
)

// ownedInManifest returns a table of the manifest with columns of the type bigint, separated by spaces, and relations
// in JSON.
func ownedInManifest(name, columns, relations string) string {
	text := `, {"name": "` + name + `", "primary_key": ["id"], "owned": true, "columns": [{"name": "id", "type": "bigint"}`
	for _, column := range strings.Fields(columns) {
		text += `, {"name": "` + column + `", "type": "bigint"}`
	}
	return text + `], "relations": [` + relations + `]}`
}

// byDevice is the relation of passkeys to devices in a manifest.
const byDevice = `{"columns": ["user_id", "device_id"], "references": "devices",
	"referenced_columns": ["user_id", "id"]}`

func TestTwoReferencesToTheSamePersonAreNoDanger(t *testing.T) {
	byUser := relationInManifest("user_id", "users")
	const columns = "user_id device_id card_id"
	for name, c := range map[string]liveCase{
		"a key that contains the reference to the person": {
			statements: []string{
				`CREATE TABLE passkeys (id bigint PRIMARY KEY, user_id bigint REFERENCES users, device_id bigint, card_id bigint,` +
					ofDevices + `)`,
				`CREATE INDEX ON passkeys (user_id)`,
			},
			tables: ownedInManifest("passkeys", columns, byUser),
		},
		"two keys that share the column of the person": {
			statements: []string{
				`CREATE TABLE passkeys (id bigint PRIMARY KEY, user_id bigint, device_id bigint, card_id bigint,` +
					ofDevices + `,` + ofCards + `)`,
				`CREATE INDEX ON passkeys (user_id)`,
			},
			tables: ownedInManifest("passkeys", columns, byDevice),
		},
		"a reference to the person beside a path through a table": {
			statements: []string{
				`CREATE TABLE passkeys (id bigint PRIMARY KEY, user_id bigint REFERENCES users, device_id bigint, card_id bigint,` +
					ofDevices + `)`,
				`CREATE INDEX ON passkeys (user_id)`,
			},
			tables: ownedInManifest("passkeys", columns, byDevice),
		},
		"rows that another path keeps": {
			statements: []string{
				`CREATE TABLE passkeys (id bigint PRIMARY KEY, user_id bigint REFERENCES users, device_id bigint,
					card_id bigint REFERENCES users,` + ofDevices + `)`,
				`CREATE INDEX ON passkeys (user_id)`, `CREATE INDEX ON passkeys (card_id)`,
			},
			tables: strings.Replace(ownedInManifest("passkeys", columns,
				strings.Replace(byUser, `{`, `{"path": true, "name": "user", "erasure": "delete", `, 1)+`, `+
					strings.Replace(relationInManifest("card_id", "users"), `{`,
						`{"path": true, "name": "card", "erasure": "null", `, 1)), `"owned": true`, `"owned": true, "via": "user"`, 1),
		},
		"one index for both keys": {
			statements: []string{
				`CREATE TABLE passkeys (id bigint PRIMARY KEY, user_id bigint REFERENCES users, device_id bigint, card_id bigint,` +
					ofDevices + `)`,
			},
			tables: ownedInManifest("passkeys", columns, byUser),
			want:   []string{"index-missing passkeys.user_id"},
		},
		"a key of another person": {
			statements: []string{
				`CREATE TABLE passkeys (id bigint PRIMARY KEY, user_id bigint REFERENCES users, device_id bigint, card_id bigint,
					FOREIGN KEY (card_id, device_id) REFERENCES devices (user_id, id) ON DELETE CASCADE)`,
				`CREATE INDEX ON passkeys (user_id)`, `CREATE INDEX ON passkeys (card_id)`,
			},
			tables: ownedInManifest("passkeys", columns, byUser),
			want:   []string{"delete-undecided passkeys.card_id, device_id passkeys_card_id_device_id_fkey"},
		},
		"a key that the database would set to NULL": {
			statements: []string{
				`CREATE TABLE passkeys (id bigint PRIMARY KEY, user_id bigint NOT NULL REFERENCES users, device_id bigint,
					card_id bigint,` + strings.Replace(ofDevices, "CASCADE", "SET NULL", 1) + `)`,
				`CREATE INDEX ON passkeys (user_id)`,
			},
			tables: ownedInManifest("passkeys", columns, byUser),
			want:   []string{"delete-sets-null passkeys.user_id passkeys_user_id_device_id_fkey"},
		},
		"a table outside the data map": {
			statements: []string{
				`CREATE TABLE passkeys (id bigint PRIMARY KEY, user_id bigint, device_id bigint, card_id bigint,` +
					ofDevices + `,` + ofCards + `)`,
				`CREATE INDEX ON passkeys (user_id)`,
			},
			want: []string{
				"delete-cascades passkeys.user_id, card_id passkeys_user_id_card_id_fkey",
				"delete-cascades passkeys.user_id, device_id passkeys_user_id_device_id_fkey",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.statements = slices.Concat(devices, c.statements)
			c.tables = ownedInManifest("devices", "user_id", byUser) + ownedInManifest("cards", "user_id", byUser) + c.tables
			got, found := liveFindings(t, c)
			if !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
			for _, f := range found {
				if f.Code == "delete-cascades" && strings.Contains(f.Reason, "other people") {
					t.Errorf("rows of one person are said to be of others: %s", f)
				}
			}
		})
	}
}
