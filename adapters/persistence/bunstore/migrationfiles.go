package bunstore

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/domain/datamap"
)

// The migrations are append-only: a released file never changes, because databases hold its checksum.
//
//go:embed migrations
var migrationFiles embed.FS

// upgradeFiles bring the tables of earlier versions to the state after the migration with the same name.
//
//go:embed upgrades
var upgradeFiles embed.FS

// The migrations of earlier versions that replacedBy brings to the current migrations.
const (
	firstMigration = "0001_habeas.sql"
	oldLedgers     = "0001_ledgers.sql"
	oldOutboxStage = "0002_outbox_stage.sql"
)

// Migrations returns the SQL files that create the tables of habeas on the database of db, for an application that runs
// migrations with its own tool. Run the files in the order of their names. Blank lines separate the statements of a
// file. The statements do not qualify the names of tables, so the search path selects the schema. The files are those
// of the data map without a name. See MigrationText for another one.
func Migrations(db *bun.DB) (fs.FS, error) {
	d, err := dialectOf(db, "")
	if err != nil {
		return nil, err
	}
	return fs.Sub(migrationFiles, "migrations/"+d.Migrations())
}

// MigrationText returns the statements of all migrations in order, for the data map with the given name (see
// Options.Name). A comment with the name of the file precedes the statements of each file. Blank lines separate the
// statements. MigrationText opens no connection. It returns domain.ErrConfiguration if the name is not valid or the
// dialect of db is not supported.
func MigrationText(db *bun.DB, name string) (string, error) {
	m, err := newMigration(db, Options{Name: name})
	if err != nil {
		return "", err
	}
	var all strings.Builder
	for _, file := range m.files {
		all.WriteString("-- " + file.name + "\n\n" + strings.TrimSpace(m.named(file.text)) + "\n")
	}
	return all.String(), nil
}

// migrationFile is a file of the folder migrations.
type migrationFile struct {
	name, text string
	checksum   string // the SHA-256 of the text, in hexadecimal digits
}

// readMigrations returns the files of a database system in the order in which Migrate applies them.
func readMigrations(db *bun.DB) (files []migrationFile, err error) {
	folder, err := Migrations(db)
	if err != nil {
		return nil, err
	}
	names, err := fs.Glob(folder, "*.sql")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(text)
		files = append(files, migrationFile{name, string(text), hex.EncodeToString(sum[:])})
	}
	return files, nil
}

// named returns a text of a migration for the data map with the name of m: all names of objects in it begin with
// datamap.ObjectPrefix.
func (m migration) named(text string) string {
	return strings.ReplaceAll(text, datamap.ObjectPrefix(""), datamap.ObjectPrefix(m.name))
}

// statementsOf returns the statements of a migration, which blank lines separate.
func (m migration) statementsOf(text string) []string {
	return strings.Split(strings.TrimSpace(m.named(text)), "\n\n")
}

var (
	tablePattern  = regexp.MustCompile(`(?ms)^CREATE TABLE (\w+) \(\n(.*?)^\)`)
	columnPattern = regexp.MustCompile(`(?m)^ {4}(\w+)`)
	addedPattern  = regexp.MustCompile(`(?m)^ALTER TABLE (\w+) ADD COLUMN (\w+)`)
	objectPattern = regexp.MustCompile(`(?m)^CREATE (?:INDEX|TRIGGER) (\w+)`)
)

// objectsOf returns the objects that the migrations create: table.column for each column, and the names of the indexes
// and triggers. It relies on the layout of the files, in which each column begins a line with four spaces.
func (m migration) objectsOf(files ...migrationFile) (objects []string) {
	for _, file := range files {
		text := m.named(file.text)
		for _, table := range tablePattern.FindAllStringSubmatch(text, -1) {
			for _, column := range columnPattern.FindAllStringSubmatch(table[2], -1) {
				objects = append(objects, table[1]+"."+column[1])
			}
		}
		for _, added := range addedPattern.FindAllStringSubmatch(text, -1) {
			objects = append(objects, added[1]+"."+added[2])
		}
		for _, object := range objectPattern.FindAllStringSubmatch(text, -1) {
			objects = append(objects, object[1])
		}
	}
	return objects
}

// missingAtFirst reports whether the tables of the first version of 0001_habeas.sql lacked an object that its current
// version creates. The tables of 0001_ledgers.sql and 0002_outbox_stage.sql lacked the same objects.
func (m migration) missingAtFirst(object string) bool {
	plain := strings.TrimPrefix(object, datamap.ObjectPrefix(m.name))
	return strings.HasPrefix(plain, "consent_records_no_") || strings.HasPrefix(plain, "restriction_records_no_") ||
		strings.HasPrefix(plain, "positions.") || slices.Contains([]string{
		"outbox.operation_id", "outbox.tried_since", "outbox_tried", "subject_erasures.intake", "subject_erasures.swept_at",
		"subject_erasures_intake",
	}, plain)
}
