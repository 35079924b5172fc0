package domain_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// The names and the order of the JSON members are public API. A change of them would break every client.

func TestConsentInJSON(t *testing.T) {
	id := mustID(t, "42")
	record := domain.ConsentRecord{
		SubjectID: id, Purpose: "newsletter", PolicyVersion: "v1", Granted: true, RecordedAt: noon, Source: "api",
	}
	wantJSON(t, record, `{
		"subject_id": "42", "purpose": "newsletter", "policy_version": "v1", "granted": true,
		"recorded_at": "2024-03-01T12:00:00Z", "source": "api"
	}`)
	wantJSON(t, domain.ConsentStatusOf(id, "newsletter", &record), `{
		"subject_id": "42", "purpose": "newsletter", "granted": true, "policy_version": "v1",
		"recorded_at": "2024-03-01T12:00:00Z", "source": "api"
	}`)
	wantJSON(t, domain.ConsentStatusOf(id, "newsletter", nil), `{
		"subject_id": "42", "purpose": "newsletter", "granted": false, "policy_version": null,
		"recorded_at": null, "source": null
	}`)
}

func TestRestrictionInJSON(t *testing.T) {
	id, purpose := mustID(t, "tenant", "42"), ptr("ads")
	record := domain.RestrictionRecord{
		SubjectID: id, Purpose: purpose, Restricted: true, Reason: ptr("disputed"), RecordedAt: noon, Source: "api",
	}
	wantJSON(t, record, `{
		"subject_id": "tenant\u001f42", "purpose": "ads", "restricted": true, "reason": "disputed",
		"recorded_at": "2024-03-01T12:00:00Z", "source": "api"
	}`)
	wantJSON(t, domain.RestrictionRecord{SubjectID: id, RecordedAt: noon, Source: "api"}, `{
		"subject_id": "tenant\u001f42", "purpose": null, "restricted": false, "reason": null,
		"recorded_at": "2024-03-01T12:00:00Z", "source": "api"
	}`)
	wantJSON(t, domain.RestrictionStatusOf(id, purpose, nil, &record), `{
		"subject_id": "tenant\u001f42", "purpose": "ads", "restricted": true, "scope": "purpose",
		"recorded_at": "2024-03-01T12:00:00Z"
	}`)
	wantJSON(t, domain.RestrictionStatusOf(id, nil, nil, nil), `{
		"subject_id": "tenant\u001f42", "purpose": null, "restricted": false, "scope": null, "recorded_at": null
	}`)
}

func TestAnExportInJSON(t *testing.T) {
	bundle := domain.ExportBundle{
		SubjectID: mustID(t, "42"), GeneratedAt: noon, SchemaVersion: domain.ExportSchemaVersion,
		Records: []domain.ExportRecord{
			{Source: "users", Field: "email", Row: "42", Category: domain.CategoryContact, Value: "zoe@example.org"},
			{
				Source: "invoices", Field: "total", Row: "7", Category: domain.CategoryFinancial, Value: domain.Number("9.90"),
				LegalBasis: ptr(domain.BasisLegalObligation), Purpose: ptr("bookkeeping"), RetentionReason: ptr("§147 AO"),
				ExpiresAt: ptr(noon.AddDate(10, 0, 0)),
			},
		},
		IncompleteSources: []string{"desk"},
	}
	wantJSON(t, bundle, `{
		"subject_id": "42", "generated_at": "2024-03-01T12:00:00Z", "schema_version": 1,
		"records": [
			{"source": "users", "field": "email", "row": "42", "category": "contact", "value": "zoe@example.org",
			 "legal_basis": null, "purpose": null, "retention_reason": null, "expires_at": null},
			{"source": "invoices", "field": "total", "row": "7", "category": "financial", "value": 9.90,
			 "legal_basis": "legal_obligation", "purpose": "bookkeeping", "retention_reason": "§147 AO",
			 "expires_at": "2034-03-01T12:00:00Z"}
		],
		"incomplete_sources": ["desk"]
	}`)
}

func TestAnErasureInJSON(t *testing.T) {
	wantJSON(t, domain.ErasureResult{
		SubjectID: mustID(t, "42"), CompletedAt: noon,
		Deleted: map[string]int64{"sessions": 3}, Anonymized: map[string]int64{"users": 1}, Retained: map[string]int64{},
		EnqueuedExternal: []string{"desk"},
	}, `{
		"subject_id": "42", "completed_at": "2024-03-01T12:00:00Z",
		"deleted": {"sessions": 3}, "anonymized": {"users": 1}, "retained": {}, "enqueued_external": ["desk"]
	}`)
	wantJSON(t, datamap.Plan{Steps: []datamap.Step{
		{Target: "sessions", Strategy: domain.StrategyDelete},
		{Target: "users", Strategy: domain.StrategyAnonymize, Columns: []string{"email"}},
		{Target: "desk", Strategy: domain.StrategyDelete, External: true},
	}}, `{"steps": [
		{"target": "sessions", "strategy": "delete"},
		{"target": "users", "strategy": "anonymize", "columns": ["email"]},
		{"target": "desk", "strategy": "delete", "external": true}
	]}`)
}

func TestARectificationInJSON(t *testing.T) {
	wantJSON(t, domain.RectificationResult{
		SubjectID: mustID(t, "42"), CompletedAt: noon, Rectified: map[string]int64{"users": 1, "invoices": 3},
		EnqueuedExternal: []string{"desk"}, SkippedResolvers: []string{},
	}, `{
		"subject_id": "42", "completed_at": "2024-03-01T12:00:00Z", "rectified": {"invoices": 3, "users": 1},
		"enqueued_external": ["desk"], "skipped_resolvers": []
	}`)
}

func TestAnAuditEventInJSON(t *testing.T) {
	wantJSON(t, domain.AuditEvent{
		EventID: "e-1", EventType: domain.EventConsentGranted, SubjectRef: mustID(t, "42"), OccurredAt: noon,
		Payload: domain.Payload{"purpose": "newsletter", "rows": int64(2), "external": false},
	}, `{
		"event_id": "e-1", "event_type": "consent_granted", "subject_ref": "42", "occurred_at": "2024-03-01T12:00:00Z",
		"payload": {"external": false, "purpose": "newsletter", "rows": 2}
	}`)
}

func TestTheEventTypesAreNamedAsPromised(t *testing.T) {
	for want, got := range map[string]domain.EventType{
		"consent_granted":               domain.EventConsentGranted,
		"consent_withdrawn":             domain.EventConsentWithdrawn,
		"restriction_placed":            domain.EventRestrictionPlaced,
		"restriction_lifted":            domain.EventRestrictionLifted,
		"export_requested":              domain.EventExportRequested,
		"export_completed":              domain.EventExportCompleted,
		"erasure_requested":             domain.EventErasureRequested,
		"erasure_step_succeeded":        domain.EventErasureStepSucceeded,
		"erasure_step_failed":           domain.EventErasureStepFailed,
		"erasure_local_completed":       domain.EventErasureLocalCompleted,
		"erasure_completed":             domain.EventErasureCompleted,
		"erasure_requeued":              domain.EventErasureRequeued,
		"erasure_discarded":             domain.EventErasureDiscarded,
		"rectification_requested":       domain.EventRectificationRequested,
		"rectification_step_succeeded":  domain.EventRectificationStepSucceeded,
		"rectification_step_failed":     domain.EventRectificationStepFailed,
		"rectification_local_completed": domain.EventRectificationLocalCompleted,
		"rectification_completed":       domain.EventRectificationCompleted,
		"rectification_discarded":       domain.EventRectificationDiscarded,
	} {
		if string(got) != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAnOutboxEntryInJSON(t *testing.T) {
	wantJSON(t, domain.OutboxEntry{
		EntryID: "o-1", SubjectID: mustID(t, "42"), Resolver: "desk", Ref: domain.SubjectRef{Kind: "desk", Value: "c-1"},
		Operation: domain.OperationErase, Status: domain.OutboxPending, EnqueuedAt: noon,
		RequestedAt: noon.Add(-time.Hour),
	}, `{
		"entry_id": "o-1", "subject_id": "42", "resolver": "desk", "ref": {"kind": "desk", "value": "c-1"},
		"operation": "erase", "corrections": null, "status": "pending", "attempts": 0,
		"enqueued_at": "2024-03-01T12:00:00Z", "requested_at": "2024-03-01T11:00:00Z",
		"last_attempt_at": null, "next_attempt_at": null, "last_error": null, "lease_token": null
	}`)
	wantJSON(t, domain.OutboxEntry{
		EntryID: "o-2", SubjectID: mustID(t, "42"), Resolver: "desk",
		Ref:       domain.SubjectRef{Kind: "desk", Value: "c-1", Extra: map[string]string{"region": "eu"}},
		Operation: domain.OperationRectify, Corrections: domain.Corrections{domain.CategoryContact: "zoe@example.org"},
		Status: domain.OutboxInFlight, Attempts: 2, EnqueuedAt: noon, RequestedAt: noon,
		LastAttemptAt: ptr(noon.Add(time.Minute)),
		NextAttemptAt: ptr(noon.Add(time.Hour)), LastError: ptr("timeout"), LeaseToken: ptr("l-1"),
	}, `{
		"entry_id": "o-2", "subject_id": "42", "resolver": "desk",
		"ref": {"kind": "desk", "value": "c-1", "extra": {"region": "eu"}},
		"operation": "rectify", "corrections": {"contact": "zoe@example.org"}, "status": "in_flight", "attempts": 2,
		"enqueued_at": "2024-03-01T12:00:00Z", "requested_at": "2024-03-01T12:00:00Z",
		"last_attempt_at": "2024-03-01T12:01:00Z",
		"next_attempt_at": "2024-03-01T13:00:00Z", "last_error": "timeout", "lease_token": "l-1"
	}`)
}

func TestCorrectionsReadBackFromJSONWithEachDigit(t *testing.T) {
	for text, want := range map[string]domain.Corrections{
		`null`: nil,
		`{}`:   {},
		`{"financial":9007199254740993,"identity":"7","special":null,"technical":{"a":[1.50,true]}}`: {
			domain.CategoryFinancial: json.Number("9007199254740993"), domain.CategoryIdentity: "7", domain.CategorySpecial: nil,
			domain.CategoryTechnical: map[string]any{"a": []any{json.Number("1.50"), true}},
		},
	} {
		var got domain.Corrections
		if err := json.Unmarshal([]byte(text), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %#v, %v", text, got, err)
		}
		wantJSON(t, got, text)
	}
	for _, text := range []string{`[]`, `"x"`, `1`, `{"a":1} {}`, `{"a":1`, ``} {
		got := domain.Corrections{domain.CategoryContact: "x"}
		if err := json.Unmarshal([]byte(text), &got); err == nil || len(got) != 1 {
			t.Errorf("%s: got %#v, %v", text, got, err)
		}
	}
}

func TestAFieldErrorInJSON(t *testing.T) {
	wantJSON(t, domain.CheckPurpose("")[0], `{"field": "purpose", "code": "required", "message": "must not be empty"}`)
}

func TestATableOfAManifestReadsBackFromJSON(t *testing.T) {
	const golden = `{
		"name": "shop.invoices", "primary_key": ["id"], "subject_key": ["id"], "owned": true,
		"relations": [{"columns": ["user_id"], "references": "users", "referenced_columns": ["id"], "path": true}],
		"columns": [
			{"name": "id", "type": "bigint"},
			{"name": "address", "type": "text", "length": 200, "surrogate": "gone", "personal": {
				"category": "financial", "erasure": "retain", "basis": "legal_obligation", "purpose": "bookkeeping",
				"reason": "§147 AO", "retain": "10y", "since": "issued_at"}},
			{"name": "note", "type": "text", "personal": {"category": "contact"}}
		]
	}`
	var table datamap.Table
	if err := json.Unmarshal([]byte(golden), &table); err != nil {
		t.Fatal(err)
	}
	wantJSON(t, table, golden)
	want := &datamap.Annotation{
		Category: domain.CategoryFinancial, Strategy: domain.StrategyRetain, Basis: domain.BasisLegalObligation,
		Purpose: "bookkeeping", Reason: "§147 AO", Retain: datamap.Period{Years: 10}, Since: "issued_at",
	}
	if got := table.Columns[1].Personal; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestTheLocalStepsOfAPlanComeBeforeTheExternalOnes(t *testing.T) {
	local := datamap.Step{Target: "users", Strategy: domain.StrategyDelete}
	external := datamap.Step{Target: "desk", Strategy: domain.StrategyDelete, External: true}
	for _, c := range []struct{ local, external []datamap.Step }{
		{nil, nil},
		{[]datamap.Step{local}, nil},
		{nil, []datamap.Step{external}},
		{[]datamap.Step{local, local}, []datamap.Step{external, external}},
	} {
		var plan datamap.Plan
		plan.Steps = append(append(plan.Steps, c.local...), c.external...)
		if len(plan.Local()) != len(c.local) {
			t.Errorf("got %v, want %v", plan.Local(), c.local)
		}
		for _, step := range plan.Local() {
			if step.External {
				t.Errorf("%v is among the local steps", step)
			}
		}
	}
}
