package schemas

import (
	"time"

	"github.com/uptrace/bun"
)

// These are the models of a marketplace whose rows belong to several people.

type trader struct {
	bun.BaseModel `bun:"table:market_members"`
	ID            int64      `bun:"id,pk" subject:"id"`
	Email         string     `bun:"email" pii:"contact,erasure:anonymize"`
	Reports       []*report  `bun:"rel:has-many,join:id=subject_id,join:type=subject_type,polymorphic:trader"`
	Memberships   []*belongs `bun:"rel:has-many,join:id=member_id"`
}

// message belongs to two people. The sender wrote its body, and the recipient put it into a folder.
type message struct {
	bun.BaseModel `bun:"table:messages"`
	ID            int64   `bun:"id,pk"`
	SenderID      *int64  `bun:"sender_id"`
	Sender        *trader `bun:"rel:belongs-to,join:sender_id=id" subject:"path,erasure:null"`
	RecipientID   int64   `bun:"recipient_id"`
	Recipient     *trader `bun:"rel:belongs-to,join:recipient_id=id" subject:"path"`
	Body          string  `bun:"body" pii:"communication,via:Sender"`
	Folder        string  `bun:"folder" pii:"behavioral,via:Recipient"`
	Lang          string  `bun:"lang"`
}

// attachment is a part of a message. It belongs to the sender of the message.
type attachment struct {
	bun.BaseModel `bun:"table:attachments" subject:"owned"`
	ID            int64    `bun:"id,pk"`
	MessageID     int64    `bun:"message_id"`
	Message       *message `bun:"rel:belongs-to,join:message_id=id"`
	Name          string   `bun:"name" pii:"communication,via:Sender"`
}

// purchase belongs to two people. The account of the seller is retained, and the address of the buyer is anonymized.
type purchase struct {
	bun.BaseModel `bun:"table:purchases"`
	ID            int64     `bun:"id,pk"`
	BuyerID       int64     `bun:"buyer_id"`
	Buyer         *trader   `bun:"rel:belongs-to,join:buyer_id=id" subject:"path"`
	SellerID      int64     `bun:"seller_id"`
	Seller        *trader   `bun:"rel:belongs-to,join:seller_id=id" subject:"path"`
	Address       string    `bun:"address" pii:"location,via:Buyer"`
	Account       string    `bun:"account" pii:"financial,erasure:retain,reason:'books',retain:10y,since:sold_at,via:Seller"`
	Rating        string    `bun:"rating" pii:"behavioral,via:'Buyer,Seller'"`
	SoldAt        time.Time `bun:"sold_at"`
}

// follow is a link between two people. An erasure of either person deletes it.
type follow struct {
	bun.BaseModel `bun:"table:follows"`
	FollowerID    int64   `bun:"follower_id,pk"`
	Follower      *trader `bun:"rel:belongs-to,join:follower_id=id" subject:"path,erasure:delete"`
	FollowedID    int64   `bun:"followed_id,pk"`
	Followed      *trader `bun:"rel:belongs-to,join:followed_id=id" subject:"path,erasure:delete"`
	Since         string  `bun:"since"`
}

// report is about a trader or about a purchase.
type report struct {
	bun.BaseModel `bun:"table:reports"`
	ID            int64     `bun:"id,pk"`
	SubjectType   string    `bun:"subject_type"`
	SubjectID     int64     `bun:"subject_id"`
	Member        *trader   `bun:"rel:belongs-to,join:subject_id=id" subject:"path,erasure:delete,when:'subject_type=trader'"`
	Purchase      *purchase `bun:"rel:belongs-to,join:subject_id=id" subject:"path,when:'subject_type=purchase'"`
	Text          string    `bun:"text" pii:"communication,via:'Member,Purchase.Buyer'"`
}

// belongs is the link table between members and groups. The table of groups is not in the data map.
type belongs struct {
	bun.BaseModel `bun:"table:group_members" subject:"owned"`
	MemberID      int64  `bun:"member_id,pk"`
	GroupID       int64  `bun:"group_id,pk"`
	Role          string `bun:"role" pii:"behavioral"`
}

var market = []any{
	(*trader)(nil), (*message)(nil), (*attachment)(nil), (*purchase)(nil), (*follow)(nil), (*report)(nil), (*belongs)(nil),
}

// marketTables returns the statements that create the tables and rows of the members 1, 2 and 3. Some purchases have
// the same ids as members. An operation that confuses purchases with members would therefore fail the tests.
func marketTables() []string {
	return []string{
		"CREATE TABLE market_members (id bigint PRIMARY KEY, email text)",
		"CREATE TABLE messages (id bigint PRIMARY KEY, sender_id bigint REFERENCES market_members," +
			" recipient_id bigint NOT NULL REFERENCES market_members, body text, folder text, lang text)",
		"CREATE TABLE attachments (id bigint PRIMARY KEY, message_id bigint REFERENCES messages, name text, size bigint)",
		"CREATE TABLE purchases (id bigint PRIMARY KEY, buyer_id bigint REFERENCES market_members," +
			" seller_id bigint REFERENCES market_members, address text, account text, rating text, sold_at timestamp)",
		"CREATE TABLE follows (follower_id bigint, followed_id bigint, since text, PRIMARY KEY (follower_id, followed_id))",
		"CREATE TABLE reports (id bigint PRIMARY KEY, subject_type text, subject_id bigint, text text)",
		"CREATE TABLE group_members (member_id bigint, group_id bigint, role text, PRIMARY KEY (member_id, group_id))",
		"INSERT INTO market_members VALUES (1, 'a'), (2, 'b'), (3, 'c')",
		"INSERT INTO messages VALUES (1, 1, 2, 'body', 'folder', 'en'), (2, 2, 1, 'body', 'folder', 'en')," +
			" (3, 1, 1, 'body', 'folder', 'en'), (4, 2, 3, 'body', 'folder', 'en')",
		"INSERT INTO attachments VALUES (1, 1, 'name', 9), (2, 2, 'name', 9), (3, 3, 'name', 9), (4, 4, 'name', 9)",
		"INSERT INTO purchases VALUES (1, 2, 3, 'address', 'account', 'rating', '2026-01-02 03:04:05')," +
			" (2, 1, 2, 'address', 'account', 'rating', '2026-01-02 03:04:05')," +
			" (3, 2, 1, 'address', 'account', 'rating', '2001-01-02 03:04:05')",
		"INSERT INTO follows VALUES (1, 2, 'x'), (2, 1, 'x'), (1, 1, 'x'), (2, 3, 'x')",
		"INSERT INTO reports VALUES (1, 'trader', 1, 'text'), (2, 'purchase', 1, 'text'), (3, 'purchase', 2, 'text')," +
			" (4, 'trader', 2, 'text'), (5, 'Member', 1, 'text')",
		"INSERT INTO group_members VALUES (1, 1, 'x'), (2, 1, 'x')",
	}
}
