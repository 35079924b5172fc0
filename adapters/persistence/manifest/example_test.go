package manifest_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/manifest"
	"github.com/habeas-data/habeas/domain/datamap"
)

// An application without bun models stores its manifest in a file, preferably as an embedded file.
func ExampleRead() {
	file := `{
	  "manifest_version": 2,
	  "tables": [
	    {"name": "users", "primary_key": ["id"], "subject_key": ["id"], "columns": [
	      {"name": "id", "type": "bigint"},
	      {"name": "email", "type": "text", "personal": {"category": "contact", "erasure": "anonymize"}},
	      {"name": "theme", "type": "text"}
	    ]},
	    {"name": "invoices", "primary_key": ["id"],
	      "relations": [{"columns": ["user_id"], "references": "users", "referenced_columns": ["id"]}],
	      "columns": [
	        {"name": "id", "type": "bigint"},
	        {"name": "user_id", "type": "bigint"},
	        {"name": "issued_at", "type": "time"},
	        {"name": "address", "type": "text", "personal": {
	          "category": "financial", "erasure": "retain", "reason": "§ 147 AO", "retain": "10y", "since": "issued_at"}}
	      ]}
	  ]
	}`
	dataMap, err := manifest.Read(strings.NewReader(file)) // for app.Config.DataMap, or stack.Config.DataMap
	if err != nil {
		panic(err)
	}
	for _, table := range dataMap.Tables() {
		for _, column := range table.Personal() {
			fmt.Println(table.Name, column.Name, column.Personal.Strategy)
		}
	}

	// Read refuses a manifest with a misspelled member. Otherwise this column would not count as personal data.
	_, err = manifest.Read(strings.NewReader(strings.Replace(file, `"personal"`, `"persnal"`, 1)))
	fmt.Println(strings.Replace(err.Error(), "; ", ";\n", 1))
	// Output:
	// users email anonymize
	// invoices address retain
	// habeas: manifest: users.email: tables[0].columns[1].persnal: is unknown;
	// possible: name, type, length, surrogate, always, personal, not_personal, note
}

// Write writes any data map as JSON, for example for tools that inspect the data map.
func ExampleWrite() {
	dataMap, err := datamap.NewDataMap(datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{{Name: "id", Type: datamap.TypeBigInt}},
	})
	if err != nil {
		panic(err)
	}
	if err := manifest.Write(os.Stdout, dataMap); err != nil {
		panic(err)
	}
	// Output:
	// {
	//   "manifest_version": 2,
	//   "tables": [
	//     {
	//       "name": "users",
	//       "primary_key": ["id"],
	//       "subject_key": ["id"],
	//       "columns": [
	//         {"name": "id", "type": "bigint"}
	//       ]
	//     }
	//   ]
	// }
}
