package scaffold

import (
	"slices"

	"github.com/habeas-data/habeas/tool/internal/names"
)

// askForPayments asks whether rows that an erasure deletes must be kept by law, because they seem to record payments.
func (t *table) askForPayments() {
	if t.rowsDeleted && t.recordsPayments() {
		t.ask("", "Its rows seem to record payments. Must they be kept by law?", "no: delete the rows",
			"yes: keep them, and set retain and since")
	}
}

// recordsPayments reports whether a column shows that each row records a payment, such as payment_provider. A price or
// an amount counts only beside a currency, or if the table has subscriptions or purchases. The sessions of a web site
// record none, although they may hold the filter of a list of transactions.
func (t *table) recordsPayments() bool {
	if names.Same(t.base, "session") && t.isLogin() {
		return false
	}
	parts := names.Words(t.base)
	isPaid := slices.ContainsFunc(parts, func(word string) bool {
		return slices.Contains([]string{"subscription", "purchase", "order", "billing"}, names.Singular(word))
	})
	return t.hasWord(ofPayments) || t.hasWord([]string{"price", "amount"}) && (isPaid || t.hasWord([]string{"currency"}))
}

var ofPayments = []string{"payment", "transaction", "receipt", "charge", "refund", "invoice"}
