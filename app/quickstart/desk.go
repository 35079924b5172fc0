package main

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/habeas-data/habeas/adapters/supportdesk"
	"github.com/habeas-data/habeas/adapters/supportdesk/desktest"
	"github.com/habeas-data/habeas/domain"
)

// desk is the external system of the demo. It is a support desk whose URL is in the settings. Without such a URL, it is
// a stand-in that runs in this process.
type desk struct {
	*supportdesk.Resolver
	standIn *desktest.Server // nil if the settings have the URL of a support desk
}

// openDesk connects to the support desk whose URL is in the settings. Without such a URL, it starts a stand-in that
// knows the users of the demo.
func openDesk(ctx context.Context, c config) (desk, error) {
	var d desk
	url, token := c.supportdeskURL, c.supportdeskToken
	if url == "" {
		token = "demo"
		var err error
		if d.standIn, err = desktest.Start(ctx, token); err != nil {
			return desk{}, err
		}
		for _, name := range people {
			welcome(d.standIn, name)
		}
		url = d.standIn.URL
	}
	var err error
	d.Resolver, err = supportdesk.New(token, supportdesk.Options{BaseURL: url})
	return d, err
}

func (d desk) close() error {
	if d.standIn == nil {
		return nil
	}
	return d.standIn.Close()
}

// welcome adds a user with two conversations to the stand-in.
func welcome(standIn *desktest.Server, name string) {
	asked := time.Date(2026, 4, 1, 12, 0, 0, 0, time.UTC)
	number := 100 * (1 + slices.Index(people, name))
	standIn.Add(
		desktest.Contact{ID: contactID(name), Email: strings.ToLower(name) + "@example.org", Name: name + " Example"},
		desktest.Conversation{
			ID: strconv.Itoa(number + 1), State: "closed", CreatedAt: asked, UpdatedAt: asked.Add(time.Hour),
		},
		desktest.Conversation{
			ID: strconv.Itoa(number + 2), State: "open", CreatedAt: asked.AddDate(0, 1, 0), UpdatedAt: asked.AddDate(0, 1, 1),
		},
	)
}

// contactID returns the id of a user at the support desk. A real application would store this id in its table of users.
func contactID(name string) string { return "c-" + strings.ToLower(name) }

func deskRef(name string) domain.SubjectRef {
	return domain.SubjectRef{Kind: supportdesk.Name, Value: contactID(name)}
}
