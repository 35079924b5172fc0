package domain

// The sources of the records that an export has of the ledgers.
const (
	ConsentLedgerSource     = "habeas_consent_records"
	RestrictionLedgerSource = "habeas_restriction_records"
)

// LedgerSeq is the key of the ledgers' lines: the number under which the store took a line in. Numbers rise in the
// order of intake; some may be missing.
const LedgerSeq = "seq"

// LedgerTables describes the two ledgers in the form of a data map's tables, as an export shows them: first the
// consents, then the restrictions, both by intake. The columns are named as the fields of ConsentRecord and
// RestrictionRecord. The tables are no part of any DataMap, and each call returns new ones.
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
