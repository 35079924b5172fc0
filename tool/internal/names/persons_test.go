package names_test

import (
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

func TestNamesOfPeopleByTheirPart(t *testing.T) {
	for _, column := range []string{
		"observer_name", "reporter_name", "witness_names", "signed_by_name", "takenByName", "emergency_contact_name",
		"contact_person", "responsible_person", "inspector_initials", "recipient_signature", "consignee_address",
		"employee_no", "student_number bigint",
		"membership_number", "contact_info", "emergency_contact", "next_of_kin", "plate_number",
		"pickup_address", "address_line_1", "geo_long number", "contact_number", "ship_to_name", "webpush_endpoint",
		"x_forwarded_for", "vehicle_plate", "poster_name", "assigned_to_name",
	} {
		if _, _, ok := guess("visits." + column); !ok {
			t.Errorf("%s does not look personal", column)
		}
	}
	for _, column := range []string{
		"provider_name", "product_name", "host_name", "hostname", "file_name", "column_name", "event_name", "queue_name",
		"sorted_by_name", "service_person_count integer", "order_number", "server_address", "observer_name boolean",
		"partner_name", "parent_name", "sales_number", "order_by_name",
	} {
		if _, reason, ok := guess("things." + column); ok {
			t.Errorf("%s: %s", column, reason)
		}
	}
}

func TestThePersonWhoDidSomething(t *testing.T) {
	for column, want := range map[string]bool{
		"signed_by": true, "takenBy": true, "created_by": true, "order_by": false, "sorted_by": false, "by": false,
		"nearby": false, "signed_by_id": false,
	} {
		if names.IsDoneBy(column) != want {
			t.Errorf("%s means the person who did something: %t", column, !want)
		}
	}
}

// A value that looks personal tells in a table of activities that the row belongs to one person, but the job of another
// person does not.
func TestTheJobOrTheWorkOfAPerson(t *testing.T) {
	for _, column := range []string{
		"agency_rep", "case_manager", "salesRep", "account_manager", "caseworker", "social_worker", "representative",
		"quote_by", "photo_by", "case_managers", "caseworker_name", "sales_rep_names",
	} {
		if match, ok := names.Find("handovers", column, datamap.TypeText); !ok || !match.Part {
			t.Errorf("%s does not look like the name of a person", column)
		}
		if _, ok := names.Find("visits", column, datamap.TypeText); ok {
			t.Errorf("%s looks personal in a visit", column)
		}
		if _, ok := names.Find("handovers", column, datamap.TypeInteger); ok {
			t.Errorf("%s looks personal, although it is a number", column)
		}
	}
	for _, column := range []string{
		"package_manager", "file_manager", "window_manager", "worker", "reps", "order_by", "sort_by", "group_by",
		"interval_by",
	} {
		if _, ok := names.Find("handovers", column, datamap.TypeText); ok {
			t.Errorf("%s looks personal", column)
		}
	}
}

func TestTheMakerOfAWork(t *testing.T) {
	for column, want := range map[string]bool{
		"comment_by": true, "signed_by": true, "order_by": false, "blocked_by": false, "by": false, "comment": false,
	} {
		if names.MeansMaker(column) != want {
			t.Errorf("%s means the maker of a work: %t", column, !want)
		}
	}
}
