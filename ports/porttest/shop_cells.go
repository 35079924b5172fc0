package porttest

import "github.com/habeas-data/habeas/domain"

// wordedColumns are the columns of people by which the words for a cell are tried: NULL, the empty text, placeholders,
// and what no export shows.
func wordedColumns() []domain.Column {
	cell := func(name string, strategy domain.Strategy, surrogate string) domain.Column {
		return domain.Column{Name: name, Type: domain.TypeText, Surrogate: surrogate, Personal: &domain.Annotation{
			Category: domain.CategoryTechnical, Strategy: strategy,
		}}
	}
	badge := cell("badge", domain.StrategyAnonymize, "b-{}")
	badge.Length = 12 // for which the digits have to be cut
	hash := cell("password_hash", domain.StrategyErase, "")
	hash.Personal.Export = domain.ExportNo
	return []domain.Column{
		cell("mobile", domain.StrategyNull, ""),
		cell("motto", domain.StrategyAnonymize, domain.EmptySurrogate),
		cell("login", domain.StrategyErase, "{}@erased.invalid"),
		badge, hash,
	}
}

// worded are values of those columns.
func (c customer) worded() Row {
	return Row{
		"mobile": c.says("mobile"), "motto": c.says("motto"), "login": c.says("login"), "badge": c.says("badge")[:7],
		"password_hash": c.says("hash"),
	}
}
