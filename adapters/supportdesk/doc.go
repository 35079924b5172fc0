// Package supportdesk connects a support desk that speaks Intercom's REST API: it exports what the desk holds about a
// contact and deletes the contact.
//
//	desk, err := supportdesk.New(token, supportdesk.Options{})
//
// A subject whose data is at the desk has a ref of the kind Name whose value is the desk's own id of the contact, not
// the application's (which the desk calls external_id).
//
// The response decides whether a call is made again:
//
//	2xx                        success, if the body is the JSON that was asked for, with the id that was asked for; only
//	                           204 for a deletion can be empty; else tried again
//	404 of the desk            the contact is not there: an empty export. A deletion is followed by one request for the
//	                           contact: alreadyAbsent if that is a 404 of the desk too, tried again if it returns the
//	                           contact, a domain.ResolverError if it returns another contact
//	404 of anything else       tried again: a proxy's page, an empty body and other JSON say nothing about the contact
//	408, 425, 429, 5xx         tried again, not before Retry-After or, for 429, X-RateLimit-Reset
//	any other 4xx              domain.ResolverError: a person has to look. 410 is one of them: the contact was merged
//	                           into another, and the data lives on under the other's id
//	3xx                        tried again and never followed: a redirected DELETE would arrive as a GET and look like
//	                           a success, and the token would reach another host. It is no refusal by the desk: a proxy
//	                           or a maintenance page answers so
//	no answer, or half of one  tried again
//
// A 404 is the desk's if it is JSON of the type error.list whose errors all have the code not_found. Ids are compared
// character by character. JSON with the same name twice in an object that is read is not understood.
//
// The vendor's description is contradictory for a contact that was merged: some versions have 404, others 410, and none
// speaks of deletions. With 404 for the deletion and for the contact, a merged contact cannot be told from one that was
// deleted. CoveredSurface says so.
//
// What is tried again is a domain.RetryLater. Errors say the verb and the status and hold no identifier, no token, no
// URL and no word of the vendor's, which may quote an email address; nor do the errors that they wrap.
//
// The token and the data travel by https. Plain http is for a desk on the same machine, as in a test.
package supportdesk
