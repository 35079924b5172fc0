package live

import (
	"slices"
	"testing"
)

func TestAConstantStatementIsRead(t *testing.T) {
	for text, want := range map[string]struct {
		written, deleted []string
		isDynamic        bool
	}{
		"EXECUTE 'LOCK visits IN EXCLUSIVE MODE';":                {},
		"EXECUTE 'UPDATE logs SET last = $1' USING NEW.email;":    {written: []string{"logs"}},
		"EXECUTE $q$DELETE FROM logs$q$;":                         {deleted: []string{"logs"}},
		"EXECUTE 'UPDATE ' || name || ' SET a = 1';":              {isDynamic: true},
		"EXECUTE 'SELECT ''a''';":                                 {isDynamic: true},
		"EXECUTE E'LOCK visits';":                                 {isDynamic: true},
		"EXECUTE 'SELECT f()';":                                   {isDynamic: true},
		"EXECUTE format('LOCK %I', TG_TABLE_NAME);":               {isDynamic: true},
		"EXECUTE statement;":                                      {isDynamic: true},
		"EXECUTE 'LOCK visits'; EXECUTE 'LOCK ' || TG_TABLE_NAME": {isDynamic: true},
	} {
		written, deleted, isDynamic := TokensOf(text, nil).targetTables()
		if !slices.Equal(written, want.written) || !slices.Equal(deleted, want.deleted) || isDynamic != want.isDynamic {
			t.Errorf("%s: got %q, %q, %t", text, written, deleted, isDynamic)
		}
	}
}
