package domain

// The sources of the records of the ledgers in an export.
const (
	ConsentLedgerSource     = "habeas_consent_records"
	RestrictionLedgerSource = "habeas_restriction_records"
)

// LedgerSeq is the name of the primary key of the ledgers. Its value is the number under which the store accepted a
// line. Numbers grow in the order of intake. Numbers may be missing.
const LedgerSeq = "seq"

// LedgerTables describes the two ledgers as tables of a data map, as an export shows them. The consents come first,
// then the restrictions, both by intake. The columns have the names of the fields of ConsentRecord and
// RestrictionRecord in JSON. The tables are not part of any DataMap. Each call returns new tables.
func LedgerTables() []Table {
	proof := Annotation{
		Category: CategoryBehavioral, Strategy: StrategyRetain, Basis: BasisLegalObligation, Reason: "Art. 7(1) GDPR",
	}
	accountability := proof
	accountability.Reason = "Art. 5(2) GDPR"
	freeText := Annotation{Category: CategoryCommunication, Strategy: StrategyAnonymize, Basis: BasisLegalObligation}
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
