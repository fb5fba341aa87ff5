package sandbox

// Accounts have the numbers that GitHub gave them, where everybody can see them: what is told apart by number on GitHub must be
// here, too.

import "strings"

// accountID is the number of an account: GitHub's, or else one that is derived from the login, always the same one and another
// for each login.
func accountID(login string) int64 {
	login = strings.ToLower(login)
	if id := knownAccountID(login); id != 0 {
		return id
	}
	var id int64 = 7
	for _, c := range login {
		id = (id*31 + int64(c)) % 1_000_000_007
	}
	return id
}

// knownAccountID is the number that GitHub gave to the account of an App that reviews; 0 of all others.
func knownAccountID(login string) int64 {
	switch login {
	case "amazon-q-developer[bot]":
		return 208079219
	case "augmentcode[bot]":
		return 185243770
	case "bito-code-review[bot]":
		return 188872107
	case "chatgpt-codex-connector[bot]":
		return 199175422
	case "claude[bot]":
		return 209825114
	case "codeant-ai[bot]":
		return 151821869
	case "coderabbitai[bot]":
		return 136622811
	case "copilot-pull-request-reviewer[bot]":
		return 175728472
	case "cubic-dev-ai[bot]":
		return 191113872
	case "cursor[bot]":
		return 206951365
	case "devin-ai-integration[bot]":
		return 158243242
	case "ellipsis-dev[bot]":
		return 65095814
	case "gemini-code-assist[bot]":
		return 176961590
	case "github-actions[bot]":
		return 41898282
	case "greptile-apps[bot]":
		return 165735046
	case "kilo-code-bot[bot]":
		return 240665456
	case "kody-ai[bot]":
		return 148880201
	case "pullfrog[bot]":
		return 226033991
	case "qodo-code-review[bot]":
		return 151058649
	case "sourcery-ai[bot]":
		return 58596630
	}
	return 0
}
