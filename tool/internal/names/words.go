package names

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// typeGroups is a bit set of groups of column types.
type typeGroups int

const (
	texts typeGroups = 1 << iota // texts, bytes, UUIDs, JSON and arrays
	numbers
	times
	booleans
)

// columnRule recognises the columns that hold one kind of personal data.
type columnRule struct {
	category domain.Category
	means    string
	holds    typeGroups
	in       []Kind // the kinds of tables in which the words have this meaning; empty means any table
	patterns []pattern
}

// Email is the value of Match.Means for columns with email addresses.
const Email = "an email address"

// Address is the value of Match.Means for columns with a part of a postal address.
const Address = "a postal address"

// ofSpecial is the value of Match.Means for columns with data about health, religion and the like.
const ofSpecial = "data of a special category (Art. 9 GDPR)"

// ofPayment is the value of Match.Means for columns with a means of payment.
const ofPayment = "a bank account or a means of payment"

// ofProvider is the value of Match.Means for columns with the number of a person at a provider of payments.
const ofProvider = "an account at a provider of payments"

// Verified is the value of Match.Means for columns with an address, such as an email address, that a token verifies.
const Verified = "the address that a person verifies"

// Authenticator is the value of Match.Means for columns with the id of a person at her authenticators (WebAuthn).
const Authenticator = "the id of a person at authenticators"

// Account is the value of Match.Means for columns with the id of a person at an identity provider.
const Account = "an account at an identity provider"

// columnRules are the rules by which Find recognises columns with personal data. The first rule that matches applies.
// Most words are English, some are German, French or Spanish.
var columnRules = []columnRule{
	{
		domain.CategorySpecial, ofSpecial, texts | numbers | times | booleans, nil,
		patterns(`
			health*, diagnos*, disease*, illness*, medication, medicine, prescription, allerg*, blood type, blood group,
			disabilit*, handicap, pregnan*, symptom, vaccin*, religion, religious *, confession, ethnic*, race, political*,
			trade union, sexual*, sex life, biometric*, genetic*, dna, fingerprint template, krankheit*, krankenkasse,
			gesundheit*, behinderung*, konfession, blutgruppe, schwanger*, gewerkschaft*, *diagnose, sante, maladie, grossesse,
			salud, enfermedad, alergia*, embarazo, religion, special need, dietary*, accessibility need, accessibility
			requirement, accessibility request, accessibility note`),
	},
	{
		domain.CategorySpecial, ofSpecial, texts, []Kind{People}, patterns("accessibility"),
	},
	{
		domain.CategoryFinancial, ofPayment, texts | numbers, nil,
		patterns(`
			iban, bic, swift, bank account, account number, account holder, routing number, sort code, bank name, card number,
			credit card*, card holder, card last, last digits, last four, card brand, card exp*, cc last,
			cc number, stripe customer id, stripe customer, stripe id, customer token, paypal*, payer, kontonummer, kontoinhaber,
			bankverbindung, bankleitzahl, blz,
			kreditkarte*, rib, compte bancaire, carte bancaire, tarjeta, cuenta bancaria`),
	},
	{
		domain.CategoryFinancial, "income, wealth or tax", texts | numbers, nil,
		patterns(`
			salary, wage, income, net worth, credit score, credit limit, credit rating, tax id, tax number, tax ident*, tax
			code, vat id, vat number, vatin, *gehalt, einkommen, steuernummer, steuer id, steueridentifikationsnummer, ust id,
			ustid*, salaire, revenu, numero fiscal, salario, nomina, ingresos, tax no, vat no`),
	},
	{
		domain.CategoryFinancial, ofProvider, texts, []Kind{People}, patterns("customer id"),
	},
	{
		domain.CategoryFinancial, "the money of a person", numbers,
		[]Kind{People},
		patterns("balance, credit, credits, kontostand, guthaben, solde, saldo"),
	},
	{
		domain.CategoryTechnical, "a network address or a device", texts | numbers, nil,
		patterns(`
			ip, ips, ipv, ip address, ipaddr, remote addr*, remote ip, client ip, *ipaddress, ip adresse, *user agent, ua
			string, device id, device name, device token, deviceid, device fingerprint, mac address, imei, imsi, idfa, gaid,
			advertising id, browser fingerprint, fcm*, apns*, *push endpoint, remote host, client host, forwarded
			for, cookie*, adresse ip, direccion ip`),
	},
	{
		domain.CategoryTechnical, Authenticator, texts, nil, patterns("user handle, webauthn user id"),
	},
	{
		domain.CategoryTechnical, Authenticator, texts, []Kind{People}, patterns("webauthn id, passkey user id"),
	},
	{
		domain.CategoryIdentity, "data that identifies a person", texts, nil, patterns("pii"),
	},
	{
		domain.CategoryIdentity, "what an identity provider tells about a person", texts, nil,
		patterns("claims, userinfo, user info, raw info, auth hash"),
	},
	{
		domain.CategoryIdentity, "an official document or number of a person", texts | numbers, nil,
		patterns(`
			passport*, ssn, social security*, national id, nationalid, national number, identity card, id card, id number,
			identity number, document number, legal number, legal id, driver license*, driving licen*, license plate,
			licence plate, plate number, plate no, number plate, registration plate, vehicle
			plate, car plate, insurance number, personal code,
			*ausweis, ausweisnummer, sozialversicherung*, fuehrerschein*, kennzeichen, passeport, numero securite sociale,
			carte identite, dni, nif, nie, curp, pasaporte, matricula, national no`),
	},
	{
		domain.CategoryIdentity, "a date of birth or an age", texts | numbers | times, nil,
		patterns(`
			birth*, date of birth, dob, age, year of birth, born, *geburtsdatum, geburtstag, geburtsort, geboren, naissance,
			fecha nacimiento, nacimiento, edad`),
	},
	{
		domain.CategoryIdentity, "the name of a person", texts, nil,
		patterns(`
			first name, fname, given name, middle name, last name, lname, family name, surname, full name, maiden name, legal
			name, display name, real name, user name, username, login name, nick, nickname, nick name, screen name, alias
			name, customer name, client name, contact name, person name, patient name, employee name, recipient name, sender
			name, author name, owner name, guest name, member name, billing name, shipping name, account name, signer name,
			reporter name, holder name, *vorname, *nachname, familienname, geburtsname, benutzername, spitzname,
			ansprechpartner, *prenom, nom famille, nom complet, nom utilisateur, pseudo, pseudonyme, apellido, nombre
			completo, nombre usuario, apodo, first nm, last nm, full nm`),
	},
	{
		domain.CategoryIdentity, "the name of a person", texts,
		[]Kind{People, Addresses},
		patterns(`
			name, login, handle, acct, alias, slug, nom, nombre, title, salutation, honorific, anrede, titel, civilite,
			tratamiento`),
	},
	{
		domain.CategoryIdentity, "a trait of a person", texts | numbers, nil,
		patterns(`
			gender, sex, pronoun, marital status, nationality, citizenship, geschlecht, familienstand, staatsangehoerigkeit,
			nationalite, sexe, genre sexe, genero, sexo, estado civil, nacionalidad`),
	},
	{
		domain.CategoryIdentity, "a picture or a description of a person", texts, nil,
		patterns(`
			avatar*, profile picture, profile image, profile photo, portrait, selfie, headshot, biography, about me, typed
			signature, signature image, profilbild, photo profil, foto perfil, biografia, biografie`),
	},
	{
		domain.CategoryIdentity, "a picture or a description of a person", texts,
		[]Kind{People},
		patterns(`
			photo*, picture*, image*, header*, banner*, bio, about, description, headline, occupation, job title, position,
			company, employer, foto, bild, beruf, profession, profesion, signature`),
	},
	{
		domain.CategoryContact, Email, texts, nil,
		patterns(`
			*email, e mail, email address, *mail address, mailadresse, *courriel, correo, correo electronico, gravatar*`),
	},
	{
		domain.CategoryContact, Email, texts, []Kind{People, Addresses}, patterns("mail"),
	},
	{
		domain.CategoryContact, "a telephone number", texts | numbers, nil,
		patterns(`
			*phone, phone number, contact number, contact no, telephone*, mobile, mobile number, cell phone, msisdn, fax*,
			*telefon, *telefonnummer, handy*, *rufnummer, mobilnummer, tel, portable, telefono, movil, celular`),
	},
	{
		domain.CategoryContact, "a way to reach a person", texts, nil,
		patterns("emergency contact, next of kin, contact info*, contact detail*"),
	},
	{
		domain.CategoryContact, Address, texts | numbers, nil,
		patterns(`
			*street, street name, house number, postal code, *postcode, post code, zip, zip code, zipcode, postal address,
			mailing address, home address, billing address, shipping address, delivery address, pickup address, full address,
			address line, *strasse, hausnummer, plz, postleitzahl, *anschrift, wohnort,
			*adresse, rue, code postal, calle, codigo postal, direccion, domicilio`),
	},
	{
		domain.CategoryContact, Address, texts | numbers,
		[]Kind{Duties},
		patterns("address*, city, town, county, country*, ort, stadt, ville, ciudad"),
	},
	{
		domain.CategoryContact, Address, texts | numbers,
		[]Kind{People, Addresses},
		patterns(`
			address*, line, city, town, state, province, county, region, country*, district, suburb, company, floor, apartment,
			door, ort, stadt, land, bundesland, ville, pays, ciudad, pais, provincia`),
	},
	{
		domain.CategoryContact, "an account in another network", texts, nil,
		patterns(`
			skype*, telegram*, whatsapp*, twitter*, facebook*, linkedin*, instagram*, discord*, signal number, matrix id,
			matrix user id, jabber*, xmpp*, slack user*`),
	},
	{
		domain.CategoryContact, "a page about a person", texts, []Kind{People}, patterns(`
			website, homepage, web, url*, uri, site web`),
	},
	{
		domain.CategoryLocation, "the location of a person", texts | numbers, nil,
		patterns(`
			latitude, longitude, lat, lng, lon, geo long, gps long, gps*, geo, geolocation, geo location, coordinate, geo point,
			breitengrad, laengengrad, standort, latitud, longitud, ubicacion`),
	},
	{
		domain.CategoryLocation, "the location of a person", texts,
		[]Kind{People, Activities, Sessions},
		patterns("location, place, time zone, timezone, tz, city, country*, region, lieu, lugar"),
	},
	{
		domain.CategoryTechnical, "a device of a person", texts,
		[]Kind{People, Sessions, Activities},
		patterns(`
			device*, browser*, platform, screen, language, os, operating system, fingerprint,
			agent, host name, model, endpoint, app version`),
	},
	{
		domain.CategoryTechnical, "a device of a person", texts, []Kind{People}, patterns("browser version, os version"),
	},
	{
		domain.CategoryTechnical, Account, texts | numbers, nil,
		patterns(`
			oauth uid, oauth user id, provider uid, provider user, provider user id, provider account id, external user,
			external user id, external account, auth data, oidc subject, oidc sub, openid connect id, open id connect id,
			ldap dn, saml name, google id, github id, facebook id, apple id, auth uid, third party id, thirdparty id, third
			party user id`),
	},
	{
		domain.CategoryTechnical, Account, texts | numbers,
		[]Kind{People},
		slices.Concat(patterns("sub, external id, external uid, auth id"), providerIDs),
	},
	{
		domain.CategoryBehavioral, "the behaviour of a person", texts | numbers | times, nil,
		patterns(`
			last login, last log in, last sign in, last seen, last active*, last activity*, last visit*, last online, last
			signed in, last signin, last logged in, loggedin, last access*, login count, sign in count, login attempts, failed
			login*, current sign in*, search quer*, search term, letzte anmeldung, derniere connexion, ultimo acceso, last
			sign`),
	},
	{
		domain.CategoryBehavioral, "the behaviour of a person", times,
		[]Kind{People},
		patterns(`
			last request, remember created, password sent, confirmation sent, reset sent, last connection, first seen,
			last contacted, last heard`),
	},
	{
		domain.CategoryContact, Verified, texts,
		[]Kind{Sessions, Settings},
		patterns("identifier, sent to"),
	},
	{
		domain.CategoryBehavioral, "the behaviour of a person", texts,
		[]Kind{Sessions},
		patterns("url*, uri, path, query, referer, referrer"),
	},
	{
		domain.CategoryBehavioral, "the behaviour of a person", texts,
		[]Kind{Activities},
		patterns(`
			url*, uri, path, query, referer, referrer, action, event*, activity, details, payload, data, changes, diff, old
			value*, new value*, old data, new data, object, params, parameters, metadata, properties, props, user name,
			description`),
	},
	{
		domain.CategoryBehavioral, "the preferences of a person", texts,
		[]Kind{People},
		patterns("interest, hobby, hobbies, preference*, locale, language, lang, setting*, sprache, langue, idioma"),
	},
	{
		domain.CategoryCommunication, "text that a person wrote", texts, nil,
		patterns(`
			feedback, complaint, gift message, greeting, delivery instructions, private note, private message, message body,
			message text, free text, remarks, *nachricht, bemerkung*, *notiz, *notizen, kommentar*, commentaire*, remarque*,
			mensaje*, comentario*, observaciones`),
	},
	{
		domain.CategoryCommunication, "text that a person wrote", texts,
		[]Kind{Messages, People, Duties},
		patterns(`
			body*, content*, text, message*, comment*, note*, memo, subject, topic, title, description, caption, review, reply,
			answer, reason, question, excerpt, summary, html, markdown, raw, transcript, spoiler*, poll, original message,
			betreff, inhalt, objet, contenu, texte, asunto, contenido, texto, nota`),
	},
	{
		domain.CategoryCommunication, "text that a person wrote", texts, nil,
		patterns("comment, remark, note"),
	},
}

// asideWords are the last words of names of columns that only describe personal data and do not hold the data, such as
// email_verified.
var asideWords = []string{
	"id", "ids", "count", "counts", "type", "types", "kind", "status", "enabled", "disabled", "verified", "confirmed",
	"visible", "visibility", "hidden", "format", "template", "templates", "sent", "required", "policy", "limit", "version",
	"size", "order", "index", "valid", "allowed", "mode", "regex", "provider", "domain", "notifications", "notification",
	"notify", "verification", "consent", "permission", "permissions", "role", "schema", "width", "height", "length",
	"tsv", "tsvector", "generated", "updated", "created", "flag", "flags", "quality", "rate", "interval", "blocked",
	"settings", "setting", "config", "configuration", "options", "limits", "suppressed", "bounced", "frequency", "digest",
	"class", "scope", "scopes", "rights", "typ", "anzahl", "state", "level", "priority", "position", "color", "value",
	"source", "channel", "checksum",
}

// ofArchives are words after zip that show that it means a file and not a postal code.
var ofArchives = []string{
	"sha", "sha1", "sha256", "sha512", "md5", "crc", "crc32", "hash", "checksum", "digest", "file", "filename", "path",
	"url", "key", "json", "bytes", "archive", "size",
}

// onlyLast are words that mean something else before another word, such as sub in sub_total.
var onlyLast = []string{"sub", "pii"}

// Describes reports whether the name of a column suggests that it only describes other data, such as theme_settings.
func Describes(column string) bool {
	parts := partsOf(column)
	return len(parts) > 0 && slices.Contains(asideWords, parts[len(parts)-1])
}

// IsDocument reports whether the name of a text column suggests that it holds a JSON document, such as settings.
func IsDocument(column string) bool {
	parts := partsOf(column)
	return len(parts) > 0 && slices.Contains(documents, parts[len(parts)-1])
}

// documents are the last words of the names of text columns that often hold JSON documents.
var documents = strings.Fields(`
	settings preferences prefs data metadata meta payload extra extras attributes props properties options fields json
	config`)

// ofInstants are the last words of names of columns that hold an instant or a date.
var ofInstants = []string{"at", "on", "date", "time", "datetime", "timestamp", "since", "until", "datum", "fecha"}

// noInstants are words that end with date or time and mean something else.
var noInstants = strings.Fields(`
	update candidate mandate validate runtime lifetime uptime downtime overtime parttime fulltime`)

// ofLast are the words after last in names of columns that hold an instant.
var ofLast = strings.Fields("login logon signin seen active activity visit online access loggedin signedin")

// asideOfText are last words of names of text columns that only describe personal data and do not hold the data, such
// as phone_since.
var asideOfText = []string{"at", "on", "since", "until", "by"}

// secrets match the names of columns that hold a secret in any table, besides those of words.MeansSecret.
var secrets = patterns(`
	*passwd, passwd*, pass, pwd, pw, passphrase, passcode, salt, pin, pin code, cvv, cvc, credential*, mfa*, totp*, two
	factor*, backup code, jwt, webauthn*, verification code, confirmation code, reset code, activation code, authorization
	code, auth code, login code, one time code, invite code, security answer, security question, private key,
	privatekey, security stamp, session id, sessionid, csrf*, *api key, *secret key, access key, encryption key,
	signing key, auth key,
	ssh key, license key, webhook key, session key, master key, token hash, code hash, passwort*, kennwort*, geheim*,
	mot de passe, motdepasse, contrasena, clave`)

// openPatterns match names that resemble the name of a secret but mean a public value.
var openPatterns = patterns(`
	public *, publickey, sort key, foreign key, primary key, cache key, translation key, object key, storage key, file
	key, media key, blob key, bkey, content hash, file hash, commit hash, image hash, blur hash, idempotency key,
	natural key, partition key, locale key, setting key, preference key, config key, group key`)

// hints match the names of columns whose text may reveal a secret.
var hints = patterns("password hint, passwd hint, pin hint, passphrase hint")

// asideOfSecret are the last words of names of columns that only describe a secret and do not hold the secret, such as
// token_expires.
var asideOfSecret = []string{
	"type", "types", "count", "id", "ids", "name", "names", "expires", "expiry", "expiration", "enabled", "required",
	"algorithm", "algo", "method", "policy", "length", "version", "at", "on", "scope", "scopes", "status", "prefix",
	"hint", "endpoint", "url", "uri", "issuer", "period", "lifetime", "ttl", "func", "function", "alg", "format",
	"encoding", "scheme", "iterations", "rounds",
}
