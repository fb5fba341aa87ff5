//go:build !action

package main

// What people type wrongly. Each mistake gets one line that names it, and where something helps a line that tells what;
// none of them asks GitHub for anything, and none ends well.

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A mistake is a command line, its environment and its standard input, and what the program answers.
type mistake struct {
	args  string
	env   string // NAME=VALUE, with blanks between them; FOLDER is where the person stands
	stdin string
	code  int
	says  string // after "coordinator: "; several lines where several things are wrong
	hint  string // one that ends with … goes on
}

var mistakes = []mistake{
	// Commands, flags and values.
	{
		args: "rum", code: 2,
		says: `there is no command "rum", did you mean "run"?`,
		hint: "coordinator --help shows how it is used",
	},
	{
		args: "exlain octo/shop#7", code: 2,
		says: `there is no command "exlain", did you mean "explain"?`,
		hint: "coordinator --help shows how it is used",
	},
	{
		args: "nonsense", code: 2,
		says: `there is no command "nonsense"`,
		hint: "coordinator --help shows how it is used",
	},
	{
		args: "7", code: 2,
		says: `there is no command "7"`,
		hint: "to ask about a pull request: coordinator explain 7",
	},
	{
		args: "octo/shop#7", code: 2,
		says: `there is no command "octo/shop#7"`,
		hint: "to ask about a pull request: coordinator explain octo/shop#7",
	},
	{
		args: "help nonsense", code: 2,
		says: `there is no command "nonsense"`,
		hint: "coordinator --help shows how it is used",
	},
	{
		args: "config", code: 2,
		says: "config needs a word more: one of check, schema",
		hint: "coordinator config --help shows how it is used",
	},
	{
		args: "config chekc", code: 2,
		says: `there is no command "config chekc", did you mean "check"?`,
		hint: "coordinator config --help shows how it is used",
	},
	{
		args: "config check a.yml b.yml", code: 2,
		says: `"b.yml" is one argument too many: config check takes 1`,
		hint: "coordinator config check --help shows how it is used",
	},
	{
		args: "verdict", code: 2,
		says: "verdict needs a word more: one of make, check, schema",
		hint: "coordinator verdict --help shows how it is used",
	},
	{
		args: "verdict chek x", code: 2,
		says: `there is no command "verdict chek", did you mean "check"?`,
		hint: "coordinator verdict --help shows how it is used",
	},
	{
		args: "--nonsense", code: 2,
		says: "unknown flag --nonsense",
		hint: "coordinator --help shows how it is used",
	},
	{
		args: "run -x", code: 2,
		says: "unknown flag -x",
		hint: "coordinator run --help shows how it is used",
	},
	{
		args: "run --dryrun", code: 2,
		says: `unknown flag --dryrun, did you mean "--dry-run"?`,
		hint: "coordinator run --help shows how it is used",
	},
	{
		args: "run --repo", code: 2,
		says: "--repo has no value",
		hint: "coordinator run --help shows how it is used",
	},
	{
		args: "run --repo --pr 7", code: 2,
		says: "--repo has no value: --pr is the next flag",
		hint: "a value that begins with - is written --repo=VALUE",
	},
	{
		args: "run --hold soon", code: 2,
		says: `--hold "soon" is no duration`,
		hint: "write it as 90s, 15m or 2h",
	},
	{
		args: "run --hold 15", code: 2,
		says: "--hold 15 has no unit",
		hint: "write it with a unit: 15s or 15m",
	},
	{
		args: "run --hold -5m", code: 2,
		says: "--hold -5m is below zero",
		hint: "coordinator run --help shows how it is used",
	},
	{
		args: "run --hold=-5m --pr 7", code: 2,
		says: "--hold -5m0s is below zero",
		hint: "leave it out for 15m; 0s stays for nothing",
	},
	{
		args: "run --poll 0s --pr 7", code: 2,
		says: "--poll 0s is not above zero",
		hint: "leave it out for 15s",
	},
	{
		args: "run --poll 2d", code: 2,
		says: `--poll "2d" is no duration`,
		hint: "write it as 90s, 15m or 2h",
	},
	{
		args: "run --dry-run=maybe", code: 2,
		says: `--dry-run "maybe" is neither true nor false`,
		hint: "--dry-run alone says yes; leave it out for no",
	},
	{
		args: "sweep --limit x", code: 2,
		says: `--limit "x" is no number`,
		hint: "coordinator sweep --help shows how it is used",
	},
	{
		args: "sweep --limit 0 --repo octo/shop", code: 2,
		says: "--limit must be positive",
		hint: "leave it out for the policy's sweep.limit",
	},
	{
		args: "sweep --limit -3", code: 2,
		says: "--limit -3 is below zero",
		hint: "coordinator sweep --help shows how it is used",
	},
	{
		args: "sweep --limit 99999999999999999999", code: 2,
		says: "--limit 99999999999999999999 is too large",
		hint: "coordinator sweep --help shows how it is used",
	},
	{
		args: "sweep octo/shop", code: 2,
		says: `sweep takes no argument, and "octo/shop" is one`,
		hint: "--repo names the repository: coordinator sweep --repo octo/shop",
	},
	{
		args: "classify nowhere.md", code: 2,
		says: "open nowhere.md: no such file or directory",
		hint: "is the path right, seen from this folder?",
	},
	{
		args: "version 2", code: 2,
		says: `version takes no argument, and "2" is one`,
		hint: "coordinator version --help shows how it is used",
	},
	{
		args: "run --fail-on passed", code: 2,
		says: `--fail-on "passed" is no verdict to fail on`,
		hint: "write blocked, unverified or blocked,unverified",
	},
	{
		args: "run --fail-on blocked,never", code: 2,
		says: `--fail-on "never" is no verdict to fail on`,
		hint: "write blocked, unverified or blocked,unverified",
	},
	{
		args: "simulate", code: 2,
		says: "simulate: <file> ... is missing",
		hint: "for example: coordinator simulate bad-day.txt --check",
	},

	// Pull requests and repositories.
	{
		args: "explain", env: "GITHUB_TOKEN=t", code: 2,
		says: "explain: <pull-request> is missing",
		hint: "for example: coordinator explain octo/shop#7",
	},
	{
		args: "explain 7 8", env: "GITHUB_TOKEN=t", code: 2,
		says: `"8" is one argument too many: explain takes 1`,
		hint: "coordinator explain --help shows how it is used",
	},
	{
		args: "explain seven", env: "GITHUB_TOKEN=t", code: 2,
		says: `"seven" is no pull request`,
		hint: "write it as 7, octo/shop#7, or its address: https://github.com/octo/shop/pull/7",
	},
	{
		args: "explain 0", env: "GITHUB_TOKEN=t", code: 2,
		says: `"0" is no pull request: they are counted from 1`,
		hint: "write it as 7, octo/shop#7, or its address: https://github.com/octo/shop/pull/7",
	},
	{
		args: "explain #0", env: "GITHUB_TOKEN=t", code: 2,
		says: `"#0" is no pull request: they are counted from 1`,
		hint: "write it as 7, octo/shop#7, or its address: https://github.com/octo/shop/pull/7",
	},
	{
		args: "explain 12345678901", env: "GITHUB_TOKEN=t", code: 2,
		says: `"12345678901" is no pull request`,
		hint: "write it as 7, octo/shop#7, or its address: https://github.com/octo/shop/pull/7",
	},
	{
		args: "explain octo/shop", env: "GITHUB_TOKEN=t", code: 2,
		says: `"octo/shop" is no pull request`,
		hint: "write it as 7, octo/shop#7, or its address: https://github.com/octo/shop/pull/7",
	},
	{
		args: "explain octo/shop#", env: "GITHUB_TOKEN=t", code: 2,
		says: `"octo/shop#" is no pull request`,
		hint: "write it as 7, octo/shop#7, or its address: https://github.com/octo/shop/pull/7",
	},
	{
		args: "explain octo/shop!7", env: "GITHUB_TOKEN=t", code: 2,
		says: `"octo/shop!7" is no pull request`,
		hint: "write it as 7, octo/shop#7, or its address: https://github.com/octo/shop/pull/7",
	},
	{
		args: "explain octo/shop/issues/7", env: "GITHUB_TOKEN=t", code: 2,
		says: `"octo/shop/issues/7" is an issue's address`,
		hint: "a pull request's has /pull/ where this has /issues/",
	},
	{
		args: "explain https://github.com/octo/shop/issues/7", env: "GITHUB_TOKEN=t", code: 2,
		says: `"https://github.com/octo/shop/issues/7" is an issue's address`,
		hint: "a pull request's has /pull/ where this has /issues/",
	},
	{
		args: "explain https://github.com/octo/shop", env: "GITHUB_TOKEN=t", code: 2,
		says: `"https://github.com/octo/shop" is no pull request`,
		hint: "write it as 7, octo/shop#7, or its address: https://github.com/octo/shop/pull/7",
	},
	{
		args: "explain https://gitlab.com/octo/shop/-/merge_requests/7", env: "GITHUB_TOKEN=t", code: 2,
		says: `"https://gitlab.com/octo/shop/-/merge_requests/7" is at gitlab.com and not at github.com`,
		hint: "the token is for github.com; of a GitHub Enterprise Server, set GITHUB_API_URL to https://HOST/api/v3",
	},
	{
		args: "explain https://git.example.org/octo/shop/pull/7", env: "GITHUB_TOKEN=t", code: 2,
		says: `"https://git.example.org/octo/shop/pull/7" is at git.example.org and not at github.com`,
		hint: "the token is for github.com; of a GitHub Enterprise Server, set GITHUB_API_URL to https://HOST/api/v3",
	},
	{
		args: "explain ftp://github.com/octo/shop/pull/7", env: "GITHUB_TOKEN=t", code: 2,
		says: `"ftp://github.com/octo/shop/pull/7" is no pull request`,
		hint: "write it as 7, octo/shop#7, or its address: https://github.com/octo/shop/pull/7",
	},
	{
		args: "explain 7", env: "GITHUB_TOKEN=t", code: 2,
		says: "no repository: there is no --repo, no GITHUB_REPOSITORY, and no clone whose origin is on github.com",
		hint: "coordinator explain 7 --repo OWNER/NAME",
	},
	{
		args: "explain #7", env: "GITHUB_TOKEN=t", code: 2,
		says: "no repository: there is no --repo, no GITHUB_REPOSITORY, and no clone whose origin is on github.com",
		hint: "coordinator explain #7 --repo OWNER/NAME",
	},
	{
		args: "explain 7 --repo shop", env: "GITHUB_TOKEN=t", code: 2,
		says: `"shop" is no repository`,
		hint: "write it as OWNER/NAME: --repo octo/shop",
	},
	{
		args: "explain octo/shop#7 --repo octo/cart", env: "GITHUB_TOKEN=t", code: 2,
		says: "--repo octo/cart is not the repository of octo/shop#7",
		hint: "leave out --repo: the pull request names its own",
	},
	{
		args: "explain --pr 7", env: "GITHUB_TOKEN=t", code: 2,
		says: "explain has no flag --pr",
		hint: "name the pull request itself: coordinator explain OWNER/NAME#N",
	},
	{
		args: "run", env: "GITHUB_TOKEN=t", code: 2,
		says: "no pull request: none is named, and there is no event",
		hint: "coordinator run OWNER/NAME#N",
	},
	{
		args: "run 7", env: "GITHUB_TOKEN=t", code: 2,
		says: "no repository: there is no --repo, no GITHUB_REPOSITORY, and no clone whose origin is on github.com",
		hint: "coordinator run 7 --repo OWNER/NAME",
	},
	{
		args: "run 7 --pr 8", env: "GITHUB_TOKEN=t", code: 2,
		says: "a pull request is given, and --pr, too",
		hint: "keep one of them",
	},
	{
		args: "run --pr 0 --repo octo/shop", env: "GITHUB_TOKEN=t", code: 2,
		says: `"0" is no pull request: they are counted from 1`,
		hint: "write it as 7, octo/shop#7, or its address: https://github.com/octo/shop/pull/7",
	},
	{
		args: "run --pr=", env: "GITHUB_TOKEN=t", code: 2,
		says: `"" is no pull request`,
		hint: "write it as 7, octo/shop#7, or its address: https://github.com/octo/shop/pull/7",
	},
	{
		args: "run --pr x --repo octo/shop", env: "GITHUB_TOKEN=t", code: 2,
		says: `"x" is no pull request`,
		hint: "write it as 7, octo/shop#7, or its address: https://github.com/octo/shop/pull/7",
	},
	{
		args: "sweep", env: "GITHUB_TOKEN=t", code: 2,
		says: "no repository: there is no --repo, no GITHUB_REPOSITORY, and no clone whose origin is on github.com",
		hint: "coordinator sweep --repo OWNER/NAME",
	},
	{
		args: "sweep --repo octo", env: "GITHUB_TOKEN=t", code: 2,
		says: `"octo" is no repository`,
		hint: "write it as OWNER/NAME: --repo octo/shop",
	},
	{
		args: "sweep --repo octo/shop/cart", env: "GITHUB_TOKEN=t", code: 2,
		says: `"octo/shop/cart" is no repository`,
		hint: "write it as OWNER/NAME: --repo octo/shop",
	},
	{
		args: "sweep --repo https://gitlab.com/octo/shop", env: "GITHUB_TOKEN=t", code: 2,
		says: `"https://gitlab.com/octo/shop" is at gitlab.com and not at github.com`,
		hint: "the token is for github.com; of a GitHub Enterprise Server, set GITHUB_API_URL to https://HOST/api/v3",
	},
	{
		args: "sweep --pr 7", env: "GITHUB_TOKEN=t", code: 2,
		says: "sweep has no flag --pr",
		hint: "it looks at all that are open; one pull request: coordinator run OWNER/NAME#N",
	},
	{
		args: "init", env: "GITHUB_TOKEN=t", code: 2,
		says: "no repository: there is no --repo, no GITHUB_REPOSITORY, and no clone whose origin is on github.com",
		hint: "coordinator init --repo OWNER/NAME",
	},
	{
		args: "explain https://github.com/octo/shop/pull/7", env: "GITHUB_TOKEN=t GITHUB_API_URL=https://git.example.org/api/v3", code: 2,
		says: `"https://github.com/octo/shop/pull/7" is at github.com and not at git.example.org`,
		hint: "GITHUB_API_URL names git.example.org: unset it to ask github.com",
	},
	{
		args: "explain 7", env: "GITHUB_TOKEN=t FOLDER=elsewhere", code: 2,
		says: "no repository: there is no --repo, no GITHUB_REPOSITORY, and no clone whose origin is on github.com, but one whose origin is on gitlab.com",
		hint: "coordinator explain 7 --repo OWNER/NAME; for a GitHub Enterprise Server set GITHUB_API_URL=https://HOST/api/v3",
	},
	{
		args: "explain 7", env: "GITHUB_TOKEN=t FOLDER=local", code: 2,
		says: "no repository: there is no --repo, no GITHUB_REPOSITORY, and no clone whose origin is on github.com",
		hint: "coordinator explain 7 --repo OWNER/NAME",
	},
	{
		args: "sweep", env: "GITHUB_TOKEN=t GITHUB_REPOSITORY=shop", code: 2,
		says: `"shop" is no repository`,
		hint: "write it as OWNER/NAME: --repo octo/shop",
	},

	// Policies.
	{
		args: "config check", env: "GITHUB_TOKEN=t", code: 2,
		says: "there is no .github/review-coordinator.yml or .github/review-coordinator.yaml",
		hint: "stand in the root of the clone, or name the file: coordinator config check FILE; coordinator init writes a first one",
	},
	{
		args: "config check nowhere.yml", env: "GITHUB_TOKEN=t", code: 2,
		says: "open nowhere.yml: no such file or directory",
		hint: "is the path right, seen from this folder?",
	},
	{
		args: "config check folder", env: "GITHUB_TOKEN=t", code: 2,
		says: "read folder: is a directory",
		hint: "name a file in that folder",
	},
	{
		args: "config check broken.yml", env: "GITHUB_TOKEN=t", code: 2,
		says: "broken.yml has 2 mistakes",
		hint: "the check asks for action until the policy is mended",
	},
	{
		args: "config check huge.yml", env: "GITHUB_TOKEN=t", code: 2,
		says: "huge.yml has 1 mistake",
		hint: "the check asks for action until the policy is mended",
	},
	{
		args: "config check --policy policy.yml", env: "GITHUB_TOKEN=t", code: 2,
		says: "config check has no flag --policy",
		hint: "name the file itself: coordinator config check FILE",
	},
	{
		args: "config check --config policy.yml", env: "GITHUB_TOKEN=t", code: 2,
		says: "config check has no flag --config",
		hint: "name the file itself: coordinator config check FILE",
	},
	{
		args: "run 7 --policy policy.yml", env: "GITHUB_TOKEN=t", code: 2,
		says: "run has no flag --policy",
		hint: "--config PATH names a policy on the default branch; what a file on this machine would say: coordinator explain PR --policy FILE",
	},
	{
		args: "sweep --policy policy.yml", env: "GITHUB_TOKEN=t", code: 2,
		says: "sweep has no flag --policy",
		hint: "--config PATH names a policy on the default branch; what a file on this machine would say: coordinator explain PR --policy FILE",
	},
	{
		args: "run octo/shop#7 --config /etc/policy.yml", env: "GITHUB_TOKEN=t", code: 2,
		says: `--config "/etc/policy.yml" is no path of a file in the repository`,
		hint: "it is a path on the default branch, as .github/review-coordinator.yml; coordinator explain PR --policy FILE asks what a file on this machine would say",
	},
	{
		args: "run octo/shop#7 --config ../policy.yml", env: "GITHUB_TOKEN=t", code: 2,
		says: `--config "../policy.yml" is no path of a file in the repository`,
		hint: "it is a path on the default branch, as .github/review-coordinator.yml; coordinator explain PR --policy FILE asks what a file on this machine would say",
	},
	{
		args: "sweep --repo octo/shop --config .github/", env: "GITHUB_TOKEN=t", code: 2,
		says: `--config ".github/" is no path of a file in the repository`,
		hint: "it is a path on the default branch, as .github/review-coordinator.yml; coordinator explain PR --policy FILE asks what a file on this machine would say",
	},
	{
		args: "explain octo/shop#7 --policy nowhere.yml", env: "GITHUB_TOKEN=t", code: 2,
		says: "open nowhere.yml: no such file or directory",
		hint: "--policy names a file on this machine; git show origin/main:.github/review-coordinator.yml >FILE writes the one in force",
	},
	{
		args: "explain octo/shop#7 --policy folder", env: "GITHUB_TOKEN=t", code: 2,
		says: "read folder: is a directory",
		hint: "--policy names a file on this machine; git show origin/main:.github/review-coordinator.yml >FILE writes the one in force",
	},
	{
		args: "explain octo/shop#7 --config policy.yml", env: "GITHUB_TOKEN=t", code: 2,
		says: "explain has no flag --config",
		hint: "--policy FILE names a policy file on this machine",
	},
	{
		args: "classify --config policy.yml", env: "GITHUB_TOKEN=t", code: 2,
		says: "classify has no flag --config",
		hint: "--policy FILE names a policy file on this machine",
	},
	{
		args: "classify --policy nowhere.yml", env: "GITHUB_TOKEN=t", code: 2,
		says: "open nowhere.yml: no such file or directory",
		hint: "--policy names a file on this machine; git show origin/main:.github/review-coordinator.yml >FILE writes the one in force",
	},
	{
		args: "classify --policy broken.yml", env: "GITHUB_TOKEN=t", code: 2,
		says: "broken.yml has 2 mistakes",
		hint: "they stand above; a text is read once the file is mended",
	},
	{
		args: "classify --policy several.yml", env: "GITHUB_TOKEN=t", code: 2,
		says: "several.yml has several reviewers",
		hint: "add --reviewer; reviewers of the file: copilot, coderabbit",
	},
	{
		args: "classify --policy several.yml --reviewer gemini", env: "GITHUB_TOKEN=t", code: 2,
		says: `several.yml has no reviewer "gemini"`,
		hint: "reviewers of the file: copilot, coderabbit",
	},
	{
		args: "classify --reviewer copilot", env: "GITHUB_TOKEN=t", code: 2,
		says: "--reviewer is given without --policy",
		hint: "name the policy file in which it stands",
	},
	{
		args: "classify --policy policy.yml --preset copilot", env: "GITHUB_TOKEN=t", code: 2,
		says: "--policy says how the text is read, and so does another flag",
		hint: "leave out --preset and --verdict, or --policy",
	},
	{
		args: "simulate story.txt --policy nowhere.yml", env: "GITHUB_TOKEN=t", code: 2,
		says: "open nowhere.yml: no such file or directory",
		hint: "--policy names a file on this machine; git show origin/main:.github/review-coordinator.yml >FILE writes the one in force",
	},
	{
		args: "config check -", stdin: "reviewers: {", code: 2,
		says: "<stdin> has 1 mistake",
		hint: "the check asks for action until the policy is mended",
	},

	// Texts and verdicts.
	{
		args: "classify --approve yes", stdin: "fine", code: 2,
		says: "unknown flag --approve",
		hint: "coordinator classify --help shows how it is used",
	},
	{
		args: "sweep --pull-request 7", code: 2,
		says: "unknown flag --pull-request",
		hint: "coordinator sweep --help shows how it is used",
	},
	{
		args: "classify --preset nobody", stdin: "fine", code: 2,
		says: `unknown preset "nobody"`,
		hint: "presets: amazon-q, …",
	},
	{
		args: "classify --verdict prose", stdin: "fine", code: 2,
		says: `unknown verdict format "prose"`,
		hint: "formats: auto, ready-to-merge, review-state, findings, json, conclusion",
	},
	{
		args: "classify --kind letter", stdin: "fine", code: 2,
		says: `unknown kind "letter": comment, review, check, status or log`,
	},
	{
		args: "classify --kind review --state GOOD", stdin: "fine", code: 2,
		says: `"GOOD" is no state of a review`,
		hint: "states: APPROVED, CHANGES_REQUESTED, COMMENTED, DISMISSED, PENDING",
	},
	{
		args: "classify --state APPROVED", stdin: "fine", code: 2,
		says: "--state is given, and a comment has none",
		hint: "add --kind review, or --kind status",
	},
	{
		args: "classify --comments -1", stdin: "fine", code: 2,
		says: "--comments -1 is below zero",
		hint: "coordinator classify --help shows how it is used",
	},
	{
		args: "verdict make --from answer.json --head 1111111 --base main", code: 2,
		says: `--head "1111111" is no commit's id`,
		hint: "write all 40 digits, in small letters, as git rev-parse prints them",
	},
	{
		args: "verdict make --from answer.json --base main", code: 2,
		says: "there is no --head, and no event of a pull request that names it",
		hint: "--head SHA, the whole id",
	},
	{
		args: "verdict make --from answer.json --head 1111111111111111111111111111111111111111", code: 2,
		says: "there is no --base, and no event of a pull request that names it",
		hint: "--base BRANCH, the branch to merge into",
	},
	{
		args: "verdict make --from answer.json --head 1111111111111111111111111111111111111111 --base main", code: 2,
		says: "there is no --run",
		hint: "in a job it is GITHUB_RUN_ID; elsewhere --run 1 does for a try",
	},
	{
		args: "verdict make --from answer.json --head 1111111111111111111111111111111111111111 --base main --run 1", code: 2,
		says: "there is no --attempt",
		hint: "in a job it is GITHUB_RUN_ATTEMPT; elsewhere --attempt 1 does for a try",
	},
	{
		args: "verdict make --from answer.json --head 1111111111111111111111111111111111111111 --base main --run 1 --attempt 1 --changed answer.json", code: 2,
		says: "answer.json holds no changed file",
		hint: "git diff --name-status -z BASE...HEAD writes it",
	},
	{
		args: "verdict make --from answer.json --head 1111111111111111111111111111111111111111 --base main --run 1 --attempt 1 --changed nowhere", code: 2,
		says: "open nowhere: no such file or directory",
		hint: "is the path right, seen from this folder?",
	},
	{
		args: "verdict make --format prose", code: 2,
		says: `--format must be one of "plain","codex","claude" but got "prose"`,
		hint: "coordinator verdict make --help shows how it is used",
	},
	{
		args: "verdict make --run x", code: 2,
		says: `--run "x" is no number`,
		hint: "coordinator verdict make --help shows how it is used",
	},
	{
		args: "verdict make --min-severity huge", code: 2,
		says: `--min-severity must be one of "any","low","medium","high","critical" but got "huge"`,
		hint: "coordinator verdict make --help shows how it is used",
	},
	{
		args: "verdict make --from nowhere.json --head 1111111111111111111111111111111111111111 --base main --run 1 --attempt 1", code: 2,
		says: "open nowhere.json: no such file or directory",
		hint: "is the path right, seen from this folder?",
	},
	{
		args: "verdict make --from folder --head 1111111111111111111111111111111111111111 --base main --run 1 --attempt 1", code: 2,
		says: "read folder: is a directory",
		hint: "name a file in that folder",
	},
	{
		args: "verdict make --from answer.json --head 1111111111111111111111111111111111111111 --base main --run 1 --attempt 1 --out nowhere/v.json", code: 2,
		says: "write the verdict: open nowhere/v.json: no such file or directory",
		hint: "--out names the file",
	},
	{
		args: "verdict check", code: 2,
		says: "verdict check: <file> is missing",
		hint: "for example: coordinator verdict check review-verdict.json",
	},
	{
		args: "verdict check nowhere.json", code: 2,
		says: "open nowhere.json: no such file or directory",
		hint: "is the path right, seen from this folder?",
	},
	{
		args: "verdict check answer.json", code: 2,
		says: "answer.json is no verdict: schema: it is missing",
		hint: "coordinator verdict make writes one",
	},
	{
		args: "verdict check -", code: 2,
		says: "<stdin> is no verdict: the file is not one JSON object: EOF",
		hint: "coordinator verdict make writes one",
	},
	{
		args: "verdict make --head 1111111111111111111111111111111111111111 --base main --run 1 --attempt 1", stdin: "Looks good to me!", code: 1,
		says: `the answer is no JSON object: it begins "Looks good to me!"`,
		hint: "give the model the schema: coordinator verdict schema",
	},
	{
		args: "verdict make", env: "GITHUB_EVENT_PATH=broken.json", code: 2,
		says: "read the event: unexpected end of JSON input",
		hint: "GITHUB_EVENT_PATH names the file; --head and --base do without it",
	},

	// Stories and the demo.
	{
		args: "simulate nowhere.txt", code: 2,
		says: "open nowhere.txt: no such file or directory",
		hint: "is the path right, seen from this folder?",
	},
	{
		args: "simulate folder", code: 2,
		says: "read folder: is a directory",
		hint: "name a file in that folder",
	},
	{
		args: "simulate empty.txt", code: 2,
		says: "empty.txt cannot be played",
		hint: "coordinator simulate --help shows the language",
	},
	{
		args: "simulate --config policy.yml story.txt", code: 2,
		says: "simulate has no flag --config",
		hint: "--policy FILE names a policy file on this machine",
	},
	{
		args: "demo --speed fast", code: 2,
		says: "--speed fast: it is a number of story seconds per second, or max",
		hint: "coordinator demo --speed 16",
	},
	{
		args: "demo --speed=-1", code: 2,
		says: "--speed -1: it is a number of story seconds per second, or max",
		hint: "coordinator demo --speed 16",
	},
	{
		args: "demo now", code: 2,
		says: `demo takes no argument, and "now" is one`,
		hint: "coordinator demo --help shows how it is used",
	},

	// Who we are, and the job.
	{
		args: "explain octo/shop#7", code: 2,
		says: "there is no token",
		hint: "set GITHUB_TOKEN: in a job, env: {GITHUB_TOKEN: ${{ github.token }}}; on your machine, export GITHUB_TOKEN=$(gh auth token)",
	},
	{
		args: "run octo/shop#7 --token t", code: 2,
		says: "run has no flag --token",
		hint: "a token is read from GITHUB_TOKEN, where no list of processes shows it",
	},
	{
		args: "run octo/shop#7", env: "GITHUB_APP_ID=7", code: 2,
		says: "there is an App's id without its private key",
		hint: "set GITHUB_APP_PRIVATE_KEY or GITHUB_APP_PRIVATE_KEY_FILE",
	},
	{
		args: "run octo/shop#7", env: "GITHUB_APP_PRIVATE_KEY_FILE=key.pem", code: 2,
		says: "there is an App's private key without the App's id",
		hint: "set GITHUB_APP_ID",
	},
	{
		args: "run octo/shop#7", env: "GITHUB_APP_ID=Iv1.abc GITHUB_APP_PRIVATE_KEY_FILE=key.pem", code: 2,
		says: "GITHUB_APP_ID is no number",
		hint: "it stands in the App's settings, as App ID; the Client ID is another",
	},
	{
		args: "run octo/shop#7", env: "GITHUB_APP_ID=7 GITHUB_APP_PRIVATE_KEY_FILE=nowhere.pem", code: 2,
		says: "read the App's private key: open nowhere.pem: no such file or directory",
		hint: "GITHUB_APP_PRIVATE_KEY_FILE names the file",
	},
	{
		args: "run octo/shop#7", env: "GITHUB_APP_ID=7 GITHUB_APP_PRIVATE_KEY_FILE=key.pem", code: 2,
		says: "open GitHub: the App's private key is no RSA key in PEM (GITHUB_APP_PRIVATE_KEY_FILE key.pem)",
		hint: "the key is the .pem file that GitHub hands out",
	},
	{
		args: "run octo/shop#7", env: "GITHUB_APP_ID=7 GITHUB_APP_PRIVATE_KEY=x GITHUB_APP_PRIVATE_KEY_FILE=key.pem", code: 2,
		says: "GITHUB_APP_PRIVATE_KEY and GITHUB_APP_PRIVATE_KEY_FILE are both set",
		hint: "keep one of them",
	},
	{
		args: "run octo/shop#7", env: "GITHUB_TOKEN=t GITHUB_API_URL=git.example.org", code: 2,
		says: "read API URL: git.example.org is not of the form https://host/path",
		hint: "GITHUB_API_URL, if it is set, is https://HOST/api/v3",
	},
	{
		args: "run octo/shop#7", env: "GITHUB_TOKEN=t GITHUB_API_URL=http://git.example.org/api/v3", code: 2,
		says: "read API URL: http://git.example.org/api/v3 must be https: the token would travel in the clear",
		hint: "GITHUB_API_URL, if it is set, is https://HOST/api/v3",
	},
	{
		args: "run", env: "GITHUB_TOKEN=t GITHUB_REPOSITORY=octo/shop GITHUB_EVENT_NAME=pull_request", code: 2,
		says: "no pull request: the event has no payload",
		hint: "set GITHUB_EVENT_PATH, or name the pull request: coordinator run OWNER/NAME#N",
	},
	{
		args: "run", env: "GITHUB_TOKEN=t GITHUB_REPOSITORY=octo/shop GITHUB_EVENT_NAME=pull_request GITHUB_EVENT_PATH=nowhere.json", code: 2,
		says: "read the event: open nowhere.json: no such file or directory",
		hint: "GITHUB_EVENT_PATH names the file",
	},
	{
		args: "run", env: "GITHUB_TOKEN=t GITHUB_REPOSITORY=octo/shop GITHUB_EVENT_NAME=pull_request GITHUB_EVENT_PATH=broken.json", code: 2,
		says: "read event pull_request: payload is no JSON (at byte 1)",
		hint: "GITHUB_EVENT_PATH names the file that GitHub wrote for GITHUB_EVENT_NAME",
	},
	{
		args: "run", env: "GITHUB_TOKEN=t GITHUB_REPOSITORY=octo/shop GITHUB_EVENT_NAME=pull_request GITHUB_EVENT_PATH=folder", code: 2,
		says: "read the event: read folder: is a directory",
		hint: "GITHUB_EVENT_PATH names the file",
	},

	// The daemon.
	{
		args: "serve", env: "GITHUB_TOKEN=t", code: 2,
		says: "there is no webhook secret",
		hint: "set GITHUB_WEBHOOK_SECRET to what the App's settings hold; openssl rand -hex 32 makes a new one",
	},
	{
		args: "serve", env: "GITHUB_WEBHOOK_SECRET=short GITHUB_TOKEN=t", code: 2,
		says: "read webhook secrets: secret 1 of 1 has 5 bytes, at least 16 are needed",
		hint: "openssl rand -hex 32 makes one, for here and for the App's settings; several, separated by commas, are for the time in which one is replaced",
	},
	{
		args: "serve", env: "GITHUB_WEBHOOK_SECRET=0123456789abcdef", code: 2,
		says: "there is neither an App nor a token",
		hint: "set GITHUB_APP_ID and GITHUB_APP_PRIVATE_KEY_FILE (coordinator serve setup makes an App and writes both), or GITHUB_TOKEN",
	},
	{
		args: "serve --resync 1ms", env: "GITHUB_WEBHOOK_SECRET=0123456789abcdef GITHUB_TOKEN=t", code: 2,
		says: "--resync 1ms is not between 1s and 24h",
		hint: "--resync 5m is the default",
	},
	{
		args: "serve --resync 2d", env: "GITHUB_WEBHOOK_SECRET=0123456789abcdef GITHUB_TOKEN=t", code: 2,
		says: `--resync "2d" is no duration`,
		hint: "write it as 90s, 15m or 2h",
	},
	{
		args: "serve --database mysql://x", env: "GITHUB_WEBHOOK_SECRET=0123456789abcdef GITHUB_TOKEN=t", code: 2,
		says: "the database is no address that is known",
		hint: "write it as sqlite://PATH, for example sqlite:///var/lib/review-coordinator/coordinator.db, or as postgres://USER@HOST:PORT/NAME",
	},
	{
		args: "serve --database sqlite://", env: "GITHUB_WEBHOOK_SECRET=0123456789abcdef GITHUB_TOKEN=t", code: 2,
		says: "sqlite:// names no file",
		hint: "write it as sqlite://PATH, for example sqlite:///var/lib/review-coordinator/coordinator.db",
	},
	{
		args: "serve --database sqlite://nowhere/c.db", env: "GITHUB_WEBHOOK_SECRET=0123456789abcdef GITHUB_TOKEN=t", code: 2,
		says: "the folder of the database, nowhere, is not there",
		hint: "make it, and let only the daemon's user read it",
	},
	{
		args: "serve --database postgres://u:canary@127.0.0.1:port/d", env: "GITHUB_WEBHOOK_SECRET=0123456789abcdef GITHUB_TOKEN=t", code: 2,
		says: "the database: cannot parse `postgres://u:xxxxx@127.0.0.1:port/d`: invalid port",
		hint: "write it as postgres://USER@HOST:PORT/NAME; the password may stand in PGPASSWORD, or in a file that PGPASSFILE names",
	},
	{
		args: "serve --json", env: "GITHUB_WEBHOOK_SECRET=0123456789abcdef GITHUB_TOKEN=t", code: 2,
		says: "--json is given without --check",
		hint: "what serve does stands in its log; --check --json says what is set",
	},
	{
		args: "serve --listen nonsense --database sqlite://c.db", env: "GITHUB_WEBHOOK_SECRET=0123456789abcdef GITHUB_TOKEN=t", code: 2,
		says: "--listen nonsense: listen tcp: address nonsense: missing port in address",
		hint: "write it as HOST:PORT, with an address of this machine: 127.0.0.1:8080, or 0.0.0.0:8080 for all that it has",
	},
	{
		args: "serve --listen 127.0.0.1: --database sqlite://c.db", env: "GITHUB_WEBHOOK_SECRET=0123456789abcdef GITHUB_TOKEN=t", code: 2,
		says: `--listen "127.0.0.1:" has no port`,
		hint: "write it as HOST:PORT, with an address of this machine: 127.0.0.1:8080, or 0.0.0.0:8080 for all that it has",
	},
	{
		args: "serve --check --resync 0s --database sqlite://nowhere/c.db --listen 127.0.0.1: --admin-listen nonsense", env: "GITHUB_APP_ID=7 GITHUB_API_URL=ftp://x", code: 2,
		says: "there is no webhook secret; hint: set GITHUB_WEBHOOK_SECRET to what the App's settings hold; openssl rand -hex 32 makes a new one\nread API URL: ftp://x must be https: the token would travel in the clear; hint: GITHUB_API_URL, if it is set, is https://HOST/api/v3\nthere is an App's id without its private key; hint: set GITHUB_APP_PRIVATE_KEY or GITHUB_APP_PRIVATE_KEY_FILE\nthe folder of the database, nowhere, is not there; hint: make it, and let only the daemon's user read it\n--listen \"127.0.0.1:\" has no port; hint: write it as HOST:PORT, with an address of this machine: 127.0.0.1:8080, or 0.0.0.0:8080 for all that it has\n--admin-listen nonsense: listen tcp: address nonsense: missing port in address; hint: write it as HOST:PORT, with an address of this machine: 127.0.0.1:8080, or 0.0.0.0:8080 for all that it has\n--resync 0s is not between 1s and 24h; hint: --resync 5m is the default",
	},
	{
		args: "serve", env: "GITHUB_WEBHOOK_SECRET=0123456789abcdef GITHUB_TOKEN=t GITHUB_API_URL=nonsense", code: 2,
		says: "read API URL: nonsense is not of the form https://host/path",
		hint: "GITHUB_API_URL, if it is set, is https://HOST/api/v3",
	},
	{
		args: "serve --port 80", env: "GITHUB_WEBHOOK_SECRET=0123456789abcdef GITHUB_TOKEN=t", code: 2,
		says: "serve has no flag --port",
		hint: "--listen HOST:PORT says where webhooks come in, --admin-listen where the dashboard is",
	},

	// A first set-up, an App and the log.
	{
		args: "init", code: 2,
		says: "no repository: there is no --repo, no GITHUB_REPOSITORY, and no clone whose origin is on github.com",
		hint: "coordinator init --repo OWNER/NAME",
	},
	{
		args: "init octo/shop", code: 2,
		says: `init takes no argument, and "octo/shop" is one`,
		hint: "--repo names the repository: coordinator init --repo octo/shop",
	},
	{
		args: "init --repo octo", code: 2,
		says: `"octo" is no repository`,
		hint: "write it as OWNER/NAME: --repo octo/shop",
	},
	{
		args: "init --repo octo/shop", code: 2,
		says: "this folder is in no clone",
		hint: "start it in your clone of octo/shop, name the folder with --dir, or add --pull-request",
	},
	{
		args: "init --repo octo/shop --ref -x", code: 2,
		says: "--ref has no value: -x is the next flag",
		hint: "a value that begins with - is written --ref=VALUE",
	},
	{
		args: "init --ref=-x", code: 2,
		says: `--ref "-x" is no tag or commit`,
		hint: "--ref v1, or a commit of 40 digits",
	},
	{
		args: "init --pull-request --dir .", code: 2,
		says: "--pull-request writes nothing into a folder",
		hint: "leave out --dir or --pull-request",
	},
	{
		args: "init --repo octo/shop --dry-run", code: 2,
		says: "there is no token",
		hint: "set GITHUB_TOKEN: in a job, env: {GITHUB_TOKEN: ${{ github.token }}}; on your machine, export GITHUB_TOKEN=$(gh auth token)",
	},
	{
		args: "init --pr", env: "GITHUB_TOKEN=t", code: 2,
		says: "init has no flag --pr",
		hint: "--pull-request opens a pull request with the files",
	},
	{
		args: "init --write policy.yml", env: "GITHUB_TOKEN=t", code: 2,
		says: "init has no flag --write",
		hint: "it writes into your clone, or below --dir; the policy alone: coordinator init --policy-only",
	},
	{
		args: "init --policy policy.yml", env: "GITHUB_TOKEN=t", code: 2,
		says: "init has no flag --policy",
		hint: "it writes a policy; whether one is right: coordinator config check FILE",
	},
	{
		args: "init octo/shop", code: 2,
		says: `init takes no argument, and "octo/shop" is one`,
		hint: "--repo names the repository: coordinator init --repo octo/shop",
	},
	{
		args: "init --policy-only=x", env: "GITHUB_TOKEN=t", code: 2,
		says: `--policy-only "x" is neither true nor false`,
		hint: "--policy-only alone says yes; leave it out for no",
	},
	{
		args: "config init", code: 2,
		says: `there is no command "config init"`,
		hint: "coordinator init writes a policy, and the workflows",
	},
	{
		args: "setup", code: 2,
		says: `there is no command "setup"`,
		hint: "coordinator init sets up a repository, coordinator serve setup makes a GitHub App",
	},
	{
		args: "serve set-up", code: 2,
		says: `there is no command "serve set-up"`,
		hint: "coordinator serve alone takes no argument; below it there is setup",
	},
	{
		args: "serve octo/shop", code: 2,
		says: `there is no command "serve octo/shop"`,
		hint: "coordinator serve alone takes no argument; below it there is setup",
	},
	{
		args: "serve --nonsense", code: 2,
		says: "unknown flag --nonsense",
		hint: "coordinator serve --help shows how it is used",
	},
	{
		args: "serve setup", code: 2,
		says: "--webhook is missing: GitHub makes no App without the address at which it will reach the daemon",
		hint: "not known yet? Write the one that you mean to have, https://HOST/webhook on a host of yours: the App's settings change it at any time",
	},
	{
		args: "serve setup now", code: 2,
		says: `serve setup takes no argument, and "now" is one`,
		hint: "coordinator serve setup --help shows how it is used",
	},
	{
		args: "serve setup --webhook", code: 2,
		says: "--webhook has no value",
		hint: "coordinator serve setup --help shows how it is used",
	},
	{
		args: "serve setup --webhook example.org", code: 2,
		says: "--webhook is no address",
		hint: "--webhook https://HOST/webhook, as GitHub will reach it from outside; the App's settings change it at any time",
	},
	{
		args: "serve setup --webhook http://example.org/webhook", code: 2,
		says: "--webhook http://example.org/webhook is not https: payloads would cross the network readable",
		hint: "--webhook https://HOST/webhook, as GitHub will reach it from outside; the App's settings change it at any time",
	},
	{
		args: "serve setup --webhook https://example.org:99999/webhook", code: 2,
		says: "--webhook https://example.org:99999/webhook names port 99999: ports are 1 to 65535",
		hint: "--webhook https://HOST/webhook, as GitHub will reach it from outside; the App's settings change it at any time",
	},
	{
		args: "serve setup --webhook https://example.org", code: 2,
		says: "--webhook https://example.org has no path: the daemon takes webhooks at /webhook",
		hint: "--webhook https://HOST/webhook, as GitHub will reach it from outside; the App's settings change it at any time",
	},
	{
		args: "serve setup --webhook https://example.org/webhook --listen 0.0.0.0:0", code: 2,
		says: "--listen 0.0.0.0:0 is reached by other machines",
		hint: "--listen 127.0.0.1:47110 and ssh -L 47110:127.0.0.1:47110 SERVER show the page of a server on your own machine",
	},
	{
		args: "serve setup --webhook https://example.org/webhook --timeout 5", code: 2,
		says: "--timeout 5 has no unit",
		hint: "write it with a unit: 5s or 5m",
	},
	{
		args: "serve setup --webhook https://example.org/webhook --timeout 0s", code: 2,
		says: "--timeout 0s is not between 1s and 24h",
		hint: "--timeout 30m is the default",
	},
	{
		args: "serve setup --webhook https://example.org/webhook --org a/b", code: 2,
		says: `--org "a/b" is no name of an organisation`,
		hint: "it is the last part of https://github.com/ORG",
	},
	{
		args: "help serve nonsense", code: 2,
		says: `there is no command "serve nonsense"`,
		hint: "coordinator serve alone takes no argument; below it there is setup",
	},
	{
		args: "--log-level loud version", code: 2,
		says: `--log-level "loud" is none of debug, info, warn and error`,
		hint: "write --log-level info, or -v for debug",
	},
	{
		args: "--log-level", code: 2,
		says: "--log-level has no value",
		hint: "coordinator --help shows how it is used",
	},
	{
		args: "--log-level=debug", code: 2,
		says: "no command is given",
		hint: "coordinator --help shows how it is used",
	},
	{
		args: "--log-format xml version", code: 2,
		says: `--log-format "xml" is neither text nor json`,
		hint: "write --log-format json; text is the default",
	},
	{
		args: "version", env: "COORDINATOR_LOG_LEVEL=loud", code: 2,
		says: `COORDINATOR_LOG_LEVEL "loud" is none of debug, info, warn and error`,
		hint: "write --log-level info, or -v for debug",
	},
	{
		args: "version", env: "COORDINATOR_LOG_FORMAT=xml", code: 2,
		says: `COORDINATOR_LOG_FORMAT "xml" is neither text nor json`,
		hint: "write --log-format json; text is the default",
	},
	{
		args: "serve --log_level debug", code: 2,
		says: `unknown flag --log_level, did you mean "--log-level"?`,
		hint: "coordinator serve --help shows how it is used",
	},
	{
		args: "serve --public-url example.org", env: "GITHUB_WEBHOOK_SECRET=0123456789abcdef GITHUB_TOKEN=t", code: 2,
		says: "--public-url is no address",
		hint: "write it as https://HOST or https://HOST/PATH, as a browser reaches the dashboard",
	},
	{
		args: "serve --public-url http://example.org", env: "GITHUB_WEBHOOK_SECRET=0123456789abcdef GITHUB_TOKEN=t", code: 2,
		says: "--public-url is not https",
		hint: "write it as https://HOST or https://HOST/PATH, as a browser reaches the dashboard; http is for this machine's own address only",
	},
	{
		args: "serve --public-url https://u:canary@example.org", env: "GITHUB_WEBHOOK_SECRET=0123456789abcdef GITHUB_TOKEN=t", code: 2,
		says: "--public-url has more than a host and a path",
		hint: "write it as https://HOST or https://HOST/PATH, as a browser reaches the dashboard",
	},
	{
		args: "serve --public-url https://example.org/?a=b", env: "GITHUB_WEBHOOK_SECRET=0123456789abcdef GITHUB_TOKEN=t", code: 2,
		says: "--public-url has more than a host and a path",
		hint: "write it as https://HOST or https://HOST/PATH, as a browser reaches the dashboard",
	},
	{
		args: "serve --public-url javascript:alert(1)", env: "GITHUB_WEBHOOK_SECRET=0123456789abcdef GITHUB_TOKEN=t", code: 2,
		says: "--public-url is no address",
		hint: "write it as https://HOST or https://HOST/PATH, as a browser reaches the dashboard",
	},
	{
		args: "serve", env: "GITHUB_WEBHOOK_SECRET=0123456789abcdef GITHUB_TOKEN=t PUBLIC_URL=ftp://example.org", code: 2,
		says: "PUBLIC_URL is not https",
		hint: "write it as https://HOST or https://HOST/PATH, as a browser reaches the dashboard; http is for this machine's own address only",
	},
	{
		args: "serve --publicurl https://example.org", env: "GITHUB_WEBHOOK_SECRET=0123456789abcdef GITHUB_TOKEN=t", code: 2,
		says: `unknown flag --publicurl, did you mean "--public-url"?`,
		hint: "coordinator serve --help shows how it is used",
	},
	{
		args: "verdict make --json --out -", code: 2,
		says: "--json and --out - both want standard output",
		hint: "leave out --json: the verdict is JSON itself",
	},
}

func TestMistakes(t *testing.T) {
	if len(mistakes) < 200 {
		t.Errorf("there are %d", len(mistakes))
	}
	t.Chdir(t.TempDir())
	for file, text := range map[string]string{
		"policy.yml":  "version: 1\nreviewers:\n  - preset: copilot\n",
		"several.yml": "version: 1\nreviewers:\n  - preset: copilot\n  - preset: coderabbit\n",
		"broken.yml":  "version: 1\nreviewers:\n  - preset: nobody\nneed: many\n",
		"huge.yml":    strings.Repeat("# a policy that never ends\n", 5000),
		"answer.json": `{"findings": [], "files_reviewed": ["cart.go"]}`,
		"broken.json": "{",
		"empty.txt":   "",
		"story.txt":   "A story\n\n-- timeline --\n0s alice opens #7 at a1\n",
		"key.pem":     "canary",
		"folder/file": "",
	} {
		writeTo(t, file, text)
	}
	makeClone(t, "elsewhere", "git@gitlab.com:octo/shop.git")
	makeClone(t, "local", "../shop")
	for _, m := range mistakes {
		env := map[string]string{}
		for pair := range strings.FieldsSeq(m.env) {
			name, value, _ := strings.Cut(pair, "=")
			env[name] = value
		}
		var out, said bytes.Buffer
		c := &command{
			Stdin: strings.NewReader(m.stdin), Stdout: &out, Stderr: &said, Folder: env["FOLDER"],
			Getenv: func(name string) string { return env[name] },
		}
		code := c.Main(context.Background(), strings.Fields(m.args))
		want := "coordinator: " + strings.ReplaceAll(m.says, "\n", "\ncoordinator: ") + "\n"
		if m.hint != "" {
			want += "hint: " + m.hint + "\n"
		}
		got := said.String()
		begins, open := strings.CutSuffix(want, "…\n")
		if told := strings.HasSuffix(got, want) || open && strings.Contains(got, begins); code != m.code || !told {
			t.Errorf("%s %s\nexit %d: %swant %d: %s", m.env, m.args, code, got, m.code, want)
		}
		if strings.Contains(said.String()+out.String(), "canary") {
			t.Errorf("%s: it tells a secret: %s%s", m.args, out.String(), said.String())
		}
	}
}

func writeTo(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
