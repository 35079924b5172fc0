package bunstore_test

import (
	"errors"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
)

func TestOptionsForSeveralServersNeedPostgreSQLAndKnownValues(t *testing.T) {
	t.Parallel()
	dataMap := fixture.MustMap(t, datamap.Table{
		Name: "people", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{{Name: "id", Type: datamap.TypeBigInt}},
	})
	lite, full := databases.SQLite(t), databases.PostgreSQL(t)
	for name, c := range map[string]struct {
		db      *bun.DB
		options bunstore.Options
		refused bool
	}{
		"on":                     {full, bunstore.Options{SynchronousCommit: bunstore.CommitOn}, false},
		"remote_write":           {full, bunstore.Options{SynchronousCommit: bunstore.CommitRemoteWrite}, false},
		"remote_apply":           {full, bunstore.Options{SynchronousCommit: bunstore.CommitRemoteApply}, false},
		"a replica":              {full, bunstore.Options{ReadDB: full}, false},
		"not at all":             {full, bunstore.Options{SynchronousCommit: "off"}, true},
		"only here":              {full, bunstore.Options{SynchronousCommit: "local"}, true},
		"something else":         {full, bunstore.Options{SynchronousCommit: "on; DROP TABLE people"}, true},
		"SQLite that waits":      {lite, bunstore.Options{SynchronousCommit: bunstore.CommitOn}, true},
		"SQLite with a replica":  {lite, bunstore.Options{ReadDB: full}, true},
		"a replica on SQLite":    {full, bunstore.Options{ReadDB: lite}, true},
		"SQLite on its own":      {lite, bunstore.Options{}, false},
		"PostgreSQL on its own ": {full, bunstore.Options{}, false},
	} {
		_, err := bunstore.New(c.db, dataMap, c.options)
		if errors.Is(err, domain.ErrConfiguration) != c.refused || (err != nil) != c.refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}
