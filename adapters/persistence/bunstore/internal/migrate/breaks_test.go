package migrate

import (
	"testing"
	"testing/fstest"
)

// Only the comment at the beginning of a file says that older processes cannot work with its tables.
func TestTheHeaderOfAMigrationSaysWhetherItBreaksOlderProcesses(t *testing.T) {
	t.Parallel()
	files, err := readMigrations(fstest.MapFS{
		"0001_plain.sql":  {Data: []byte("-- A table.\nCREATE TABLE t (a TEXT);\n")},
		"0002_breaks.sql": {Data: []byte("-- A table.\n--\n-- breaks: yes\nCREATE TABLE t (a TEXT);\n")},
		"0003_later.sql":  {Data: []byte("CREATE TABLE t (a TEXT);\n\n-- breaks: yes\nDROP TABLE t;\n")},
	})
	if err != nil || len(files) != 3 || files[0].breaks || !files[1].breaks || files[2].breaks {
		t.Errorf("got %+v, %v", files, err)
	}
}
