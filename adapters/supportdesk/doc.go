// Package supportdesk connects a support desk that speaks Intercom's REST API: it exports what the desk holds about a
// contact and deletes the contact.
//
//	desk, err := supportdesk.New(token, supportdesk.Options{})
//
// A subject whose data is at the desk has a ref of the kind Name whose value is the desk's own id of the contact, not
// the application's (which the desk calls external_id).
//
// What the desk answers decides whether a call is made again:
//
//	2xx                        success, if the body is the JSON that was asked for; else tried again
//	404 for the contact        nothing is held: an empty export, an erasure with alreadyAbsent
//	408, 425, 429, 5xx         tried again, not before Retry-After or, for 429, X-RateLimit-Reset
//	any other 4xx              domain.ResolverError: a person has to look. 410 is one of them: the contact was merged
//	                           into another, and the data lives on under the other's id
//	3xx                        tried again and never followed: a redirected DELETE would arrive as a GET and look like
//	                           a success. It is no refusal by the desk: a proxy or a maintenance page answers so
//	no answer, or half of one  tried again
//
// What is tried again is a domain.RetryLater. Errors say the verb and the status and hold no identifier, no token, no
// URL and no word of the vendor's, which may quote an email address; nor do the errors that they wrap.
package supportdesk
