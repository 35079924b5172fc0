package names

import (
	"slices"
	"strings"
)

// providers are names of providers of identities, also in their short forms.
var providers = strings.Fields(`
	apple auth0 azure bitbucket clerk cognito discord entra facebook fb firebase gh github gitlab google ig instagram
	kakao keycloak ldap linkedin microsoft naver oidc okta qq saml slack spotify sso steam telegram tg twitch twitter vk
	wechat workos wx yahoo yandex`)

// providerIDs match the names of columns with the id of a person at a provider, such as gh_id and slack_user_id.
var providerIDs = func() []pattern {
	var list []pattern
	for _, provider := range providers {
		for _, id := range []string{"id", "uid", "user id", "user uid", "account id", "openid", "sub"} {
			list = append(list, append(pattern{provider}, strings.Fields(id)...))
		}
	}
	return list
}()

// MeansRelative reports whether the name of a reference column in a table of people suggests another row of the table,
// such as manager_user_id and invited_by. It returns false for an id at a provider, such as slack_user_id.
func MeansRelative(column string) bool {
	stem, _ := Stem(column)
	if IsRole(stem) {
		return true
	}
	parts := partsOf(stem)
	if len(parts) > 1 && IsPeople(stem) {
		parts = parts[:len(parts)-1]
	}
	rest := strings.Join(parts, " ")
	return roleOf(rest) != Other && !IsPeople(rest) || slices.ContainsFunc(parts, func(part string) bool {
		return slices.ContainsFunc(relatives, func(p pattern) bool { return matchesWord(part, p[0]) })
	})
}

// relatives are words for another row of a table of people.
var relatives = patterns(`
	parent, child, manager, supervisor, boss, lead, referrer, referred, referring, sponsor, mentor, guardian, spouse,
	father, mother, merged, merge, duplicate, original, canonical, primary, master, main, replaced, replacement,
	successor, substitute, deputy, delegate, impersonator, impersonated, linked, partner, previous, next, root`)
