// Package domain is the vocabulary of habeas and the rules that need nothing but values: who a data subject is,
// what consent and restriction mean, which columns of an application hold personal data, what an export and an
// erasure consist of, and what the audit trail records.
//
// It imports no third-party package and nothing that reaches outside the process. Services that act on these types live
// in the sub-packages (consent, restriction, export, erasure, rectification, saga). Package ports declares the
// interfaces that they need from the outside. The json tags on result types are public API: the HTTP adapters send
// these types as they are.
package domain
