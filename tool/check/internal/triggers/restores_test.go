package triggers_test

import (
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/check/internal/triggers"
)

func TestATriggerRestoresAnOldValue(t *testing.T) {
	const early = "BEFORE UPDATE ON pages FOR EACH ROW"
	null, empty, digits := triggers.Written{Null: true}, triggers.Written{IsKnown: true}, triggers.Written{}
	for _, test := range []struct {
		header, code string
		to           triggers.Written
		want         bool
	}{
		{early, "NEW.title := OLD.title; RETURN NEW;", digits, true},
		{early, "new.title = old.title::text; RETURN NEW;", null, true},
		{early, "NEW := OLD; RETURN NEW;", digits, true},
		{early, "NEW.n := 1; RETURN OLD;", digits, true},
		{"BEFORE UPDATE OF title ON pages FOR EACH ROW", "NEW.title := OLD.title; RETURN NEW;", digits, true},
		{early + " WHEN (OLD.title IS DISTINCT FROM NEW.title)", "NEW.title := OLD.title; RETURN NEW;", null, true},
		{early, "NEW.title := COALESCE(OLD.title, NEW.title); RETURN NEW;", digits, true},
		{early, "NEW.title := COALESCE(NEW.title, OLD.title); RETURN NEW;", null, true},
		{early, "NEW.title := COALESCE(NULLIF(NEW.title, ''), OLD.title); RETURN NEW;", empty, true},
		{early, "NEW.title := CASE WHEN NEW.title IS NULL THEN OLD.title ELSE NEW.title END; RETURN NEW;", null, true},
		{early, "IF NEW.title <> OLD.title THEN NEW.title := OLD.title; END IF; RETURN NEW;", digits, true},
		{early, "IF OLD.title IS NOT NULL THEN NEW.title := OLD.title; END IF; RETURN NEW;", digits, true},
		{early, "IF NEW.title IS NULL OR NEW.title = '' THEN NEW.title := OLD.title; END IF; RETURN NEW;", empty, true},
		{
			early, "IF TG_OP = 'UPDATE' THEN NEW.title := OLD.title; ELSE NEW.title := lower(NEW.title); END IF; RETURN NEW;",
			digits, true,
		},
		{early, "IF TG_OP = 'DELETE' THEN RETURN OLD; END IF; NEW.title := OLD.title; RETURN NEW;", digits, true},

		{"AFTER UPDATE ON pages FOR EACH ROW", "NEW.title := OLD.title; RETURN NEW;", digits, false},
		{"BEFORE UPDATE OF n ON pages FOR EACH ROW", "NEW.title := OLD.title; RETURN NEW;", digits, false},
		{early + " WHEN (OLD.n > 5)", "NEW.title := OLD.title; RETURN NEW;", digits, false},
		{early, "NEW.n := OLD.n; RETURN NEW;", digits, false},
		{early, "NEW.title := OLD.n; RETURN NEW;", digits, false},
		{early, "NEW.title := COALESCE(NEW.title, OLD.title); RETURN NEW;", digits, false},
		{early, "NEW.title := COALESCE(NULLIF(NEW.title, ''), OLD.title); RETURN NEW;", digits, false},
		{early, "NEW.title := CASE WHEN NEW.title IS NULL THEN OLD.title ELSE NEW.title END; RETURN NEW;", empty, false},
		{early, "NEW.title := OLD.title || NEW.title; RETURN NEW;", digits, false},
		{early, "IF NEW.title IS NULL THEN NEW.title := OLD.title; END IF; RETURN NEW;", digits, false},
		{early, "IF NEW.title = '' THEN NEW.title := OLD.title; END IF; RETURN NEW;", digits, false},
		{early, "IF OLD.title IS NULL THEN NEW.title := OLD.title; END IF; RETURN NEW;", digits, false},
		{early, "IF OLD.locked THEN NEW.title := OLD.title; END IF; RETURN NEW;", digits, false},
		{
			early, "IF current_setting('app.erases', true) = 'on' THEN RETURN NEW; END IF; NEW.title := OLD.title; RETURN NEW;",
			digits, false,
		},
		{early, "NEW.title := OLD.title; NEW.title := ''; RETURN NEW;", digits, false},
		{early, "IF TG_OP = 'DELETE' THEN RETURN OLD; END IF; RETURN NEW;", digits, false},
		{early, "RETURN COALESCE(NEW, OLD);", digits, false},
		{early, "r := NEW; NEW.title := OLD.title; RETURN r;", digits, false},
		{early, "OLD.title := NEW.title; NEW.title := OLD.title; RETURN NEW;", digits, false},
		{early, "SELECT 'x' INTO OLD.title; NEW.title := OLD.title; RETURN NEW;", digits, false},
	} {
		got := triggers.Restores(datamap.CatalogTable{Name: "pages", Columns: []datamap.CatalogColumn{
			{Name: "title", Nullable: true}, {Name: "n", Nullable: true},
		}}, datamap.CatalogTrigger{
			Definition: "CREATE TRIGGER t " + test.header + " EXECUTE FUNCTION f()", Language: "plpgsql",
			Events: []string{"UPDATE"}, Code: "BEGIN " + test.code + " END",
		}, "title", test.to)
		if got != test.want {
			t.Errorf("%s: %s (%+v): got %t", test.header, test.code, test.to, got)
		}
	}
}
