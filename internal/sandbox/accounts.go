package sandbox

// Accounts have the numbers that GitHub gave them, where everybody can see them: what is told apart by number on GitHub
// must be here, too.

import "strings"

// accountID is the number of an account: GitHub's, or else one that is derived from the login, always the same one and
// another for each login.
func accountID(login string) int64 {
	login = strings.ToLower(login)
	if id, isKnown := knownAccountIDs[login]; isKnown {
		return id
	}
	var id int64 = 7
	for _, c := range login {
		id = (id*31 + int64(c)) % 1_000_000_007
	}
	return id
}

// knownAccountIDs are the numbers that GitHub gave to the accounts of Apps that review, by login.
var knownAccountIDs = map[string]int64{
	"amazon-q-developer[bot]":            208079219,
	"augmentcode[bot]":                   185243770,
	"bito-code-review[bot]":              188872107,
	"chatgpt-codex-connector[bot]":       199175422,
	"claude[bot]":                        209825114,
	"codeant-ai[bot]":                    151821869,
	"coderabbitai[bot]":                  136622811,
	"copilot-pull-request-reviewer[bot]": 175728472,
	"cubic-dev-ai[bot]":                  191113872,
	"cursor[bot]":                        206951365,
	"devin-ai-integration[bot]":          158243242,
	"ellipsis-dev[bot]":                  65095814,
	"gemini-code-assist[bot]":            176961590,
	"github-actions[bot]":                41898282,
	"greptile-apps[bot]":                 165735046,
	"kilo-code-bot[bot]":                 240665456,
	"kody-ai[bot]":                       148880201,
	"pullfrog[bot]":                      226033991,
	"qodo-code-review[bot]":              151058649,
	"sourcery-ai[bot]":                   58596630,
}
