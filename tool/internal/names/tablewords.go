package names

import (
	"slices"
	"strings"
)

// Kind is a kind of table. The function Is recognises the kind by the name of the table.
type Kind string

// The kinds of tables.
const (
	People     Kind = "people"
	Addresses  Kind = "addresses"
	Messages   Kind = "messages"   // texts that people write
	Sessions   Kind = "sessions"   // sessions, devices and tokens
	Activities Kind = "activities" // logs of actions of people
	Duties     Kind = "duties"     // records that must be kept by law; see Duty
	Links      Kind = "links"      // memberships, likes and other relations between two things
	Reference  Kind = "reference"  // countries, currencies and other data that is not about people
	Machinery  Kind = "machinery"  // migrations, queues and locks of the application
	Things     Kind = "things"     // teams, products, webhooks and other records that outlive the person who made them
	Groups     Kind = "groups"     // teams, companies and other things to which several people belong
	Records    Kind = "records"    // webhooks, products, invitations and other things that outlive the person in any case
	Answers    Kind = "answers"    // texts that people write about rows of others
	Settings   Kind = "settings"   // preferences and other rows that an application keeps for each person
	Profiles   Kind = "profiles"   // what one person tells about herself, and her accounts elsewhere
	Searches   Kind = "searches"   // traces of a person that nobody else needs
	Trails     Kind = "trails"     // logs that show who did what
	Notices    Kind = "notices"    // what an application tells a person
	Media      Kind = "media"      // pictures and other files
	Uploads    Kind = "uploads"    // files that people upload
	Histories  Kind = "histories"  // earlier values of rows
	Mailings   Kind = "mailings"   // messages to many people
	Mails      Kind = "mails"      // messages to one or many people
	// Sanctions are what moderators did about a person, and Accusations what others reported about her.
	Sanctions   Kind = "sanctions"
	Accusations Kind = "accusations"
	// Blocks are what either a moderator or another person did to a person, such as mutes.
	Blocks Kind = "blocks"
)

// tableWords are the words for each kind of table. They match the last words of a table's name, in the singular or
// plural.
var tableWords = map[Kind][]pattern{
	People: patterns(`
		user, account, member, customer, person, people, profile, client, patient, employee, contact, subscriber, student,
		teacher, guest, visitor, participant, attendee, applicant, candidate, lead, owner, author, player, buyer, seller,
		driver, passenger, identity, identities, human, citizen, tenant user, staff, worker, donor, respondent, recipient,
		signer, signatory, signatories, invitee, invitation, invite, organizer, pupil, resident, voter, *nutzer, *kunde,
		*kunden, mitglied, mitglieder, person*, *mitarbeiter, *patienten, bewerber, teilnehmer, besucher, utilisateur,
		membre, personne, salarie, abonne, usuario, cliente, miembro, persona, empleado, paciente, pseud,
		pseudonym`),
	Addresses: patterns(`
		address, *adresse, *adressen, anschrift, anschriften, direccion, direcciones, shipping, delivery, deliveries,
		location address`),
	Messages: patterns(`
		message, post, comment, review, note, ticket, issue, chat, mail, email, topic, thread, status, toot, tweet, reply,
		replies, feedback, discussion, conversation, question, answer, letter, letters, draft, report, request, inquiry,
		inquiries, complaint, application, article, memo, entry, nachricht, nachrichten, beitrag, beitraege, kommentar,
		kommentare, anfrage, anfragen, commentaire, mensaje, comentario, publicacion, publicaciones, pull request,
		attachment, bookmark, submission, response, story, stories, poll, revision, entries`),
	Sessions: patterns(`
		session, device, token, cookie, login, credential, passkey, authenticator, authorization, grant,
		key, refresh token, push subscription, *sitzung, *sitzungen, sesion, sesiones, magic link, login link, sign in
		link, signin link, login challenge, auth challenge, authentication challenge, mfa challenge, otp challenge,
		passkey challenge, webauthn challenge, login state, auth state, oauth state, login code, sign in code, otp code,
		email code`),
	Activities: patterns(`
		log, audit, event, activity, activities, visit, pageview, page view, view, click, history, histories, impression,
		search, searches, access, trail, action, notification, *protokoll, *protokolle, *verlauf`),
	Links: patterns(`
		member, membership, follow, follower, following, like, favorite, favourite, star, watch, watcher, vote, upvote,
		downvote, block, mute, subscription, friendship, friend, participant, participation, attendee, attendance, reaction,
		assignee, bookmark, rating, read, seen, pin, mitgliedschaft, mitgliedschaften, teilnahme, teilnahmen, abonnement,
		abonnements, suscripcion, suscripciones, favorito`),
	Groups: groups, Records: records,
	Things: slices.Concat(groups, records, patterns(`
		group, integration, template, folder, board, wiki, calendar, collection, source, provider, endpoint, rule, package,
		release, license, asset, item, inventory, warehouse, building, vehicle, machine, service, contract, deal, offer,
		course, lesson, quiz, event type, schedule, job, queue, config, configuration, system, policy, policies, permission,
		feature, experiment, segment, pipeline, connection, workflow, flow, form, survey, envelope, dataset, dashboard,
		environment, space, page, category, categories, tag, role, instance, gruppe, groupe, grupo`)),
	Answers: patterns(`
		comment, reply, replies, answer, review, feedback, response, reaction, rating, report, post, submission, application,
		kommentar, kommentare, antwort, antworten, commentaire, comentario`),
	Settings: patterns(`
		setting, user config, user configuration, preference, option, prefs, notification level, mention, mute, follow,
		follower, following, membership, member, friendship, bookmark, favorite, favourite, like, reaction, vote, seen, read,
		read state, watch, watcher, pin,
		acknowledgement, reminder, password reset, verification, confirmation, two factor, second factor,
		totp, otp, mfa, recovery code, backup code, security key, consent,
		einstellung, einstellungen, preferencia`),
	Profiles: patterns("profile, pseud, pseudonym, identity, identities, profil, perfil, persona"),
	Searches: patterns(`
		search, searches, search history, view history, watch history, browsing history, visit, view, pageview, page view,
		click, impression, notification, feed, draft, autosave, unread, presence, typing`),
	Sanctions: patterns(`
		strike, ban, suspension, infraction, warning, sanction, penalty, penalties, moderation, moderation action, moderation
		log, moderation event, violation, shadow ban, user note, moderator note, mod note, verwarnung, verwarnungen, sperre,
		sperren, blocked ip, banned ip, blocked ip address, banned ip address, ip block, ip ban, blocked address, blocked
		email, banned email, blocked domain, banned domain, blocked host`),
	Accusations: patterns("report, abuse report, flag, complaint, accusation, meldung, meldungen, signalement"),
	Blocks: patterns(`
		block, mute, kick, silence, timeout, restriction, lockout, blocklist, denylist, blacklist, banned user, blocked user,
		muted user, exclusion`),
	Notices: patterns(`
		notification, notice, alert, benachrichtigung, benachrichtigungen, notificacion, notificaciones`),
	Media: patterns(`
		photo, picture, image, avatar, portrait, selfie, attachment, upload, file, video, recording, media, foto, fotos,
		bild, bilder, datei, dateien`),
	Uploads: patterns("upload, uploaded file, uploaded image, uploaded media"),
	Mailings: patterns(`
		mailing, mass mail, mass email, bulk mail, bulk email, mailshot, mailout, newsletter, announcement, bulletin,
		circular, broadcast, email campaign, mail campaign, mailing campaign, rundbrief, rundbriefe, rundschreiben,
		ankuendigung, ankuendigungen`),
	Mails:     patterns("mail, email, letter, brief, briefe, courriel, correo"),
	Histories: patterns("version, revision, snapshot, change, changeset, archive"),
	Trails: patterns(`
		log, audit, trail, access, action, event, activity, activities, history, histories, *protokoll, *protokolle,
		*verlauf`),
	Reference: patterns(`
		country, countries, currency, currencies, language, locale, timezone, region, state, city, cities, category,
		categories, tag, role, permission, plan, product, setting type, migration, type, tax, unit, color, size, template,
		translation, feature, laender, land, waehrung, waehrungen, kategorie, kategorien, pays, devise, categorie, pais,
		paises, moneda, categoria`),
	Machinery: patterns(`
		migration, schema migration, schema version, gorp lock, lock, job, queue, sequence, version, cache,
		databasechangelog, databasechangeloglock, ar internal metadata, sqlite sequence, goose db version, flyway schema
		history`),
}

// groups and records are the words of Groups and Records, which are words of Things, too.
var (
	groups = patterns(`
		team, company, companies, org, organization, organisation, workspace, project, tenant, community, communities, family,
		families, household, firma, projekt, equipe, entreprise, equipo, empresa`)
	records = patterns(`
		webhook, hook, channel, product, price, plan, invitation, invite, invitation code, invite code, domain, oauth
		application, oauth client, app, site, website, server, emoji, bot, command, plugin, campaign, coupon, discount,
		repository, repositories, store, shop, room, produkt, einladung, produit, producto`)
)

// IsPeople reports whether the name of a table suggests that each row is a person.
func IsPeople(table string) bool { return Is(table, People) }

// Is reports whether the last words of a table's name match the kind. A schema before the name is ignored.
func Is(table string, kind Kind) bool {
	switch kind { //nolint:exhaustive // the other kinds have no further condition
	case Duties:
		_, ok := FindDuty(table)
		return ok
	case People:
		if endsIn(table, clients) || isProfileOfThing(table) {
			return false
		}
	case Things:
		if endsIn(table, ofUsers) {
			return false
		}
	case Addresses:
		if slices.ContainsFunc(partsOf(BaseName(table)), func(word string) bool { return slices.Contains(virtual, word) }) {
			return false
		}
	}
	return endsIn(table, tableWords[kind])
}

// clients are words for programs that are clients.
var clients = patterns("oauth client, oidc client, api client, app client")

// isProfileOfThing reports whether the name of a table means the profiles of things, such as device_profiles.
func isProfileOfThing(table string) bool {
	parts := partsOf(BaseName(table))
	if len(parts) < 2 || Singular(parts[len(parts)-1]) != "profile" {
		return false
	}
	of := strings.Join(parts[:len(parts)-1], " ")
	return parts[len(parts)-2] == "device" || Is(of, Things) || Is(of, Reference)
}

// ofUsers are words for the settings of a user. Other configurations are those of things.
var ofUsers = patterns("user config, user configuration")

// loose are words of Messages that as often name things, such as a report of figures or an application of OAuth.
var loose = patterns(`
	report, application, request, response, submission, email, mail, poll, entry, entries, status, attachment, thread,
	topic, conversation, chat, discussion`)

// saved are words before the name of a thing, as in saved_stories: rows that an application keeps for one person.
var saved = patterns(`
	saved, hidden, liked, starred, favorite, favorited, favourite, watched, followed, blocked, muted, ignored, dismissed,
	bookmarked, pinned, viewed, seen, recent, recently, subscribed, twofactor, mfa, totp`)

// IsSaved reports whether the name of a table suggests that a person has marked the rows of another table, as in
// saved_stories.
func IsSaved(table string) bool {
	parts := partsOf(BaseName(table))
	return len(parts) > 1 && slices.ContainsFunc(saved, func(p pattern) bool { return matchesWord(parts[0], p[0]) })
}

// ofLinks are the last words of names of columns that links of people hold, such as the role of a member.
var ofLinks = patterns("role, type, kind, status, state, permission, access, level, access level, at")

// IsOfLink reports whether the name of a column suggests a property of a link, such as the role of a member.
func IsOfLink(column string) bool { return endsIn(column, ofLinks) }

// MayBeThings reports whether the name of a table of Messages as often means things that no person has written.
func MayBeThings(table string) bool { return endsIn(table, loose) }

// virtual are words before "address" that show that a column does not hold a postal address, such as ip_address.
var virtual = []string{"ip", "mac", "email", "mail", "wallet", "network"}

func endsIn(table string, list []pattern) bool {
	if len(list) == 0 {
		return false
	}
	return remember(&ends, ending{table, &list[0]}, func() bool {
		parts := partsOf(BaseName(table))
		return slices.ContainsFunc(list, func(p pattern) bool { return p.ends(parts) })
	})
}

// ending is a question of endsIn. A list is known by its first pattern.
type ending struct {
	table string
	list  *pattern
}

// BaseName returns the name of a table without its schema.
func BaseName(table string) string { return table[strings.LastIndexByte(table, '.')+1:] }

// Duty is a retention duty: the legal duty to keep the rows of a table.
type Duty struct {
	Word   string // the part of the table's name that was recognised
	Reason string
}

const bookkeeping = "records of bookkeeping must be kept (in Germany: § 147 AO and § 257 HGB)"

// dutyWords are the last words of the names of tables whose rows must be kept by law.
var dutyWords = patterns(`
	invoice, payment, receipt, transaction, refund, payout, credit note, billing, purchase, sale, ledger, journal entry,
	donation, spende, spenden,
	journal entries, charge, withdrawal, deposit, bank transfer, order, subscription payment, rechnung, rechnungen,
	zahlung, zahlungen, beleg, belege, buchung, buchungen, gutschrift, gutschriften, bestellung, bestellungen, facture,
	paiement, commande, factura, pago, pedido, recibo`)

// FindDuty returns the legal duty to keep the rows of a table. It recognises the duty by the table's name.
func FindDuty(table string) (Duty, bool) {
	if !endsIn(table, dutyWords) {
		return Duty{}, false
	}
	parts := partsOf(BaseName(table))
	return Duty{Word: parts[len(parts)-1], Reason: bookkeeping}, true
}

// beginnings are words in the names of time columns that may hold the start of the legal duty to keep a row, best
// first.
var beginnings = patterns(`
	issued, invoice date, invoiced, rechnungsdatum, belegdatum, booked, buchungsdatum, paid, payment date, completed,
	ordered, order date, placed, created, date, datum, fecha, timestamp, inserted, added, createat`)

// Begins returns a rank for the name of a time column. The column with the lowest rank is the most probable start of
// the legal duty to keep a row. Begins returns -1 if the name does not suggest such a start.
func Begins(column string) int {
	parts := partsOf(column)
	return slices.IndexFunc(beginnings, func(p pattern) bool {
		_, _, ok := p.find(parts)
		return ok
	})
}
