package names

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// findPerson recognizes a column by the person whom its name means and by what it holds about her, as observer_name and
// signed_by_name do. A text may also have the name of her job, such as sales_rep, or of her work, such as quote_by.
// In a table of activities, such a text shows nothing about the person who acted.
func findPerson(table string, parts []string, t datamap.ColumnType) (Match, bool) {
	isText := t == "" || t == datamap.TypeText || t == datamap.TypeArray
	isNumber := isText || t == datamap.TypeInteger || t == datamap.TypeBigInt
	if isText && (hasJob(parts) || isWorkBy(parts)) && !Is(table, Activities) {
		return Match{
			Word: strings.Join(parts, " "), Part: true, Category: domain.CategoryIdentity, Means: "the name of a person",
		}, true
	}
	if len(parts) < 2 || !isNumber {
		return Match{}, false
	}
	last := parts[len(parts)-1]
	who := parts[:len(parts)-1]
	m := Match{Word: strings.Join(parts, " "), Part: true}
	switch {
	case isText && slices.Contains(ofNames, last) && (endsWith(who, persons) || isDoneBy(who) || endsWith(who, sureRoles)):
		m.Category, m.Means = domain.CategoryIdentity, "the name of a person"
	case isText && last == "person" && endsWith(who, chosen):
		m.Category, m.Means = domain.CategoryIdentity, "the name of a person"
	case slices.Contains(ofNumbers, last) && endsWith(who, numbered):
		m.Category, m.Means = domain.CategoryIdentity, "the number of a person"
	case isText && last == "address" && endsWith(who, persons):
		m.Category, m.Means = domain.CategoryContact, Address
	case isText && last == "signature" && endsWith(who, persons):
		m.Category, m.Means = domain.CategoryIdentity, "the signature of a person"
	default:
		return Match{}, false
	}
	return m, true
}

// endsWith reports whether the last words are one of the patterns.
func endsWith(parts []string, list []pattern) bool {
	return slices.ContainsFunc(list, func(p pattern) bool {
		return len(p) <= len(parts) && slices.EqualFunc(parts[len(parts)-len(p):], p, matchesWord)
	})
}

// IsDoneBy reports whether the name of a column means the person who did something, as signed_by and taken_by do.
func IsDoneBy(column string) bool { return isDoneBy(partsOf(column)) }

func isDoneBy(parts []string) bool {
	if len(parts) < 2 || parts[len(parts)-1] != "by" {
		return false
	}
	done := parts[len(parts)-2]
	return (strings.HasSuffix(done, "ed") || slices.Contains(participles, done)) && !slices.Contains(doneByThings, done)
}

// IsWorkBy reports whether the name of a column means the person who made a work, such as photo_by.
func IsWorkBy(column string) bool { return isWorkBy(partsOf(column)) }

// MeansMaker reports whether the name of a column without a reference means the person who did or made something, as
// signed_by and comment_by do.
func MeansMaker(column string) bool { return IsDoneBy(column) || isWorkBy(partsOf(column)) }

// hasJob reports whether the name means a person by her job, such as sales_rep and sales_rep_name.
func hasJob(parts []string) bool {
	n := len(parts)
	return endsWith(parts, jobs) || n > 1 && slices.Contains(ofNames, parts[n-1]) && endsWith(parts[:n-1], jobs)
}

func isWorkBy(parts []string) bool {
	n := len(parts)
	return n > 1 && parts[n-1] == "by" && slices.Contains(works, parts[n-2])
}

var (
	ofNames   = []string{"name", "names", "fullname", "initials"}
	ofNumbers = []string{"number", "no", "nr", "num", "nummer"}

	// participles are irregular, and doneByThings are participles before the word for a thing.
	participles  = strings.Fields("written made done sent given taken seen drawn paid met led built sold bought withdrawn")
	doneByThings = strings.Fields(`
		sorted ordered grouped followed powered required limited caused affected replaced indexed blocked superseded`)

	// persons are words for a person by her part in what a row is about. Words that as often mean a thing or a company
	// are not among them, such as host, provider and partner.
	persons = patterns(`
		observer, witness, caller, callee, contact, guest, visitor, signer, signatory, submitter, requester, requestor,
		applicant, candidate, recipient, receiver, sender, addressee, consignee, consignor, buyer, seller, purchaser, payer,
		payee, beneficiary, guardian, mother, father, spouse, husband, wife, sibling, kin, doctor, physician,
		nurse, therapist, patient, teacher, tutor, trainer, instructor, student, pupil, trainee, driver, passenger, traveler,
		traveller, landlord, lessee, lessor, cardholder, inspector, examiner, examinee, interviewer, interviewee,
		respondent, donor, supervisor, manager, employee, lawyer, attorney, notary, complainant, victim, suspect, defendant,
		plaintiff, declarant, informant, author, reviewer, approver, assignee, creator, uploader, member, subscriber,
		customer, attendee, participant, speaker, photographer, translator, organizer, organiser, inviter, invitee,
		referrer, winner, claimant, insured, policyholder, heir, deceased, resident, occupant, voter, citizen, technician,
		courier, surveyor, reporter, commenter, officer, bride, groom, person, user, staff, ship to,
		bill to, sold to`)
	// jobs are the jobs of people. A word for a thing may stand before manager, as in package_manager.
	jobs = patterns(`
		agency rep, sales rep, account rep, service rep, support rep, customer rep, field rep, representative, case manager,
		account manager, sales manager, project manager, office manager, relationship manager, caseworker, case worker,
		social worker, care worker, support worker, salesperson, sales person, sales agent, care coordinator`)
	works = strings.Fields(`
		quote quotation photo photograph photography picture image video illustration artwork art drawing text story lyrics
		music song translation testimonial interview recipe poem comment article`)
	chosen = patterns(`
		contact, responsible, authorized, authorised, reference, key, sales, delivery, support, accompanying`)
	numbered = patterns(`
		employee, student, pupil, patient, member, membership, customer, personnel, staff, insured, citizen, matriculation,
		personal`)
)
