// Package request has the rules of the requests of data subjects: which states a request has, which events change them,
// and when its answer is due. It is pure. Each function computes a new Request from an old one and an Event, and the
// service that stores requests lives elsewhere.
//
// A request is a fact of the procedure. It holds no free text of the subject, and nothing personal but ids.
package request
