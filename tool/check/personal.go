package check

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// checkNames reports columns of the data map's tables that are not annotated but are named like personal data.
func (s *schema) checkNames() {
	s.eachPresent(func(table datamap.Table, live datamap.CatalogTable) {
		name := table.Name
		if table.Name == s.SubjectTable().Name {
			name = "users" // the subjects are people, even if the name of the table suggests otherwise
		}
		for _, found := range live.Columns {
			column, _ := live.Mapped(table, found.Name)
			if column.Personal != nil || column.NotPersonal || found.Generated || inForeignKey(live, found.Name) ||
				s.namesTable(live, found) {
				continue
			}
			match, ok := soundsPersonal(name, live, found)
			if !ok && table.Name == s.SubjectTable().Name && (isDocument(found) || found.Declared == "xml") {
				match, ok = guess{category: domain.CategoryIdentity, reason: "it holds a document about the subject"}, true
			}
			if !ok && s.namesDoer(table, live, found) {
				match, ok = guess{category: domain.CategoryIdentity, reason: "its name suggests the name of a person"}, true
			}
			if !ok && s.listsPeople(found) {
				match, ok = guess{category: domain.CategoryIdentity, reason: "its name suggests a list of people"}, true
			}
			if !ok {
				match, ok = s.wouldAnnotate(name, table, live, found)
			}
			if ok {
				s.reportName(table, found.Name, column, match)
			}
		}
		s.reportRowCopies(table, live)
	})
}

// namesDoer reports whether a text in a row that stays seems to hold the name of the person who did something, as in
// signed_by. It returns false for a reference to the subject's table.
func (s *schema) namesDoer(table datamap.Table, live datamap.CatalogTable, column datamap.CatalogColumn) bool {
	return column.Type == datamap.TypeText && names.IsDoneBy(column.Name) && s.mayKeepRows(table) &&
		!live.IsChoice(column) && !s.namedAfter(live, column, s.SubjectTable())
}

// namesTable reports whether a column has the name of another table and the type of its key, so that it refers to this
// table, as customer_id beside customers.
func (s *schema) namesTable(live datamap.CatalogTable, column datamap.CatalogColumn) bool {
	stem, isReference := names.Stem(column.Name)
	return isReference && slices.ContainsFunc(s.catalog.Tables, func(other datamap.CatalogTable) bool {
		if other.Name == live.Name || len(other.PrimaryKey) != 1 || !names.Same(stem, names.BaseName(other.Name)) {
			return false
		}
		key, _ := other.Column(other.PrimaryKey[0])
		return !differ(key.Type, column.Type)
	})
}

func (s *schema) reportName(table datamap.Table, name string, column datamap.Column, match guess) {
	at := place{table: table.Name, column: name}
	if column.Name != "" {
		at.column = column.Name
	}
	isKey := column.Name != "" && s.IsKey(table, column.Name)
	switch {
	case isKey && (!s.mayKeepRows(table) || !isOwnKey(table, column.Name) && !s.isReferred(table, column.Name)):
	case isKey:
		s.report(personalKey, at,
			"The column identifies rows that stay, and "+match.reason+". An erasure cannot overwrite it.",
			"Give the table another key, or "+s.declareNone())
	case s.reported(table.Name, columnUnmapped) && column.Name == "" && !s.mayKeepRows(table):
		// The finding column-unmapped already covers the column.
	case s.mayKeepRows(table):
		s.reportColumn(column, personalUnannotated, at,
			"The column is not annotated, but "+match.reason+". Exports and erasures ignore it.",
			"Annotate it ("+string(match.category)+"), or "+s.declareNone())
	default:
		s.reportColumn(column, personalUnannotated, at,
			"The column is not annotated, but "+match.reason+". An erasure deletes it with its row, but exports ignore it.",
			"Annotate it ("+string(match.category)+"), or "+s.declareNone())
	}
}

// declareNone returns the end of a remedy for a column that only seems to hold personal data.
func (s *schema) declareNone() string {
	return "declare that the column holds no personal data (" + s.says(`pii:"none"`, `"not_personal": true`) + ")."
}

func isOwnKey(table datamap.Table, column string) bool {
	return slices.Contains(table.PrimaryKey, column) || slices.Contains(table.SubjectKey, column)
}

func (s *schema) isReferred(table datamap.Table, column string) bool {
	return slices.ContainsFunc(s.Tables(), func(other datamap.Table) bool {
		return slices.ContainsFunc(other.Relations, func(r datamap.Relation) bool {
			return r.References == table.Name && slices.Contains(r.ReferencedColumns, column)
		})
	})
}

func inForeignKey(live datamap.CatalogTable, column string) bool {
	return slices.ContainsFunc(live.ForeignKeys, func(f datamap.CatalogForeignKey) bool {
		return hasName(live, f.Columns, column)
	})
}

// vague are words that never cause a finding, because they describe things as often as people.
var vague = terms(`
	title, titel, slug, header, image, images, url, uri, web, line, region, country, countries, state, province,
	county, land, pays, pais, provincia, floor, door, district, suburb, timezone, time zone, tz, place, platform,
	os, operating system, model, agent, app version, browser, device, endpoint, topic, subject, caption, summary,
	html, markdown, raw, poll, excerpt, question, answer, review, reply, description, position, company, alias,
	acct, payer, credit, credits, balance, age, race, medicine, prescription, customer token`)

// alone are words that suggest personal data only if the column has no other word. For example, name suggests personal
// data, but file_name does not.
var alone = terms(`
	name, nom, nombre, login, handle, mail, about, bio, text, message, content, body, data`)

func terms(list string) []string {
	all := strings.Split(list, ",")
	for i, word := range all {
		all[i] = strings.TrimSpace(word)
	}
	return all
}

// guess is the kind of personal data that a column seems to hold, with the reason.
type guess struct {
	category domain.Category
	reason   string // a clause, such as "its name contains ..."
	means    string
	secret   bool
	word     string // the part of the name that was recognised
}

// soundsPersonal reports whether the names of the column and the table, and the type of the column, clearly suggest
// personal data.
func soundsPersonal(table string, live datamap.CatalogTable, column datamap.CatalogColumn) (guess, bool) {
	if names.IsFlag(column) {
		column.Type = datamap.TypeBoolean
	}
	match, ok := names.Find(table, column.Name, column.Type)
	found := guess{match.Category, match.Reason(), match.Means, match.Secret, match.Word}
	if other, is := namesPhone(table, column); !ok && is && !inForeignKey(live, column.Name) && !live.IsChoice(column) {
		return other, true
	}
	switch {
	case inForeignKey(live, column.Name) || column.Type == datamap.TypeBoolean,
		match.Category == domain.CategoryCommunication && live.IsChoice(column):
		return guess{}, false
	case isAddress(column):
		return guess{
			category: domain.CategoryTechnical, reason: "its type is " + column.Declared + ", for the addresses of devices",
		}, true
	case !ok || match.Category == domain.CategoryBehavioral || slices.Contains(vague, match.Word):
		return guess{}, false
	case isOfThing(table, match.Word):
		return guess{}, false
	case match.Word == "handle" && names.IsPeople(table):
		return found, true // such as mastodon_handle
	case slices.Contains(alone, match.Word):
		return found, len(names.Words(column.Name)) == 1
	case match.Secret:
		return found, names.IsPeople(table) || names.Is(table, names.Sessions) || soundsPassword(match.Word) ||
			hasWord(column.Name, ofDevices...)
	default:
		return found, match.Category == domain.CategorySpecial || !slices.ContainsFunc(match.Behind, func(part string) bool {
			return !slices.Contains(trailing, part)
		})
	}
}

// namesPhone recognises the number of a phone by the person who has it, or by the table.
func namesPhone(table string, column datamap.CatalogColumn) (guess, bool) {
	if column.Type == datamap.TypeBoolean || column.Type == datamap.TypeTime || !names.IsPhoneNumber(table, column.Name) {
		return guess{}, false
	}
	return guess{
		category: domain.CategoryContact, reason: "its name suggests a telephone number", means: phoneNumber,
	}, true
}

// phoneNumber is guess.means of a telephone number.
const phoneNumber = "a telephone number"

// isOfThing reports whether a word such as "display name" means the name or the picture of a thing, because the rows of
// the table are things, such as the providers of a login.
func isOfThing(table, word string) bool {
	if !slices.ContainsFunc(ofThings, func(w string) bool { return strings.Contains(word, w) }) {
		return false
	}
	return isThing(table)
}

// isThing reports whether the rows of a table are things with a name.
func isThing(table string) bool {
	parts := names.Words(names.BaseName(table))
	return len(parts) > 0 && slices.Contains(things, names.Singular(parts[len(parts)-1]))
}

// things are the last words of the names of tables whose rows are things with a name.
var things = terms(`
	provider, idp, connection, connector, integration, plugin, service, organization, organisation, company, team, group,
	workspace, tenant, project, repository, repo, product, category, tag, role, channel, template, plan, webhook, domain,
	server, instance, feature, setting, permission, field, attribute, property, theme, model, bucket, app, application,
	client, community, site, forum, board, room, space, environment, type, status, event, scope, config, configuration`)

// trailing are words that may follow a word for personal data without changing its meaning. For example, phone_number
// has the same meaning as phone.
var trailing = terms(`
	address, addr, adresse, number, no, nr, num, nummer, numero, date, year, month, day, place, city, country, code,
	hash, encrypted, enc, normalized, canonical, lower, lowercase, string, line, first, second, primary, secondary,
	home, work, mobile, private, business, main, alt, alternative, backup, old, new, current, previous, raw, masked,
	sha, sha1, sha256, sha512, md5, digest, hashed,
	url, uri, path, key, file, filename, image, thumbnail, blob, prefix, suffix, name, identity, amount, v, x, y, e,
	token, last, digits, handle, email`)

// ofDevices are words before the token by which an application reaches the device of a person, as in push_token.
var ofDevices = terms("push, fcm, apns, apn, device, expo")

// soundsPassword reports whether a word for a secret means a secret of a person, independent of the table. An example
// is password.
func soundsPassword(word string) bool {
	return slices.ContainsFunc([]string{"pass", "otp", "credential", "recovery", "cvv", "cvc"}, func(w string) bool {
		return strings.Contains(word, w)
	})
}

// soundsCredential reports whether a word for a secret means a credential, such as a password or a token. Other words
// for secrets, such as hash and key, may also describe things.
func soundsCredential(word string) bool {
	return slices.ContainsFunc(strings.Fields(word), func(part string) bool {
		return slices.Contains([]string{"pin", "pwd", "salt", "mfa", "cvv", "cvc"}, part) ||
			slices.ContainsFunc([]string{"pass", "token", "secret", "otp", "credential", "recovery"}, func(w string) bool {
				return strings.Contains(part, w)
			})
	})
}

// isAddress reports whether the column has a PostgreSQL type for IP or MAC addresses.
func isAddress(column datamap.CatalogColumn) bool {
	return strings.HasPrefix(column.Declared, "inet") || strings.HasPrefix(column.Declared, "macaddr")
}

// ofSystems are words in the names of columns with an address of the application itself, such as sender_email.
var ofSystems = terms(`
	from, reply, noreply, sender, support, system, admin, smtp, notify, default`)

// isOfPerson reports whether the name of a column suggests data about a person, except for messages and technical data.
// The table counts only if its rows are things with a name.
func isOfPerson(table string, column datamap.CatalogColumn) bool {
	found, ok := soundsPersonal("", datamap.CatalogTable{}, column)
	return ok && !isOfSystem(column) && !isOfThing(table, found.word) && found.category != domain.CategoryCommunication &&
		found.category != domain.CategoryTechnical
}

func isOfSystem(column datamap.CatalogColumn) bool {
	return hasWord(column.Name, ofSystems...)
}

// isIdentifying reports whether the name of a column suggests that the column identifies a person, independent of the
// table. The second result is false if things often have such a column, too. For example, a repository may have a full
// name, and a service may have a user name.
//
// In a table of people, such as applicants, each column that identifies a person does so surely.
func isIdentifying(table string, column datamap.CatalogColumn) (is, surely bool) {
	of := ""
	if names.IsPhoneNumber(table, column.Name) {
		of = table
	}
	found, ok := soundsPersonal(of, datamap.CatalogTable{}, column)
	if column.Type == datamap.TypeText && (strings.EqualFold(column.Name, "mail") ||
		names.Is(table, names.Trails) && slices.Contains(acting, strings.ToLower(column.Name))) {
		return true, true
	}
	parts := names.Words(column.Name)
	if !ok || isOfSystem(column) {
		return false, false
	}
	if found.means == names.Email || found.means == phoneNumber {
		return true, true
	}
	return found.category == domain.CategoryIdentity, found.category == domain.CategoryIdentity &&
		(names.IsPeople(table) || !slices.ContainsFunc(ofThings, func(w string) bool {
			return strings.Contains(strings.Join(parts, " "), w)
		}))
}

// acting are names of columns of a log with the name of the person who acted.
var acting = terms(`
	actor, user, username, user_name, login, principal, principal_name, whodunnit, performed_by, done_by, operator`)

// ofThings are parts of column names that are as common for things as for people.
var ofThings = terms(`
	full name, fullname, user name, username, display name, login name, avatar, portrait, nick, alias name, owner
	name, author name, account name, kennzeichen, matricula, id number, document number, identity number,
	benutzername`)

// isVerified reports whether a column of a table of verification tokens holds the verified addresses.
func isVerified(table string, column datamap.CatalogColumn) bool {
	match, ok := names.Find(table, column.Name, column.Type)
	return ok && match.Means == names.Verified &&
		hasWord(table, "verification", "verifications", "reset", "resets", "magic", "otp", "confirmation", "confirmations")
}

// devicesOf returns the columns of a table with the network addresses and the programs of its users. It returns nil if
// the table is no log of what people do, and if it has no program, because things have addresses, too.
func devicesOf(table datamap.CatalogTable) (found []string) {
	hasAddress, isUsed := false, names.Is(table.Name, names.Trails) || names.Is(table.Name, names.Searches)
	for _, column := range table.Columns {
		isAgent := column.Type == datamap.TypeText && hasWord(column.Name, "agent", "useragent", "ua")
		isIP := isAddress(column) || column.Type == datamap.TypeText && hasWord(column.Name, "ip", "ipaddr", "ipaddress")
		if !isAgent && !isIP {
			continue
		}
		found, hasAddress, isUsed = append(found, column.Name), hasAddress || isIP, isUsed || isAgent
	}
	if !hasAddress || !isUsed {
		return nil
	}
	return found
}
