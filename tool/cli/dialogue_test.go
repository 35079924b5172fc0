package cli_test

import (
	"strings"
	"testing"
)

func TestADialogueAsksWritesEachAnswerAndContinuesLater(t *testing.T) {
	file := questions(t)
	code, stdout, screen := deciding(t, file, office{}, "1 an order is its customer's\nq\n")
	m := read(t, file)
	if got := answerTo(m, "orders"); code != 1 || stdout != "" || got.Answer != "delete" || got.By != "dpo" ||
		got.Because != "an order is its customer's" {
		t.Fatalf("ends with %d: %s %+v", code, screen, got)
	}
	for _, says := range []string{
		"1 of 4  orders\n", "  Whose are the rows of orders?\n", "  user_id    varchar(9)\n", "  user_id    -> users\n",
		"  1 delete            her rows are deleted\n", "  3 keep              kept: address\n",
		"  5 not-about-people  left out: an erasure does not change the rows\n", "  10000 rows or more\n",
		"2 of 4  users (shade, created_via, phone)\n", "3 questions open.\n",
	} {
		if !strings.Contains(screen, says) {
			t.Errorf("the screen lacks %q:\n%s", says, screen)
		}
	}
	// the columns in parts, a question that is skipped, one by its name; then the bases
	code, _, screen = deciding(t, file, nil,
		"shade,created_*=1\noverwrite\n\nnot-about-people\n\n\ncontract\ncontract:delivery\n")
	m = read(t, file)
	orders, _ := m.Table("orders")
	address, _ := orders.Column("address")
	if code != 1 || answerTo(m, "users", "phone").Answer != "overwrite" || !answerTo(m, "audit_log").IsOpen() ||
		answerTo(m, "audit_run").IsOpen() || address.Personal.Purpose != "delivery" || address.Personal.Basis != "contract" ||
		!strings.Contains(screen, "2 of 4  users") || !strings.Contains(screen, "4 of 5  audit_log") ||
		!strings.Contains(screen, "orders: the form is TABLE=BASIS:PURPOSE") {
		t.Errorf("ends with %d: %s", code, screen)
	}
}

func TestARefusedAnswerIsAskedAgain(t *testing.T) {
	file := questions(t)
	code, _, screen := deciding(t, file, nil, "broken\n9\nkeep\n10y\nplaced_at\n§ 147 AO\nq\n")
	orders, _ := read(t, file).Table("orders")
	address, _ := orders.Column("address")
	if p := address.Personal; code != 1 || p == nil || p.Retain.String() != "10y" || p.Since != "placed_at" ||
		!strings.Contains(screen, "orders") || !strings.Contains(screen, "no option") {
		t.Errorf("ends with %d: %s %+v", code, screen, p)
	}
}

func TestValuesAreShownOnlyOnRequestAndSecretsNever(t *testing.T) {
	file := questions(t)
	_, stdout, screen := deciding(t, file, office{}, "?\nq\n")
	if before, after, _ := strings.Cut(screen, "> "); strings.Contains(before+stdout, "value of") ||
		!strings.Contains(after, "address    value of address") || !strings.Contains(after, "api_token  (masked)") ||
		!strings.Contains(after, "placed_at  no values") || strings.Contains(screen, "value of api_token") {
		t.Errorf("shows %s", screen)
	}
	if _, _, screen = deciding(t, file, nil, "?\nq\n"); !strings.Contains(screen, "Values need a database") {
		t.Errorf("shows %s", screen)
	}
}

func TestWithoutAPersonTheOpenQuestionsAreListed(t *testing.T) {
	file := questions(t)
	code, stdout, _ := deciding(t, file, office{isDown: true}, "")
	if code != 1 || !strings.Contains(stdout, "4 questions open, 0 answers.") || !strings.Contains(stdout, "audit_run") {
		t.Errorf("ends with %d: %s", code, stdout)
	}
	code, stdout, _ = deciding(t, file, nil, "", "-o", "json")
	if code != 1 || !strings.HasPrefix(stdout, `[{"object":"orders"`) {
		t.Errorf("ends with %d: %s", code, stdout)
	}
	code, _, _ = deciding(t, file, nil, "", "*=not-about-people", "--because", "x", "--columns", "*=overwrite")
	if code != 0 {
		t.Fatal("not answered")
	}
	if code, stdout, _ = deciding(t, file, nil, ""); code != 0 {
		t.Errorf("ends with %d: %s", code, stdout)
	}
}
