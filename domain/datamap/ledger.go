package datamap

// The values of domain.ExportRecord.Source for the records of the consent ledger and the restriction ledger.
const (
	ConsentLedgerSource     = "habeas_consent_records"
	RestrictionLedgerSource = "habeas_restriction_records"
)
