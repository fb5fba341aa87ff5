package story_test

// What the reviewers of the quarter write. Whoever chooses a text knows what it means; nobody reads it to find out.

// wordsOfYes approve. The first %s is the heading, the second what names the commit, or nothing.
var wordsOfYes = []string{
	"%s\n\nThe totals are rounded where they are shown.%s\n\n**Ready to merge?** Yes\n",
	"%s\n\nI read the whole change and have nothing to add.%s\n\n**Ready to merge: Yes**\n",
	"%s%s\n\nThe cases of the table are all there.\n\n**Verdict:** APPROVE\n",
	"%s%s\n\n### Verdict: APPROVE\n",
}

// wordsOfNo object, liberally read.
var wordsOfNo = []string{
	"%s\n\n1. **Critical** `cart.go:42`: the total is not rounded.%s\n\n**Ready to merge?** No\n",
	"%s\n\nThe lock is taken twice.%s\n\n**Ready to merge?** With fixes\n",
	"%s%s\n\n**Verdict:** REVISE\n\n- High: `cart.go:7` divides by zero.\n",
	"%s\n\nSee below.%s\n\n**Ready to merge?** No, the migration cannot be undone.\n",
}

// wordsOfNeither look like a yes and are none: a condition, a part, a count, another's words, half a review, a yes that
// is taken back, an outage behind it, a template that nobody has filled.
var wordsOfNeither = []string{
	"%s%s\n\n**Ready to merge?** Yes, once the test is mended\n",
	"%s%s\n\n**Ready to merge?** Ja, wenn der Test grün ist\n",
	"%s%s\n\n**Ready to merge?** Yes (2 of 3 files)\n",
	"%s%s\n\n**Ready to merge?** Yes/No/With fixes\n",
	"%s%s\n\n**Ready to merge?**\n",
	"%s%s\n\nThe author of the pull request wrote:\n\n**Ready to merge?** Yes\n",
	"%s%s\n\n> **Ready to merge?** Yes\n\nI was not able to review this.\n",
	"%s%s\n\n```\n**Ready to merge?** Yes\n```\n",
	"%s%s\n\n<!--\n**Ready to merge?** Yes\n-->\n",
	"%s%s\n\n[//]: # (\n**Ready to merge?** Yes\n)\n",
	"%s%s\n\n**Ready to merge?** Yes\n\nActually, no.\n",
	"%s%s\n\n**Ready to merge?** Yes\n\n❌ Do not merge.\n",
	"%s%s\n\n**Ready to merge?** Yes\n**Ready to merge?** No\n",
	"%s%s\n\nReviewed 2 of 300 files.\n\n**Ready to merge?** Yes\n",
	"%s%s\n\nI would say that it is ready to merge. Looks good to me!\n",
	"%s%s\n\n**Ready to merge?** Not sure\n",
	"%s%s\n\n## Previous review\n\n**Ready to merge?** Yes\n",
	"%s%s\n\n<details><summary>Example of an answer</summary>\n\n**Ready to merge?** Yes\n\n</details>\n",
	"%s%s\n\n**Ready to merge?** Almost\n",
	"%s%s\n\nNo files were reviewed.\n\n**Ready to merge?** Yes\n",
	"%s%s\n\n# API Error: 503 overloaded\n\n**Ready to merge?** Yes\n",
	"%s%s\n\n~~**Ready to merge?** Yes~~\n",
}

// outagesInLogs and the rest are tails of logs.
const (
	outageInLog  = "Error: 503 UNAVAILABLE. The model is overloaded. Please try again later.\n"
	missingInLog = "Error: Input required and not supplied: api_key\n"
	limitInLog   = "Error: 429 rate limit exceeded. Please try again in 4 minutes.\n"
	quotaInLog   = "Error: 429 rate limit exceeded.\n"
	brokenInLog  = "panic: index out of range\n"
)

const artifactVerdict = `{"schema": 2, "head": %q, "base": %q, "run": %d, "attempt": %d, "verdict": %q, "findings": [%s],
 "files_reviewed": [%q]}`

const artifactFinding = `{"path": "cart.go", "line": 42, "severity": "high", "body": "An empty cart divides by zero."}`
