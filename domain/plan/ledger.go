package plan

import (
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// LedgerSeq is the name of the primary key column of the consent ledger and the restriction ledger. Its value is the
// number under which the store accepted a line. A later line has a greater number. The numbers may have gaps.
const LedgerSeq = "seq"

// LedgerTables returns the consent ledger and the restriction ledger, in this order, as an export describes them: as
// tables of a data map. The columns have the names of the fields of domain.ConsentRecord and domain.RestrictionRecord
// in JSON. The tables are not part of any DataMap. Each call returns new tables.
func LedgerTables() []datamap.Table {
	proof := datamap.Annotation{
		Category: domain.CategoryBehavioral, Strategy: domain.StrategyRetain, Basis: domain.BasisLegalObligation,
		Reason: "Art. 7(1) GDPR",
	}
	accountability := proof
	accountability.Reason = "Art. 5(2) GDPR"
	freeText := datamap.Annotation{
		Category: domain.CategoryCommunication, Strategy: domain.StrategyAnonymize,
		Basis: domain.BasisLegalObligation,
	}
	return []datamap.Table{
		{Name: datamap.ConsentLedgerSource, PrimaryKey: []string{LedgerSeq}, Columns: []datamap.Column{
			{Name: LedgerSeq, Type: datamap.TypeBigInt},
			{Name: "purpose", Type: datamap.TypeText, Personal: &proof},
			{Name: "policy_version", Type: datamap.TypeText, Personal: &proof},
			{Name: "granted", Type: datamap.TypeBoolean, Personal: &proof},
			{Name: "recorded_at", Type: datamap.TypeTime, Personal: &proof},
			{Name: "source", Type: datamap.TypeText, Personal: &proof},
		}},
		{Name: datamap.RestrictionLedgerSource, PrimaryKey: []string{LedgerSeq}, Columns: []datamap.Column{
			{Name: LedgerSeq, Type: datamap.TypeBigInt},
			{Name: "purpose", Type: datamap.TypeText, Personal: &accountability},
			{Name: "restricted", Type: datamap.TypeBoolean, Personal: &accountability},
			{Name: "reason", Type: datamap.TypeText, Personal: &freeText},
			{Name: "recorded_at", Type: datamap.TypeTime, Personal: &accountability},
			{Name: "source", Type: datamap.TypeText, Personal: &accountability},
		}},
	}
}
