// Package supportdesk implements a ports.Resolver for a support desk with the REST API of Intercom. The resolver
// exports the data of a contact, and deletes the contact.
//
//	desk, err := supportdesk.New(token, supportdesk.Options{})
//	engines, err := stack.New(stack.Config{Sessions: store, DataMap: dataMap, Resolvers: []ports.Resolver{desk}})
//
// If a subject has data at the desk, the application must give the subject a ref of the kind Name. The value of the ref
// is the id that the desk has given to the contact. It is not the id that the application has given to the contact,
// which the desk calls external_id. CoveredSurface lists the exported fields. Package desktest is a fake desk for
// tests.
//
// # Responses
//
// The response of the desk determines the result of a call. In this table, "Retry" means that the call returns a
// *domain.RetryLaterError. A domain.ResolverError means that an operator must act:
//
//	2xx                    Success if the body is the expected JSON with the expected id. The body of a 204 for a
//	                       deletion may be empty. Any other body: Retry.
//	404 from the desk      The contact is absent, so the export is empty. After a 404 for a deletion, the resolver
//	                       requests the contact once. If the desk responds with 404 again, the resolver returns
//	                       alreadyAbsent. If the desk returns the contact: Retry. If the desk returns another contact:
//	                       domain.ResolverError.
//	404 not from the desk  Retry. The page of a proxy, an empty body or other JSON does not prove that the contact is
//	                       absent.
//	408, 425, 429, 5xx     Retry after the delay in the header Retry-After. For a 429 without Retry-After, the header
//	                       X-RateLimit-Reset has the time of the retry.
//	other 4xx              domain.ResolverError. For example, 410 means that the contact was merged into another contact,
//	                       and that the data remains under the id of the other contact.
//	3xx                    Retry, because a proxy or a maintenance page may have sent the redirect. The resolver never
//	                       follows a redirect. Otherwise it would send the token to another host, and a redirected
//	                       DELETE would become a GET that looks like a success.
//	no complete response   Retry.
//
// A 404 is from the desk if its body is JSON of the type error.list and every error has the code not_found. Ids must be
// equal byte by byte. A JSON object that the resolver reads must not have the same name twice.
//
// If a contact was merged into another contact, the vendor documents the status 404 in some versions of the API and 410
// in others. The vendor does not document the response to a deletion of such a contact. If the desk responds with 404
// to the deletion and to the request for the contact, the resolver cannot distinguish a merged contact from a deleted
// contact. The notes of CoveredSurface state this.
//
// # Security
//
// Errors contain the HTTP method and the status. They contain no identifier, no token and no URL. They contain no text
// of a response, because the text may quote an email address. The same applies to the errors that they wrap.
//
// The resolver sends the token and the data by https. Plain http is only allowed for a desk on the same machine, for
// example in a test.
package supportdesk
