// Package desktest is a fake support desk for tests and demonstrations. It is an HTTP server that implements the part
// of Intercom's REST API that package supportdesk uses.
//
//	desk := desktest.New("token")
//	desk.Add(desktest.Contact{ID: "c1", Email: "zoe@example.org"}, desktest.Conversation{ID: "515", State: "open"})
//	server := httptest.NewServer(desk)
//
// Use Desk.Script and Desk.Always to make requests fail as they can fail with a real desk; see Fault. A program that is
// not a test can use Start, which also starts a server.
//
// The package shares no code with package supportdesk. If both had the same mistake, tests could not find the mistake.
package desktest

import (
	"net/http"
	"slices"
	"sync"
	"time"
)

// Contact is a contact of the desk.
type Contact struct {
	ID               string
	Email            string // Email, Name and Phone are null in JSON if they are empty
	Name             string
	Phone            string
	CustomAttributes map[string]any
	Fields           map[string]any // fields to add to the contact's JSON, or to replace in it
}

// Conversation is a conversation of a contact.
type Conversation struct {
	ID        string
	CreatedAt time.Time
	UpdatedAt time.Time
	State     string
	Body      string         // the first message
	Fields    map[string]any // fields to add to the conversation's JSON, or to replace in it
}

// Request is a request that the desk received.
type Request struct {
	Method string
	Path   string // percent-encoded, as the client sent it
	Query  string
	Header http.Header
	Body   string
}

// Desk is a fake support desk. It is an http.Handler, and safe for concurrent use.
type Desk struct {
	token string

	mu            sync.Mutex
	contacts      map[string]Contact
	merged        map[string]string                // maps the former id of a merged contact to the id of the other contact
	conversations map[string][]contactConversation // by id of the contact
	pageSizes     []int
	script        []Fault
	always        Fault
	requests      []Request
}

type contactConversation struct {
	Conversation
	contactID string
}

// New returns a desk without contacts. The desk accepts only requests with the given access token.
func New(token string) *Desk {
	return &Desk{
		token:         token,
		contacts:      map[string]Contact{},
		merged:        map[string]string{},
		conversations: map[string][]contactConversation{},
	}
}

// Add adds a contact with its conversations. If the desk already has a contact with the same id, Add replaces the
// contact, but keeps its earlier conversations. A search returns conversations in the order in which they were added.
func (d *Desk) Add(contact Contact, conversations ...Conversation) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.contacts[contact.ID] = contact
	for _, conversation := range conversations {
		d.conversations[contact.ID] = append(d.conversations[contact.ID], contactConversation{conversation, contact.ID})
	}
}

// Merge moves all conversations of the first contact to the second contact, and removes the first contact. The
// arguments are the ids of the contacts. A later request for the removed contact gets the status 410.
func (d *Desk) Merge(from, into string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.merged[from] = into
	delete(d.contacts, from)
	for _, conversation := range d.conversations[from] {
		conversation.contactID = into
		d.conversations[into] = append(d.conversations[into], conversation)
	}
	delete(d.conversations, from)
}

// Knows reports whether the desk has the contact.
func (d *Desk) Knows(contactID string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, known := d.contacts[contactID]
	return known
}

// delete removes the contact and its conversations. It reports whether the desk had the contact.
func (d *Desk) delete(contactID string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, known := d.contacts[contactID]
	delete(d.contacts, contactID)
	delete(d.conversations, contactID)
	return known
}

// SetPageSizes sets the maximum number of conversations on each page of a search. The first size is for the first page,
// and so on. After the last size, the sizes start again from the first. A size of 0 means an empty page that is
// followed by another page. Without sizes, each page has the requested size.
func (d *Desk) SetPageSizes(sizes ...int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pageSizes = slices.Clone(sizes)
}

// Script adds faults for the next requests, one for each request in the order of arrival. The fault OK means that the
// request does not fail.
func (d *Desk) Script(faults ...Fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.script = append(d.script, faults...)
}

// Always sets a fault for all requests without a fault of Script. OK or nil removes the fault.
func (d *Desk) Always(fault Fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.always = fault
}

// Requests returns the requests that the desk has received, in the order of arrival.
func (d *Desk) Requests() []Request {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.requests)
}

// receive records a request and returns the fault for this request, or nil.
func (d *Desk) receive(request Request) Fault {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.requests = append(d.requests, request)
	if len(d.script) > 0 {
		next := d.script[0]
		d.script = d.script[1:]
		return next
	}
	return d.always
}
