package porttest

import (
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// columnsWithRules returns columns of the table "people" that have special rules. An erasure overwrites them with NULL,
// with the empty text or with a constant that has placeholders. An export leaves some of them out.
func columnsWithRules() []datamap.Column {
	cell := func(name string, strategy domain.Strategy, surrogate string) datamap.Column {
		return datamap.Column{Name: name, Type: datamap.TypeText, Surrogate: surrogate, Personal: &datamap.Annotation{
			Category: domain.CategoryTechnical, Strategy: strategy,
		}}
	}
	badge := cell("badge", domain.StrategyAnonymize, "b-{}")
	badge.Length = 12 // shorter than the digits of the placeholders
	hash := cell("password_hash", domain.StrategyErase, "")
	hash.Personal.Export = datamap.ExportNo
	return []datamap.Column{
		cell("mobile", domain.StrategyNull, ""),
		cell("motto", domain.StrategyAnonymize, datamap.EmptySurrogate),
		cell("login", domain.StrategyErase, "{}@erased.invalid"),
		badge, hash,
	}
}

// ruleValues returns the customer's values of columnsWithRules.
func (c customer) ruleValues() Row {
	return Row{
		"mobile": c.says("mobile"), "motto": c.says("motto"), "login": c.says("login"), "badge": c.says("badge")[:7],
		"password_hash": c.says("hash"),
	}
}
