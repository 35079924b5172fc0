// Package supportdesk is a ports.Resolver for a support desk with the REST API of Intercom. It exports the data of a
// contact, and deletes the contact.
//
//	desk, err := supportdesk.New(token, supportdesk.Options{})
//	engines, err := stack.New(stack.Config{Sessions: store, DataMap: dataMap, Resolvers: []ports.Resolver{desk}})
//
// A subject with data at the desk has a ref of the kind Name. The value of the ref is the desk's id of the contact. It
// is not the application's id, which the desk calls external_id. CoveredSurface lists the exported fields. Package
// desktest is a fake desk for tests.
//
// # Responses
//
// The response determines the result of a call. "Retry" means that the error is a *domain.RetryLater:
//
//	2xx                    Success, if the body is the expected JSON with the expected id. Only a 204 for a deletion may
//	                       be empty. Any other body: retry.
//	404 from the desk      The contact is absent: the export is empty. After a 404 for a deletion, the resolver requests
//	                       the contact once. If that request also gets a 404 from the desk, it returns alreadyAbsent. If
//	                       it gets the contact: retry. If it gets another contact: domain.ResolverError.
//	404 from elsewhere     Retry. The page of a proxy, an empty body or other JSON does not prove that the contact is
//	                       absent.
//	408, 425, 429, 5xx     Retry, not before Retry-After or, for 429 without Retry-After, X-RateLimit-Reset.
//	other 4xx              domain.ResolverError: an operator must act. For example, 410 means that the contact was merged
//	                       into another contact, and that the data remains under the id of the other contact.
//	3xx                    Retry. The resolver never follows a redirect: it would send the token to another host, and a
//	                       redirected DELETE would become a GET that looks like a success. A redirect is not a refusal,
//	                       because it may come from a proxy or a maintenance page.
//	no complete response   Retry.
//
// A 404 is from the desk if its body is JSON of the type error.list and every error has the code not_found. Ids must be
// equal byte by byte. A JSON object that the resolver reads must not have the same name twice.
//
// For a merged contact, the vendor documents 404 in some versions of the API and 410 in others, and does not document
// deletions. If the desk responds with 404 to the deletion and to the request for the contact, a merged contact cannot
// be distinguished from a deleted contact. The notes of CoveredSurface state this.
//
// # Security
//
// Errors contain the method and the status. Errors and the errors that they wrap contain no identifier, no token, no
// URL and no text of the vendor, because such a text may quote an email address.
//
// The token and the data are sent by https. Plain http is only allowed for a desk on the same machine, for example in a
// test.
package supportdesk
