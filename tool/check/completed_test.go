package check_test

// completedDangers are dangers in databases whose data map an expert has completed.
var completedDangers = map[string]liveCase{
	"an index converts a surrogate": {
		statements: []string{`ALTER TABLE users ADD COLUMN code text`, `CREATE INDEX one ON users ((code::integer))`},
		columns:    annotated("code", "gone"), want: []string{"surrogate-cast users.code one"},
	},
	"an index converts what a function makes of a surrogate": {
		statements: []string{`ALTER TABLE users ADD COLUMN code text`, `CREATE INDEX one ON users ((lower(code)::uuid))`},
		columns:    annotated("code", "gone"), want: []string{"surrogate-cast users.code one"},
	},
	"an index reads a member of a document in a text": {
		statements: []string{
			`ALTER TABLE users ADD COLUMN code varchar(80)`, `CREATE INDEX one ON users ((code::jsonb ->> 'x'))`,
			`CREATE INDEX two ON users USING gin ((code::jsonb))`,
		},
		columns: annotated("code", "''"),
		want:    []string{"surrogate-cast users.code one", "surrogate-cast users.code two"},
	},
	"the condition of an index converts a surrogate": {
		statements: []string{
			`ALTER TABLE users ADD COLUMN code text`, `CREATE INDEX one ON users (id) WHERE btrim(code, ' ')::integer > 2`,
		},
		columns: annotated("code", "gone"), want: []string{"surrogate-cast users.code one"},
	},
}

// completedSafe are the twins of completedDangers.
var completedSafe = map[string]liveCase{
	"indexes that accept a surrogate": {
		statements: []string{
			`ALTER TABLE users ADD COLUMN code text, ADD COLUMN data jsonb, ADD COLUMN n text`,
			`CREATE INDEX one ON users ((NULLIF(code, '')::integer))`, `CREATE INDEX two ON users (((data ->> 'n')::integer))`,
			`CREATE INDEX three ON users ((md5(code)::uuid)) WHERE lower(code) <> ''`, `CREATE INDEX four ON users ((n::integer))`,
			`CREATE INDEX five ON users ((lower(code)::varchar(10)))`,
		},
		columns: annotated("code", "''") + annotated("n", "0") + `, {"name": "data", "type": "json", "personal":
			{"category": "identity", "erasure": "anonymize"}}`,
	},
}
