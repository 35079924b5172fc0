package supportdesk_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/supportdesk"
	"github.com/habeas-data/habeas/adapters/supportdesk/desktest"
	"github.com/habeas-data/habeas/domain"
)

const (
	token = "dG9rOnNlY3JldA-secret-token"
	zoeID = "6762f0d01bb69f9f2193bb7d"
)

var (
	entry   = domain.ErasureCall{EntryID: "entry-1", Attempt: 1}
	created = time.Date(2024, 12, 18, 16, 39, 6, 0, time.UTC)
	updated = time.Date(2024, 12, 19, 8, 0, 0, 0, time.UTC)
)

// zoe returns a contact with all fields that are exported, and with data that must not be exported.
func zoe() desktest.Contact {
	return desktest.Contact{
		ID: zoeID, Email: "zoe@example.org", Name: "Zoe", Phone: "+49301234567",
		CustomAttributes: map[string]any{"blood_type": "excluded-attribute"},
	}
}

func conversation(id string) desktest.Conversation {
	return desktest.Conversation{
		ID: id, CreatedAt: created, UpdatedAt: updated, State: "open", Body: "<p>excluded-message</p>",
		Fields: map[string]any{"custom_attributes": map[string]any{"mood": "excluded-mood"}},
	}
}

// world is a fake desk with the contact Zoe, and a resolver for this desk.
type world struct {
	*supportdesk.Resolver
	desk *desktest.Desk
	url  string
}

func newWorld(t testing.TB, options ...func(*supportdesk.Options)) world {
	t.Helper()
	desk := desktest.New(token)
	desk.Add(zoe(), conversation("515"), conversation("516"))
	server := httptest.NewServer(desk)
	t.Cleanup(server.Close)
	chosen := supportdesk.Options{BaseURL: server.URL}
	for _, option := range options {
		option(&chosen)
	}
	resolver, err := supportdesk.New(token, chosen)
	if err != nil {
		t.Fatal(err)
	}
	return world{resolver, desk, server.URL}
}

func ref(id string) domain.SubjectRef { return domain.SubjectRef{Kind: supportdesk.Name, Value: id} }

func (w world) export(t testing.TB) []domain.ExportRecord {
	t.Helper()
	records, err := w.ExportSubject(context.Background(), ref(zoeID))
	if err != nil {
		t.Fatal(err)
	}
	return records
}

// values returns the records' values by field.
func values(records []domain.ExportRecord) map[string]any {
	all := map[string]any{}
	for _, record := range records {
		all[record.Field] = record.Value
	}
	return all
}

// exportAndErase exports and then erases Zoe. It returns the error of the export under the key "GET", and the error of
// the erasure under the key "DELETE". It also checks that a method that returns an error has no other result.
func (w world) exportAndErase(ctx context.Context, t testing.TB) map[string]error {
	t.Helper()
	records, exported := w.ExportSubject(ctx, ref(zoeID))
	if exported != nil && records != nil {
		t.Errorf("an export that failed returned %d records", len(records))
	}
	absent, erased := w.EraseSubject(ctx, ref(zoeID), entry)
	if erased != nil && absent {
		t.Error("an erasure that failed returned alreadyAbsent")
	}
	return map[string]error{"GET": exported, "DELETE": erased}
}

// mustRetry checks that err is a *domain.RetryLaterError with the given delay, and that the text of err contains the
// given text.
func mustRetry(t testing.TB, err error, after time.Duration, text string) {
	t.Helper()
	var later *domain.RetryLaterError
	if !errors.As(err, &later) {
		t.Fatalf("the error is %T (%v), want RetryLaterError", err, err)
	}
	if later.After != after {
		t.Errorf("After = %v, want %v", later.After, after)
	}
	if later.Resolver != supportdesk.Name {
		t.Errorf("Resolver = %q", later.Resolver)
	}
	if !strings.Contains(err.Error(), text) {
		t.Errorf("the error is %q, want it to contain %q", err, text)
	}
}

// mustBeFinal checks that err is a *domain.ResolverError, and that the text of err contains the given text.
func mustBeFinal(t testing.TB, err error, text string) {
	t.Helper()
	var final *domain.ResolverError
	if !errors.As(err, &final) {
		t.Fatalf("the error is %T (%v), want ResolverError", err, err)
	}
	if final.Resolver != supportdesk.Name {
		t.Errorf("Resolver = %q", final.Resolver)
	}
	if !strings.Contains(err.Error(), text) {
		t.Errorf("the error is %q, want it to contain %q", err, text)
	}
}
