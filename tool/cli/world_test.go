package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/manifest"
	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/tool/cli"
)

// shop is the data map of a shop. An erasure anonymizes the rows of customers, deletes parcels, and retains invoices.
const shop = `{"manifest_version": 2, "tables": [
	{"name": "customers", "primary_key": ["id"], "subject_key": ["id"], "columns": [
		{"name": "id", "type": "text"},
		{"name": "email", "type": "text", "personal": {"category": "contact", "erasure": "anonymize"}},
		{"name": "plan", "type": "text"}]},
	{"name": "parcels", "primary_key": ["id"], "owned": true, "columns": [
		{"name": "id", "type": "bigint"}, {"name": "customer_id", "type": "text"},
		{"name": "address", "type": "text", "personal": {"category": "location"}}],
		"relations": [{"columns": ["customer_id"], "references": "customers", "referenced_columns": ["id"]}]},
	{"name": "invoices", "primary_key": ["id"], "columns": [
		{"name": "id", "type": "bigint"}, {"name": "customer_id", "type": "text"},
		{"name": "address", "type": "text",
			"personal": {"category": "financial", "erasure": "retain", "reason": "tax law"}}],
		"relations": [{"columns": ["customer_id"], "references": "customers", "referenced_columns": ["id"]}]}]}`

func dataMap(t *testing.T) datamap.DataMap {
	t.Helper()
	m, err := manifest.Read(strings.NewReader(shop))
	must(t, err)
	return m
}

// by is the operator.
const by = "--operator=dpo"

// Each part of an Operator serves the commands for this part.
var (
	_ cli.Subjects  = (*app.Subjects)(nil)
	_ cli.Outbox    = (*app.Outbox)(nil)
	_ cli.Retention = (*app.Retention)(nil)
	_ cli.Schema    = (*app.Schema)(nil)
)

// world is a shop with its commands for operators. It has the customers 1 to 3, each with two parcels and one invoice.
// Its external system refuses every erasure.
type world struct {
	t     *testing.T
	store *memory.Store
	gdpr  *app.Integration
	in    io.Reader
}

// crm is an external system that refuses every call, but spares the contact "c-later" that it has made later.
type crm struct{ ports.Resolver }

func (crm) Name() string { return "crm" }

func (crm) ExportSubject(context.Context, domain.SubjectRef) ([]domain.ExportRecord, error) {
	return nil, errors.New("down")
}

func (crm) EraseSubject(_ context.Context, ref domain.SubjectRef, _ domain.ErasureCall) (bool, error) {
	if ref.Value == "c-later" {
		return false, domain.ErrSpared
	}
	return false, &domain.ResolverError{Resolver: "crm", Message: "refuses"}
}

func newWorld(t *testing.T, change ...func(*stack.Config)) *world {
	t.Helper()
	t.Setenv("HABEAS_OPERATOR", "")
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "xterm")
	t.Setenv("COLUMNS", "60")
	shop := dataMap(t)
	store, err := memory.New(shop, memory.Options{})
	must(t, err)
	for i, id := range []string{"1", "2", "3"} {
		must(t, store.Insert("customers", memory.Row{"id": id, "email": "c" + id + "@example.org", "plan": "free"}))
		must(t, store.Insert("parcels", memory.Row{"id": 2 * i, "customer_id": id, "address": "1 Main Street"}))
		must(t, store.Insert("parcels", memory.Row{"id": 2*i + 1, "customer_id": id, "address": "1 Main Street"}))
		must(t, store.Insert("invoices", memory.Row{"id": i, "customer_id": id, "address": "1 Main Street"}))
	}
	config := stack.Config{Sessions: store, Finder: store, DataMap: shop, Resolvers: []ports.Resolver{crm{}}}
	for _, c := range change {
		c(&config)
	}
	engines, err := stack.New(config)
	must(t, err)
	gdpr, err := app.New(app.Config{Stack: &engines, Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	return &world{t, store, gdpr, strings.NewReader("")}
}

// reading returns the world with the given text as standard input of its commands.
func (w *world) reading(lines string) *world {
	other := *w
	other.in = strings.NewReader(lines)
	return &other
}

// run runs a command. It returns the exit code and the output.
func (w *world) run(args ...string) (code int, stdout, stderr string) {
	w.t.Helper()
	var out, complaints bytes.Buffer
	code = w.into(&out, &complaints, args...)
	return code, out.String(), complaints.String()
}

func (w *world) into(stdout, stderr io.Writer, args ...string) (code int) {
	w.t.Helper()
	return run(w.t.Context(), w.gdpr.Operator(), w.in, stdout, stderr, args...)
}

func run(ctx context.Context, application cli.Application, in io.Reader, stdout, stderr io.Writer, args ...string) int {
	root := cli.New(application)
	root.SetIn(in)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetArgs(args)
	return cli.Execute(ctx, root)
}

// want runs a command and returns its output. It fails the test if the exit code differs from the given code.
func (w *world) want(code int, args ...string) (stdout, stderr string) {
	w.t.Helper()
	got, stdout, stderr := w.run(args...)
	if got != code {
		w.t.Fatalf("%q ends with %d, want %d:\n%s%s", args, got, code, stdout, stderr)
	}
	return stdout, stderr
}

// decoded runs a command with --output json, and checks the exit code. The output must be one line of JSON, which
// decoded decodes.
func decoded[T any](w *world, code int, args ...string) (result T) {
	w.t.Helper()
	stdout, _ := w.want(code, append(args, "--output", "json")...)
	if strings.Count(stdout, "\n") != 1 {
		w.t.Errorf("%q prints %q, want one line", args, stdout)
	}
	decoder := json.NewDecoder(strings.NewReader(stdout))
	decoder.DisallowUnknownFields()
	must(w.t, decoder.Decode(&result))
	return result
}

// emails returns the email addresses of the customers who are not erased.
func (w *world) emails() (left []string) {
	w.t.Helper()
	rows, err := w.store.Rows("customers")
	must(w.t, err)
	for _, row := range rows {
		if email, ok := row["email"].(string); ok && strings.Contains(email, "@") {
			left = append(left, email)
		}
	}
	return left
}

// trail returns the audit events of a customer.
func (w *world) trail(id string) []domain.AuditEvent {
	w.t.Helper()
	subject, err := domain.NewSubjectID(id)
	must(w.t, err)
	events, err := w.gdpr.Operator().Trail(w.t.Context(), subject)
	must(w.t, err)
	return events
}

var must = fixture.Must

// complains checks that the standard error has one line, and that the line contains all given words.
func complains(t *testing.T, stderr string, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(stderr, word) {
			t.Errorf("the error lacks %q: %s", word, stderr)
		}
	}
	if strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "habeas: ") {
		t.Errorf("the error is not one line: %q", stderr)
	}
}
