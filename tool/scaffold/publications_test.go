package scaffold_test

import "testing"

func TestPublicationsOutliveTheirAuthor(t *testing.T) {
	for columns, wantOwned := range map[string]bool{
		"author_id>users, slug!, published_at:time?, title, content": false,
		"author_id>users, slug!, published:boolean, content":         false,
		"author_id>users, slug!, content":                            true,
		"author_id>users, slug, published_at:time?, content":         true,
		"author_id>users, published_at:time?, content":               true,
	} {
		p := propose(t, schema(users+"news_articles: id*, "+columns))
		mapped, isMapped := p.dataMap.Table("news_articles")
		if isMapped != wantOwned || mapped.Owned != wantOwned {
			t.Errorf("%s: the steps are %v", columns, p.steps())
		}
		if asked := p.questionsAbout("news_articles", "own rows?"); len(asked) != 1 && !wantOwned {
			t.Errorf("%s: asked %v", columns, p.Decisions)
		}
	}
}

func TestPostsOfMembersAreTheirs(t *testing.T) {
	p := propose(t, schema(users+"posts: id*, author_id>users, slug!, published_at:time?, title, content"))
	if mapped, _ := p.dataMap.Table("posts"); !mapped.Owned {
		t.Errorf("the steps are %v", p.steps())
	}
}

func TestTheOnlyRowWithFurtherDataOfAPersonIsTakenIn(t *testing.T) {
	for line, want := range map[string]bool{
		"user_data: id*, user_id!>users, stripe_customer_id:text?, bio?":                       true,
		"user_data: id*, user_id>users, stripe_customer_id:text?, bio?":                        false,
		"user_data: id*, user_id!?>users, stripe_customer_id:text?, bio?":                      false,
		"user_data: id*, user_id!>users, shop_id>shops, stripe_customer_id:text?, phone?":      false,
		"shop_plans: id*, user_id!>users, stripe_customer_id:text?, phone?":                    false,
		"user_billings: id*, user_id!>users, stripe_customer_id:text?, phone?, amount:integer": true,
	} {
		p := propose(t, schema(users+"shops: id*, title\n"+line))
		table := schema(line).Tables[0].Name
		mapped, isMapped := p.dataMap.Table(table)
		if isMapped != want || mapped.Owned {
			t.Errorf("%s: the steps are %v, asked %v", line, p.steps(), p.Decisions)
		}
		if want && p.column(t, table+".stripe_customer_id").Personal == nil {
			t.Errorf("%s: the means of payment stays", line)
		}
	}
}
