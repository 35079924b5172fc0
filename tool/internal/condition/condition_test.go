package condition_test

import (
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/tool/internal/condition"
)

// row has the values that a row holds after an erasure. It includes columns that the erasure does not change.
var row = map[string]condition.Value{
	"email":  condition.Text("anon-0123456789abcdef0123456789abcdef"),
	"code":   condition.Text("0123456789"),
	"none":   condition.Text(""),
	"amount": condition.Number(0),
	"active": condition.Boolean(false),
	"born":   condition.Time(time.Unix(0, 0).UTC()),
	"data":   condition.Text("{}"),
	"id":     condition.Text("6f9619ff-8b86-4d01-b42d-00cf4fc964ff"),
	"gone":   condition.Null(),
	"kept":   {},
	"there":  condition.Present(),
}

func decide(text string) condition.Outcome {
	return condition.Decide(text, func(name string) condition.Value { return row[strings.ToLower(name)] })
}

func wantOutcomes(t *testing.T, want condition.Outcome, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if got := decide(text); got != want {
			t.Errorf("%s: got %d, want %d", text, got, want)
		}
	}
}

// The conditions are written as PostgreSQL returns them, or as people write them for SQLite.
func TestAConditionThatHolds(t *testing.T) {
	wantOutcomes(t, condition.Holds,
		"CHECK ((char_length((email)::text) <= 255))",
		"CHECK (((email)::text <> ''::text))",
		"CHECK (((email)::text ~~ 'anon-%'::text))",
		"CHECK (((email)::text !~~ '%@%'::text)) NOT VALID",
		"CHECK (((email)::text ~ '^[a-z0-9-]+$'::text))",
		"CHECK (((email)::text ~* '^ANON'::text))",
		"CHECK (((email)::text !~ '[[:space:]]'::text))",
		"CHECK (((code)::text ~ '^[0-9a-f]{10}$'::text)) NO INHERIT",
		"CHECK (((none)::text = ANY ((ARRAY['a'::character varying, ''::character varying])::text[])))",
		"CHECK ((none = ANY ('{a,b}'::text[]) OR none = ''))",
		"CHECK (((none)::text <> ALL ((ARRAY['a'::character varying])::text[])))",
		"CHECK ((amount >= (0)::numeric))", "CHECK ((amount > '-1'::integer))", "amount>-1",
		"CHECK (((amount >= 0) AND (amount <= 100)))", "amount BETWEEN 0 AND 10", "amount between symmetric 10 and 0 or true",
		"amount IN (0, 1)", "amount NOT IN (1, 2)", "abs(amount) = 0", "-amount = 0", "amount + 1 = 1", "amount * 2 = 0",
		"CHECK ((gone IS NULL))", "gone > 3", "gone NOT IN (1)", "length(gone) > 3", "gone || 'x' = 'y'", "gone LIKE 'a%'",
		"CHECK ((email IS NOT NULL))", "there IS NOT NULL", "there NOTNULL", "there NOT NULL", "gone ISNULL",
		"kept > 3 OR email IS NOT NULL", "coalesce(gone, email) IS NOT NULL", "coalesce(gone, kept, email) IS NOT NULL",
		"NOT active", "active IS FALSE", "active IS NOT TRUE", "active = false", "active IN (0, 1)", "(gone = 1) IS NOT TRUE",
		"(active AND gone = 1) IS FALSE", "active IS NOT DISTINCT FROM false", "gone IS DISTINCT FROM email",
		"CHECK ((born > '1900-01-01'::date))", "CHECK ((born <= CURRENT_DATE))", "born < now()", "born < date('now')",
		"born >= '1900-01-01'", "born > DATE '1900-01-01'", "born < '2000-01-01 00:00:00+00'::timestamp with time zone",
		"CHECK ((jsonb_typeof(data) = 'object'::text))", "json_valid(data)", "data = '{}'::jsonb",
		"CHECK ((num_nonnulls(gone, email) = 1))", "num_nulls(gone, email) = 1",
		"length(email) <= 40", "LENGTH(Email) <= 40", `length("email") <= 40`, "length(`email`) <= 40",
		"email LIKE 'anon-%'", "email GLOB 'anon-[0-9]*'", "email NOT LIKE '%@%'", "users.email LIKE 'anon-%'",
		"CASE WHEN active THEN email = 'x' ELSE email <> '' END", "CASE amount WHEN 0 THEN true END",
		"CASE WHEN active THEN 0 END",
		"CAST(amount AS text) = '0'", "lower(email) = email", "trim(email) <> ''", "substr(email, 1, 5) = 'anon-'",
		"left(email, 4) = 'anon'", "starts_with(email, 'anon')", "POSITION(('@'::text) IN (email)) = 0",
		`"position"(email, '-') = 5 OR true`, "instr(email, '-') = 5", "octet_length(none) = 0",
		"(email)::character(4) = 'anon'",
		"email /* any */ IS NOT NULL -- of them", "'it''s' = 'it''s'", "email::text COLLATE \"C\" <> 'x'",
		"5 <> ALL (ARRAY[1, 2])", "(amount IS NULL) = (gone IS NOT NULL)", "amount IS NOT 5", "1.5e1 > .5",
		"CHECK (id = id::uuid)", "VALUE IS NULL OR true", "email || '@erased.invalid' LIKE '%@%'",
	)
}

func TestAConditionThatFails(t *testing.T) {
	wantOutcomes(t, condition.Fails,
		"CHECK ((char_length((email)::text) <= 20))", "length(email) < 37", "length(email) BETWEEN 3 AND 20",
		"CHECK (((email)::text ~~ '%@%'::text))", "email LIKE '%_@_%'", "CHECK (((email)::text ~ '^[^@]+@[^@]+$'::text))",
		"CHECK ((POSITION(('@'::text) IN (email)) > 1))", "email ILIKE '%@%'", "email ~~* '%@%'", "email GLOB '*@*'",
		"CHECK (((none)::text <> ''::text))", "none > ''", "none != ''", "length(trim(none)) > 0",
		"none SIMILAR TO 'x' AND none <> ''",
		"CHECK (((email)::text = ANY (ARRAY['m'::text, 'f'::text])))", "email IN ('m', 'f')", "email = ANY ('{m,f}'::text[])",
		"CHECK ((amount > 0))", "CHECK ((amount <> (0)::numeric))", "amount > 0 AND kept > 0", "NOT (amount = 0 OR kept = 1)",
		"CHECK ((gone IS NOT NULL))", "email IS NULL", "there IS NULL", "gone IS NOT NULL OR active",
		"CHECK (active)", "active = true", "active IS TRUE", "active = 1", "born > now()", "born >= CURRENT_DATE",
		"born > '2000-01-01'::date", "CHECK ((data <> '{}'::jsonb))", "jsonb_typeof(data) = 'array'",
		"num_nonnulls(gone, email) = 2", "CASE WHEN amount = 0 THEN email LIKE '%@%' ELSE true END",
		"email !~~ 'anon%'", "email IS NOT DISTINCT FROM gone", "CASE WHEN kept = 1 OR amount = 0 THEN active END",
	)
}

func TestAConditionThatCannotBeDecided(t *testing.T) {
	wantOutcomes(t, condition.Undecided,
		"", "CHECK ()", "(", "email <", "email IN (", "email IN ('a' 'b')", "CASE WHEN active", "CAST(email)", "'open",
		`"open`,
		"kept > 3", "kept = 1 AND email <> ''", "kept IS NOT NULL", "there = 'x'", "kept", "there", "NOT kept",
		"there IS TRUE",
		"is_email(email)", "email ~ '^(?=anon)'", `email ~ '\manon'`, "email ~ '['", "email ~ kept", "email LIKE kept",
		"email = 'ANON-0123456789ABCDEF0123456789ABCDEF'", "email > 'b'", "email = 5", "email LIKE 'anon!%' ESCAPE '!'",
		"email LIKE 'ANON-0%'", "data ? 'a'", "data ->> 'a' = 'b'", "data @> '{}'",
		"born > kept", "born + interval '18 years' < now()", "born < '2100-01-01' AND born - kept > 3",
		"now() > '2030-01-01'::date",
		"EXTRACT(year FROM born) > 1900", "(amount, email) = (0, '')", "amount / 2 = 0", "amount % kept = 1",
		"abs(email) = 1",
		"CASE WHEN kept = 1 THEN true ELSE false END", "coalesce(kept, gone) IS NULL", "num_nonnulls(gone, kept) = 1",
		"email::integer > 0", "id::bigint > 0", "born::interval > x", "email SIMILAR TO '(a|b)%'", "email ~ E'\\\\d'",
		"email = ANY (kept)", `email = ANY ('{"a"}'::text[])`, "email REGEXP 'x'", "(ARRAY['a'])[1] = email",
		"email GLOB '[!'", "email ~~ 'a\\'", "email extra", "trim(both 'x' from email) = ''", "substr(email, 0) = ''",
		"1x > 0",
		strings.Repeat("(", 300)+"1"+strings.Repeat(")", 300),
		"email LIKE 'ANON-%x' OR email LIKE 'Anon-%'", "f(amount) IS NULL", "length(email, 2) = 1", "date('x', 'y') > born",
	)
}

func TestTheLiteralsOfAConditionAreRead(t *testing.T) {
	got := strings.Join(condition.Literals(`CHECK (c = ANY (ARRAY['f'::text, 'it''s'::text]) OR d > 18)`), ",")
	if got != "f,it's,18" {
		t.Errorf("got %s", got)
	}
}

func TestTheNamesOfAConditionAreRead(t *testing.T) {
	got := strings.Join(condition.Names(`CHECK ((length(email) <= 20) OR "Full Name" <> 'secret')`), ",")
	if got != "CHECK,length,email,OR,Full Name" {
		t.Errorf("got %s", got)
	}
}

// The condition comes from the schema of the application. No condition may cause a panic.
func FuzzDecide(f *testing.F) {
	f.Add(`CHECK (((email)::text = ANY ((ARRAY['f'::character varying(3)])::text[]))) NOT VALID`)
	f.Add(`not email is not null and position('@' in email) between -1 and 2 or case when a then b else c end`)
	f.Add(`cast(email as timestamp with time zone) > now() at time zone 'utc' and x[1] glob '[a-z]*' collate "C"`)
	f.Fuzz(func(_ *testing.T, text string) {
		decide(text)
		condition.Names(text)
	})
}
