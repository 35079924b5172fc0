package datamap_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/internal/words"
)

// cell returns a data map with one table. The table has the key column id, the given columns and the given Table.Owned.
func cell(owned bool, columns ...datamap.Column) (datamap.DataMap, error) {
	return datamap.NewDataMap(datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"}, Owned: owned,
		Columns: append([]datamap.Column{column("id", datamap.TypeBigInt)}, columns...),
	})
}

func TestDeleteIsRefusedWhereTheRowStays(t *testing.T) {
	const owned, erase = `mark the table with subject:"owned"`, "set erasure:erase for the columns that keep the row"
	theme := column("theme", datamap.TypeText)
	phone := func(strategy domain.Strategy) []datamap.Column {
		return []datamap.Column{contact("phone", strategy)}
	}
	for name, c := range map[string]struct {
		owned    bool
		others   []datamap.Column
		says     string   // the message; empty if the erasure deletes the row
		remedies []string // the remedies for the row
	}{
		"not annotated":         {false, []datamap.Column{theme}, "theme (not annotated)", []string{owned}},
		"not annotated, owned":  {true, []datamap.Column{theme}, "", nil},
		"anonymized":            {true, phone(domain.StrategyAnonymize), "phone (anonymized)", []string{erase}},
		"anonymized, not owned": {false, phone(domain.StrategyAnonymize), "phone (anonymized)", []string{erase}},
		"anonymized and not annotated": {
			false, append(phone(domain.StrategyAnonymize), theme), "phone (anonymized), theme (not annotated)",
			[]string{owned, erase},
		},
		"set to NULL":            {true, phone(domain.StrategyNull), "phone (set to NULL)", []string{erase}},
		"retained":               {true, phone(domain.StrategyRetain), "phone (retained)", []string{erase}},
		"erased":                 {false, phone(domain.StrategyErase), "", nil},
		"erased, saying nothing": {false, phone(""), "", nil},
		"deleted":                {false, phone(domain.StrategyDelete), "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			for _, other := range c.others {
				if other.Personal != nil && other.Personal.Strategy == domain.StrategyRetain {
					other.Personal.Reason = "duty"
				}
			}
			m, err := cell(c.owned, append([]datamap.Column{contact("email", domain.StrategyDelete)}, c.others...)...)
			if c.says == "" {
				if err != nil || !m.SubjectTable().RowsDeleted() {
					t.Errorf("got %v", err)
				}
				return
			}
			wantManifestError(t, err, "users.email")
			problem := domain.Problems(err)[0]
			if !strings.Contains(problem.Message, c.says) || !slices.Contains(problem.Possible, "erase") {
				t.Errorf("got %+v", problem)
			}
			for _, remedy := range []string{owned, erase} {
				if strings.Contains(problem.Remedy, remedy) != slices.Contains(c.remedies, remedy) {
					t.Errorf("the remedy is %q", problem.Remedy)
				}
			}
		})
	}
}

func TestAnInstantNamedLikeASecretNeedNotSetExport(t *testing.T) {
	sent := contact("reset_password_sent_at", domain.StrategyErase)
	if _, err := cell(true, sent); err == nil {
		t.Error("a text named like a secret is accepted")
	}
	sent.Type = datamap.TypeTime
	if _, err := cell(true, sent); err != nil {
		t.Error(err)
	}
}

func TestAColumnNamedLikeASecretMustSetExport(t *testing.T) {
	for name, secret := range map[string]bool{
		"password": true, "Password": true, "passwords": true, "encrypted_password": true, "passwordHash": true,
		"secret": true, "client_secret": true, "clientsecret": true, "secrets": true,
		"token": true, "resetToken": true, "tokens": true, "tokenized": true, "TOKEN": true, "token2": true,
		"recovery": true, "recovery_codes": true, "recoverycode": true, "recovery_kit": true, "account_recovery": true,
		"recovery_token": true, "recovery_key": true, "recovery_share_key": true, "recovery_share": true,
		"recoveryTweet": false, "recovery_story": false,
		"hash": true, "pwhash": true, "hashes": true, "sha_hash": true, "hash_of_card": true,
		"otp": true, "totp": true, "otp_seed": true, "totps": true, "otp1": true,
		"key": true, "apikey": true, "APIKey": true, "apiKey": true, "KeyID": true, "ssh_keys": true, "private-key": true,
		"hashtag": false, "keyboard": false, "option": false, "keynote": false, "hotplate": false,
		"email": false, "pass": false, "note": false, "rehashed": false, "optional": false, "secre_t": false,
	} {
		secretive := contact(name, domain.StrategyErase)
		if words.IsSecret(name) != secret {
			t.Errorf("%s sounds secret: %v", name, !secret)
		}
		_, err := cell(true, secretive)
		if (err != nil) != secret {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && !slices.Equal(domain.Problems(err)[0].Possible, []string{"export:no", "export:yes"}) {
			t.Errorf("%s: %v", name, err)
		}
		for _, said := range []datamap.Export{datamap.ExportYes, datamap.ExportNo} {
			secretive.Personal.Export = said
			if _, err := cell(true, secretive); err != nil {
				t.Errorf("%s with export:%s: %v", name, said, err)
			}
		}
		secretive.Personal.Export = "maybe"
		if _, err := cell(true, secretive); err == nil || !strings.Contains(err.Error(), "possible: yes, no") {
			t.Errorf("%s with export:maybe: %v", name, err)
		}
		if _, err := cell(true, column(name, datamap.TypeText)); err != nil {
			t.Errorf("%s, which is not annotated: %v", name, err)
		}
	}
}

func TestColumnsWithExportNoAreNotExported(t *testing.T) {
	hash := contact("password_hash", "")
	hash.Personal.Export = datamap.ExportNo
	m, err := cell(true, contact("email", ""), hash, column("theme", datamap.TypeText))
	if err != nil {
		t.Fatal(err)
	}
	if got := m.SubjectTable().Exported(); len(got) != 1 || got[0].Name != "email" {
		t.Errorf("got %+v", got)
	}
	if got := m.SubjectTable().Personal(); len(got) != 2 {
		t.Errorf("got %+v", got)
	}
}

func TestASecretInAKeyIsRefusedOrNoticed(t *testing.T) {
	passes := func(token, user *datamap.Annotation) datamap.DataMap {
		m := fixture.MustMap(t,
			datamap.Table{Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"}, Columns: []datamap.Column{
				column("id", datamap.TypeBigInt), contact("email", ""),
			}},
			datamap.Table{
				Name: "passes", PrimaryKey: []string{"token", "user_id"}, Owned: true,
				Columns: []datamap.Column{
					{Name: "token", Type: datamap.TypeText, Personal: token},
					{Name: "user_id", Type: datamap.TypeBigInt, Personal: user},
					contact("note", ""),
				},
				Relations: []datamap.Relation{{
					Columns: []string{"user_id"}, References: "users", ReferencedColumns: []string{"id"},
				}},
			},
		)
		return m
	}
	said := func(export datamap.Export) *datamap.Annotation {
		return &datamap.Annotation{Category: domain.CategoryTechnical, Export: export}
	}
	for name, c := range map[string]struct {
		said, ofUser *datamap.Annotation
		named        bool
		notices      int
	}{
		"nothing":                   {nil, nil, true, 1},
		"yes":                       {said(datamap.ExportYes), nil, true, 0},
		"no":                        {said(datamap.ExportNo), nil, false, 0},
		"no to the rest of the key": {nil, said(datamap.ExportNo), false, 0},
	} {
		m := passes(c.said, c.ofUser)
		table, _ := m.Table("passes")
		notices := m.Notices()
		if table.NamesRowsByKey() != c.named || len(notices) != c.notices {
			t.Errorf("%s: named %v, notices %v", name, table.NamesRowsByKey(), notices)
		}
		for _, notice := range notices {
			if notice.Table != "passes" || notice.Column != "token" {
				t.Errorf("%s: got %v", name, notice)
			}
		}
	}
}

func TestASurrogateThatIsNeverWrittenIsANotice(t *testing.T) {
	for name, c := range map[string]struct {
		owned    bool
		strategy domain.Strategy
		refused  bool
		notices  int
	}{
		"a row that is deleted":       {true, domain.StrategyErase, false, 1},
		"a row that stays":            {false, domain.StrategyErase, true, 0},
		"a cell that keeps its row":   {true, domain.StrategyAnonymize, true, 0},
		"NULL in a row that is kept":  {true, domain.StrategyNull, true, 0},
		"a row deleted by its column": {true, domain.StrategyDelete, false, 1},
	} {
		login := contact("login", c.strategy)
		login.Length, login.Surrogate = 4, "far too long"
		m, err := datamap.NewDataMap(datamap.Table{
			Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"}, Owned: c.owned,
			Columns: []datamap.Column{column("id", datamap.TypeBigInt), login, column("theme", datamap.TypeText)},
		})
		if (err != nil) != c.refused {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err == nil && len(m.Notices()) != c.notices {
			t.Errorf("%s: notices %v", name, m.Notices())
		}
	}
}

func TestAConstantIsFilledWithTheDigitsOfTheCell(t *testing.T) {
	const digits = "0123456789abcdef0123456789abcdef"
	text, number := datamap.TypeText, datamap.TypeNumber
	for name, c := range map[string]struct {
		column   datamap.Column
		constant string
		ok       bool
		digits   int
		filled   string
		unique   bool
	}{
		"none":                {datamap.Column{Type: text}, "", false, 0, "", true},
		"none, short":         {datamap.Column{Type: text, Length: 7}, "", false, 0, "", false},
		"none, long enough":   {datamap.Column{Type: text, Length: 8}, "", false, 0, "", true},
		"none, a UUID":        {datamap.Column{Type: datamap.TypeUUID}, "", false, 0, "", true},
		"none, a number":      {datamap.Column{Type: number}, "", false, 0, "", false},
		"a constant":          {datamap.Column{Type: text, Surrogate: "gone"}, "gone", true, 0, "gone", false},
		"the empty text":      {datamap.Column{Type: text, Surrogate: datamap.EmptySurrogate}, "", true, 0, "", false},
		"a placeholder alone": {datamap.Column{Type: text, Surrogate: "{}"}, "{}", true, 0, "{}", false},
		"not in a text": {
			datamap.Column{Type: datamap.TypeJSON, Surrogate: `{"a":{}}`},
			`{"a":{}}`, true, 0, `{"a":{}}`, false,
		},
		"a placeholder": {
			datamap.Column{Type: text, Surrogate: "{}@erased.invalid"},
			"{}@erased.invalid", true, 32,
			digits + "@erased.invalid", true,
		},
		"two placeholders": {datamap.Column{Type: text, Surrogate: "{}.{}"}, "{}.{}", true, 32, digits + "." + digits, true},
		"a placeholder in a short column": {
			datamap.Column{Type: text, Surrogate: "{}@é.de", Length: 14}, "{}@é.de", true, 9, "012345678@é.de", true,
		},
		"two in a short column": {
			datamap.Column{Type: text, Surrogate: "{}@{}", Length: 20}, "{}@{}", true, 9, "012345678@012345678", true,
		},
	} {
		constant, ok := c.column.Constant()
		if constant != c.constant || ok != c.ok || c.column.Digits() != c.digits || c.column.Filled(digits) != c.filled ||
			c.column.Unique() != c.unique {
			t.Errorf("%s: got %q, %v, %d digits, %q, unique %v", name, constant, ok, c.column.Digits(),
				c.column.Filled(digits), c.column.Unique())
		}
	}
}

func TestASurrogateThatCannotBeWrittenIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		columnType datamap.ColumnType
		surrogate  string
		length     int
		strategy   domain.Strategy
		refused    bool
	}{
		"as long as the column":             {datamap.TypeText, "göne", 4, "anonymize", false},
		"longer than the column":            {datamap.TypeText, "göne.", 4, "anonymize", true},
		"the empty text":                    {datamap.TypeText, datamap.EmptySurrogate, 1, "anonymize", false},
		"the empty text in bytes":           {datamap.TypeBytes, datamap.EmptySurrogate, 0, "anonymize", false},
		"the empty text in a number":        {datamap.TypeNumber, datamap.EmptySurrogate, 0, "anonymize", true},
		"room for eight digits":             {datamap.TypeText, "{}@x", 10, "anonymize", false},
		"room for seven digits":             {datamap.TypeText, "{}@x", 9, "anonymize", true},
		"room for no digits":                {datamap.TypeText, "{}@erased.invalid", 4, "anonymize", true},
		"a surrogate for NULL":              {datamap.TypeText, "gone", 0, "null", true},
		"the empty text for NULL":           {datamap.TypeText, datamap.EmptySurrogate, 0, "null", true},
		"no surrogate for NULL":             {datamap.TypeText, "", 0, "null", false},
		"a surrogate that may not be used":  {datamap.TypeText, "gone", 0, "erase", false},
		"a surrogate that is much too long": {datamap.TypeText, "gone for ever", 4, "erase", true},
	} {
		annotated := contact("email", c.strategy)
		annotated.Type, annotated.Surrogate, annotated.Length = c.columnType, c.surrogate, c.length
		_, err := cell(false, annotated, column("theme", datamap.TypeText))
		if (err != nil) != c.refused {
			t.Errorf("%s: %v", name, err)
		}
		if c.refused {
			wantManifestError(t, err, "users.email")
		}
	}
}
