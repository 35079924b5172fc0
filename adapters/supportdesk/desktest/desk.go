// Package desktest is a support desk for tests and demonstrations: an HTTP server that speaks the part of Intercom's
// REST API that package supportdesk uses. It shares no code with the resolver, so that neither can hide a mistake of
// the other, and it can misbehave in all the ways that a real desk does: see Fault.
//
//	desk := desktest.New("token")
//	desk.Add(desktest.Contact{ID: "c1", Email: "zoe@example.org"}, desktest.Conversation{ID: "515", State: "open"})
//	server := httptest.NewServer(desk)
//
// Programs that are no tests use Start, which listens by itself.
package desktest

import (
	"net/http"
	"slices"
	"sync"
	"time"
)

// Contact is a person that the desk knows.
type Contact struct {
	ID               string
	Email            string // null on the wire when empty, as are Name and Phone
	Name             string
	Phone            string
	CustomAttributes map[string]any
	Fields           map[string]any // fields of the contact's JSON that are added, or replace what it would have
}

// Conversation is one that a contact takes part in.
type Conversation struct {
	ID        string
	CreatedAt time.Time
	UpdatedAt time.Time
	State     string
	Body      string         // the message that it began with
	Fields    map[string]any // fields of the conversation's JSON that are added, or replace what it would have
}

// Request is one that the desk received.
type Request struct {
	Method string
	Path   string // escaped, as it was sent
	Query  string
	Header http.Header
	Body   string
}

// Desk is the fake. It is an http.Handler, and safe for concurrent use.
type Desk struct {
	token string

	mu            sync.Mutex
	contacts      map[string]Contact
	merged        map[string]string                // from a contact's former id to the id under which it lives on
	conversations map[string][]contactConversation // by contact
	pageSizes     []int
	script        []Fault
	always        Fault
	requests      []Request
}

type contactConversation struct {
	Conversation
	contactID string
}

// New returns a desk that knows nobody and lets in who has the token.
func New(token string) *Desk {
	return &Desk{
		token:         token,
		contacts:      map[string]Contact{},
		merged:        map[string]string{},
		conversations: map[string][]contactConversation{},
	}
}

// Add makes the contact known, or replaces it, and adds the conversations to those it takes part in. A search finds
// them in the order in which they were added.
func (d *Desk) Add(contact Contact, conversations ...Conversation) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.contacts[contact.ID] = contact
	for _, conversation := range conversations {
		d.conversations[contact.ID] = append(d.conversations[contact.ID], contactConversation{conversation, contact.ID})
	}
}

// Merge makes the contact live on under another id, together with its conversations. What is asked about it under its
// former id is answered 410.
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

// delete forgets the contact and its conversations, and reports whether it was known.
func (d *Desk) delete(contactID string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, known := d.contacts[contactID]
	delete(d.contacts, contactID)
	delete(d.conversations, contactID)
	return known
}

// SetPageSizes makes the pages of a search no larger than the sizes, one after the other and then from the start
// again. A size of 0 is an empty page that has a next one. Without sizes, pages are as large as was asked for.
func (d *Desk) SetPageSizes(sizes ...int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pageSizes = slices.Clone(sizes)
}

// Script makes the next requests meet the faults, one each, in the order in which they arrive. OK is no fault.
func (d *Desk) Script(faults ...Fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.script = append(d.script, faults...)
}

// Always makes every request that no script is left for meet the fault. OK ends that.
func (d *Desk) Always(fault Fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.always = fault
}

// Requests returns what the desk received so far, in the order of arrival.
func (d *Desk) Requests() []Request {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.requests)
}

// receive records a request and returns the fault that it meets.
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
