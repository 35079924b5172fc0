package supportdesk_test

import (
	"testing"

	"github.com/habeas-data/habeas/adapters/supportdesk/desktest"
	"github.com/habeas-data/habeas/ports/porttest"
)

func TestConformance(t *testing.T) {
	porttest.TestResolver(t, porttest.ResolverHarness{Open: openDesk})
}

func openDesk(t testing.TB) porttest.ResolverSystem {
	t.Helper()
	w := newWorld(t)
	w.desk.Add(desktest.Contact{ID: "bystander-id", Email: "yan@example.org"}, conversation("600"))

	fault := func(name string, fault desktest.Fault) porttest.ResolverFault {
		return porttest.ResolverFault{Name: name, Inject: func() { w.desk.Always(fault) }}
	}
	onlyErase := func(f porttest.ResolverFault) porttest.ResolverFault { f.SparesExport = true; return f }
	onlyExport := func(f porttest.ResolverFault) porttest.ResolverFault { f.SparesErase = true; return f }
	return porttest.ResolverSystem{
		Resolver:  w.Resolver,
		Populated: ref(zoeID),
		Bystander: ref("bystander-id"),
		Absent:    ref("absent-id"),
		Excluded:  []string{"excluded-message", "excluded-attribute", "excluded-mood"},
		Secrets:   []string{token, desktest.VendorText, "127.0.0.1", "zoe@example.org"},
		Transient: []porttest.ResolverFault{
			fault("408", desktest.Status(408)), fault("425", desktest.Status(425)),
			fault("429", desktest.Status(429).With("Retry-After", "30")),
			fault("500", desktest.Status(500)), fault("503", desktest.Status(503)),
			fault("redirect", desktest.Redirect(302, "/elsewhere/"+desktest.VendorText)),
			fault("redirect to nowhere", desktest.Redirect(302, "://"+desktest.VendorText+"\x7f")),
			fault("connection cut", desktest.HangUp), fault("response lost", desktest.LoseResponse),
			fault("body cut", desktest.CutBody), fault("JSON truncated", desktest.TruncateJSON),
			fault("wrong content type", desktest.WrongContentType), fault("HTML", desktest.HTML()),
			fault("404 of a proxy", desktest.NotFoundPage()),
			fault("404 without a body", desktest.Respond(404, "application/json", "")),
			fault("another contact", desktest.JSON(`{"type":"contact","id":"`+desktest.VendorText+`","deleted":true}`)),
			onlyErase(fault("not deleted", desktest.NotDeleted())),
			onlyExport(fault("cursor repeats", desktest.RepeatCursor)),
		},
		Permanent: []porttest.ResolverFault{
			fault("400", desktest.Status(400)), fault("401", desktest.Status(401)), fault("403", desktest.Status(403)),
			fault("410", desktest.Status(410)), fault("422", desktest.Status(422)),
		},
		Heal: func() { w.desk.Always(desktest.OK) },
		Hang: func() { w.desk.Always(desktest.NewLatch().Hold) },
	}
}

func TestTheNameOfTheResolverIsTheKindOfItsRefs(t *testing.T) {
	if name := newWorld(t).Name(); name != "supportdesk" {
		t.Errorf("Name = %q", name)
	}
}
