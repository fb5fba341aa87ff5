package review

// This file lists wordings: tails behind a yes, lead-ins above what is not said now, notices, and remarks that leave a yes as it is.

var (
	// moreTails follow a yes in its line.
	moreTails = []string{
		" if green", ", pls fix nits", " (with suggestions)", " after nits", " - LGTM with nits",
		" w/ comments", " except tests",
		" *pending CI*", ": conditionally", " ⚠️", " ❌", " 👎", " 🚫", " (not yet)",
		", I guess", " maybe", "?", " ???", " (2/3)", " 1/2", " 50%", " by 2 of 3", " [pending]",
		" → see blockers", ", see below",
		" / with fixes", " & rejected", " [x] No", " with 2 follow-ups", " under protest",
		" - but see #12", " \\| No", " aber", " 但是", "（条件付き）", " (условно)", "・要修正", ", sous réserve",
		" con riserva", " si CI",
		" once rebased", " – blocked by #4", " in theory", " on my side", " for now", " (draft)", " [2]",
		" for the backend", " to close", " not", "ish", " -ish", "'nt", " by the author", " <!-- not really -->no",
		" https://example.com/but", " (self)", " (auto)", " v2", " 0", " = 0", ": 0/3", ": withheld",
		" revoked", " expired",
	}
	// moreLeadIns stand above what is not said now, or not by the writer.
	moreLeadIns = []string{
		"As the bot put it:", "They answered:", "The checklist says:", "Copied from the ticket:",
		"My first draft read:",
		"What a yes would look like:", "The expected output:", "Please reply with:", "Quoting Ana:", "Ana's verdict:",
		"Result of run 12 (old):", "Review of commit abc1234 (outdated):", "Other reviewers:",
		"From the description:", "引用：", "例：",
		"Beispiel:", "Ejemplo:", "Exemple :", "Пример:", "예:", "مثال:", "उदाहरण:",
		"## Archive", "### Earlier verdicts", "## PR description", "<details><summary>Prompt</summary>\n",
		"<details><summary>Older reviews (3)</summary>\n",
	}
	// moreNotices stand above everything.
	moreNotices = []string{
		"## 503 Service Unavailable", "> [!CAUTION]\n> Usage limit reached.", "# ⚠️ Review failed",
		"## Error: context length exceeded", "**Review could not be completed**",
		"> [!WARNING]\n> The diff was truncated.",
		"## Request timed out", "### ❌ Invalid API key", "## Out of credits",
		"> [!WARNING]\n> This review is partial.",
		"## Review incomplete", "## Internal server error",
	}
	// plainRemarks are what may stand above or below a yes and leaves it as it is.
	plainRemarks = []string{
		"**Reasoning:** Clean separation of concerns, and the new tests cover the failure path.",
		"The implementation matches the plan and has no blocking problems.",
		"Everything in the issue is done.", "Nothing else to add.", "No further comments from me.",
		"Great work on the tests!", "**Strengths:**\n- Clear commit history\n- Good coverage",
		"All 14 acceptance criteria are met.",
		"The refactoring keeps behaviour the same; I compared both branches by hand.",
		"Tests pass locally and in CI.", "- Correctness: fine\n- Tests: fine\n- Security: no concerns",
		"**Risk:** low", "| Check | Result |\n|---|---|\n| Tests | ✅ |\n| Docs | ✅ |",
		"### Minor (optional)\n\n- Rename `x` to something longer.",
		"Optional nit: the comment in `a.go` has a typo.",
		"Minor: consider a shorter name, but that is a matter of taste.",
		"This is a well-scoped change: the parser is now strict, and errors carry a position.",
		"I checked that every caller handles the new error.",
		"**Summary:** adds pagination to the list endpoint and its tests.",
		"The new index makes the query use less memory.", "Thanks for the quick turnaround!",
		"_Reviewed by claude-opus_", "Reviewed 12 of 12 files.",
		"It returns early if the list is empty, so the loop is never entered.", "Confidence: 95%",
		"Files reviewed: 12", "No security issues.", "Performance: no regressions expected.",
		"Breaking changes: No", "I verified the migration on a copy: up and down both work.",
		"### Verification\n\n- `go test ./...` passes\n- `go vet` is clean",
		"Good error handling, clear naming, no dead code.", "Well structured and easy to follow.",
		"The previous blockers are all resolved.", "Both findings of the last round were fixed.",
		"Addresses the race that was reported in #12.", "Fixes the deadlock without changing the API.",
		"No critical issues. No major issues.", "**Critical issues:** None",
		"### Critical\n\nNone\n\n### Important\n\nNone", "Blocking issues: none", "LGTM", "Ship it! 🚀",
		"Looks good to me.", "The change is safe because the flag defaults to off.",
		"**Test coverage:** good; edge cases such as an empty list are covered.",
		"You handled the error case nicely.", "Consider adding a benchmark in a follow-up.",
		"The author owns this code, and the scope is limited to one file.",
		"Small, self-contained change with a matching test.",
		"This PR renames the helper and updates all call sites; there is no behaviour change.",
		"The new code path is covered by unit tests and an integration test.",
		"I traced the call from the handler to the store and found nothing wrong.",
		"Error messages are clear and carry the path.", "Documentation was updated accordingly.",
		"The loop terminates because the index grows in each step.",
		"Backwards compatible: old configs still load.", "Existing tests still pass.",
		"The diff is small and easy to review.",
		"The dependency update is a patch release with no breaking changes.",
		"Uses constant-time comparison for the token.",
		"### Summary\n\nThis adds a bounded queue between the reader and the writer.\n\n### Strengths\n\n- Simple\n- Well tested\n\n### Issues\n\nNone.",
		"### What was done well\n\n- The names are clear.\n\n### Suggestions\n\n- None",

		"#### Minor\n- `a.go:10`: could use a constant.\n\n#### Nitpicks\n- Typo in a comment.",
		"**Assessment:** The change is correct and complete.",
		"**Correctness:** ✅\n**Tests:** ✅\n**Security:** ✅", "Overall, a solid piece of work.",
		"Great catch on the off-by-one!", "Thank you for the thorough description.",
		"The approach is sound and matches how the rest of the package works.", "I have no concerns.",
		"No action needed.", "Nothing to fix.", "All comments of the previous review have been addressed.",
		"This is safe to merge.", "Approving.", "Good to merge as is.", "LGTM, nice work!",
		"Tests: 12 passed, 0 failed.", "Coverage went from 81% to 84%.", "Reviewed commits: 3",
		"Time spent: 2 minutes", "Cost: $0.12", "Model: gpt-5",
	}
)
