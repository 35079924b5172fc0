package datamap

import (
	"github.com/habeas-data/habeas/domain"
)

// The values of domain.ExportRecord.Source for the records of the consent ledger and the restriction ledger.
const (
	ConsentLedgerSource     = "habeas_consent_records"
	RestrictionLedgerSource = "habeas_restriction_records"
)

// LedgerSeq is the name of the primary key column of the consent ledger and the restriction ledger. Its value is the
// number under which the store accepted a line. A later line has a greater number. The numbers may have gaps.
const LedgerSeq = "seq"

// LedgerTables returns the consent ledger and the restriction ledger, in this order, as an export describes them: as
// tables of a data map. The columns have the names of the fields of domain.ConsentRecord and domain.RestrictionRecord
// in JSON. The tables are not part of any DataMap. Each call returns new tables.
func LedgerTables() []Table {
	proof := Annotation{
		Category: domain.CategoryBehavioral, Strategy: domain.StrategyRetain, Basis: domain.BasisLegalObligation,
		Reason: "Art. 7(1) GDPR",
	}
	accountability := proof
	accountability.Reason = "Art. 5(2) GDPR"
	freeText := Annotation{
		Category: domain.CategoryCommunication, Strategy: domain.StrategyAnonymize,
		Basis: domain.BasisLegalObligation,
	}
	return []Table{
		{Name: ConsentLedgerSource, PrimaryKey: []string{LedgerSeq}, Columns: []Column{
			{Name: LedgerSeq, Type: TypeBigInt},
			{Name: "purpose", Type: TypeText, Personal: &proof},
			{Name: "policy_version", Type: TypeText, Personal: &proof},
			{Name: "granted", Type: TypeBoolean, Personal: &proof},
			{Name: "recorded_at", Type: TypeTime, Personal: &proof},
			{Name: "source", Type: TypeText, Personal: &proof},
		}},
		{Name: RestrictionLedgerSource, PrimaryKey: []string{LedgerSeq}, Columns: []Column{
			{Name: LedgerSeq, Type: TypeBigInt},
			{Name: "purpose", Type: TypeText, Personal: &accountability},
			{Name: "restricted", Type: TypeBoolean, Personal: &accountability},
			{Name: "reason", Type: TypeText, Personal: &freeText},
			{Name: "recorded_at", Type: TypeTime, Personal: &accountability},
			{Name: "source", Type: TypeText, Personal: &accountability},
		}},
	}
}
