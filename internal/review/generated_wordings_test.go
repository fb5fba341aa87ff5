package review

// This file lists wordings of vetoes and of what a plain yes stands beside. They were written after the reader was, which
// had to read nine in ten of them before it was mended by class.

var (
	// moreConditions are conditions that stand below a yes or at the end.
	moreConditions = []string{
		"Provided the flaky job is rerun.", "This holds only while the flag is off.",
		"My approval depends on the answer to my question above.", "Once the TODO in `a.go` is gone.",
		"I am fine with it as soon as Ana has looked at the SQL.", "You still have to bump the version.",
		"Assuming nothing else changed since the last push.",
		"Approval is contingent upon a green run.", "Squash the commits, then merge.", "Drop the debug print before you merge.",
		"Let us wait until the freeze is over.",
		"The yes above covers the Go code alone.", "Merge at your own risk.", "Subject to the above.", "With the fixes below applied.",
		"Needs a changelog entry before release.",
		"A follow-up PR must land first.", "Not to be merged before Tuesday.", "Ok to merge when the bot is green.",
		"Only mergeable after the schema is deployed.",
		"If you change the timeout to 5s, this is good.", "Don't forget to rebase.", "Remember to rotate the key first.",
		"Conditional approval.", "Soft approve.",
		"Approved with conditions.", "Please add a test, then go ahead.", "Go ahead after fixing the lint error.",
		"One more thing before merging: the docs.",
		"As discussed, security has to sign off.", "The tests must pass.", "Awaiting CI.", "CI is still red, so wait.",
		"Unless I misread the loop.",
		"Yes for the refactoring, no for the migration.", "The above is valid for the first commit only.",
		"Nur unter Vorbehalt.", "Vorher bitte den Test ergänzen.", "Sofern CI grün wird.", "Das gilt nicht für die Migration.",
		"Sous réserve que la CI passe.", "Merci de corriger le verrou d'abord.",
		"À fusionner après le déploiement.", "Siempre y cuando pase la CI.", "Corrige antes el bloqueo.",
		"Con la condición de rebasar.", "Condicionado à CI verde.", "Corrija o lock primeiro.",
		"A condizione che la CI passi.", "Da correggere prima del merge.", "Op voorwaarde dat CI slaagt.", "Los eerst de fout op.",
		"При зелёном CI.", "Сначала сделайте ребейз.", "С условием.",
		"O ile CI przejdzie.", "Popraw najpierw test.", "CI yeşilse.", "Önce testi ekleyin.", "Asal CI hijau.",
		"Perbaiki dulu testnya.", "Nếu CI xanh.", "Sửa test trước đã.",
		"Om CI blir grönt.", "Rätta testet först.", "За умови зеленого CI.", "Спочатку виправте тест.", "CI 通过后再合并。", "请先修复测试。",
		"CI が通ったらマージしてください。", "先にテストを直してください。",
		"CI 통과 후 병합하세요.", "테스트를 먼저 고치세요.", "بعد نجاح الاختبارات.", "أصلح الاختبار أولاً.", "CI हरा होने पर।", "पहले टेस्ट ठीक करें।",
		"Αφού περάσει το CI.", "Dersom CI er grønn.", "Kui CI on roheline.",
		"Amennyiben a CI zöld.", "Za předpokladu zelené CI.", "Pod podmienkou zeleného CI.", "Dacă CI trece.",
		"Με την προϋπόθεση ότι περνά το CI.", "Basta't pumasa ang CI.", "Ikiwa CI itapita.",
	}
	// moreEnds take a yes back, contradict it or say that not all was seen.
	moreEnds = []string{
		"That said, I would not merge this yet.", "Correction, this breaks the API.", "Edit: found a data loss.",
		"This must not reach production.", "Stop: the migration is not reversible.",
		"Hmm, actually the lock is never released.", "Strike that.", "I no longer approve.", "Approval withdrawn.",
		"This is a NACK after all.", "Changing my vote to no.", "Verdict changed: rejected.",
		"The above verdict is superseded.", "I retract the above.", "Sorry, wrong pull request.",
		"Oops, that was the verdict for another PR.", "Please don't merge.", "Merging this would break prod.",
		"There's a security hole in `auth.go`.", "❗ Blocking: see `auth.go:41`.", "Must be addressed: the leaked token.",
		"**Required changes:** rotate the key.", "A fix is required.", "Fix required before merge.",
		"### Blocking issues\n\n- the token is logged", "## Must fix\n1. The token is logged.", "- [ ] fix the leak before merge",
		"🔴 The token is logged.", "**Critical issue:** the token is logged.",
		"P0: the token is logged.", "Severity: critical", "Critical issues: 2", "1 blocking issue.", "Overall: request changes.",
		"Final: needs work.", "## Conclusion\n\nNot ready to merge.", "**Result:** FAIL",
		"NOT APPROVED", "**REJECTED**", "Changes requested.", "Approved: no", "approve = false",
		"Some hunks were omitted because the diff is too long.", "Only 12 of the 80 files fit into the context.",
		"I stopped after 20 files.", "The rest of the diff was not shown to me.",
		"Part of the patch is missing.", "The file list was cut at 100 entries.", "[truncated]", "... (diff truncated)",
		"The review covers the first commit only.", "`schema.sql` was too large to review.",
		"I did not have enough context to check the migration.", "Tool call failed: read_file returned 404.",
		"The tests could not be run.", "No diff was provided.", "I cannot see the changed files.",
		"The pull request's diff could not be retrieved.", "2 of 3 reviewers answered.", "The performance agent did not respond.",
		"Binary files were skipped: 4", "Reviewed 3/12 files",
		"Timed out before the last two files.", "Output limit reached.", "I ran out of turns.", "Coverage 55%",
	}
	// moreTails follow a yes in its line.
	moreTails = []string{
		" if green", ", pls fix nits", " (with suggestions)", " after nits", " - LGTM with nits", " w/ comments", " except tests",
		" *pending CI*", ": conditionally", " ⚠️", " ❌", " 👎", " 🚫", " (not yet)",
		", I guess", " maybe", "?", " ???", " (2/3)", " 1/2", " 50%", " by 2 of 3", " [pending]", " → see blockers", ", see below",
		" / with fixes", " & rejected", " [x] No", " with 2 follow-ups", " under protest",
		" - but see #12", " \\| No", " aber", " 但是", "（条件付き）", " (условно)", "・要修正", ", sous réserve", " con riserva", " si CI",
		" once rebased", " – blocked by #4", " in theory", " on my side", " for now", " (draft)", " [2]",
		" for the backend", " to close", " not", "ish", " -ish", "'nt", " by the author", " <!-- not really -->no",
		" https://example.com/but", " (self)", " (auto)", " v2", " 0", " = 0", ": 0/3", ": withheld", " revoked", " expired",
	}
	// moreLeadIns stand above what is not said now, or not by the writer.
	moreLeadIns = []string{
		"As the bot put it:", "They answered:", "The checklist says:", "Copied from the ticket:", "My first draft read:",
		"What a yes would look like:", "The expected output:", "Please reply with:", "Quoting Ana:", "Ana's verdict:",
		"Result of run 12 (old):", "Review of commit abc1234 (outdated):", "Other reviewers:", "From the description:", "引用：", "例：",
		"Beispiel:", "Ejemplo:", "Exemple :", "Пример:", "예:", "مثال:", "उदाहरण:",
		"## Archive", "### Earlier verdicts", "## PR description", "<details><summary>Prompt</summary>\n",
		"<details><summary>Older reviews (3)</summary>\n",
	}
	// moreNotices stand above everything.
	moreNotices = []string{
		"## 503 Service Unavailable", "> [!CAUTION]\n> Usage limit reached.", "# ⚠️ Review failed",
		"## Error: context length exceeded", "**Review could not be completed**", "> [!WARNING]\n> The diff was truncated.",
		"## Request timed out", "### ❌ Invalid API key", "## Out of credits", "> [!WARNING]\n> This review is partial.",
		"## Review incomplete", "## Internal server error",
	}
	// plainRemarks are what may stand above or below a yes and leaves it as it is.
	plainRemarks = []string{
		"**Reasoning:** Clean separation of concerns, and the new tests cover the failure path.",
		"The implementation matches the plan and has no blocking problems.", "Everything in the issue is done.",
		"Nothing else to add.", "No further comments from me.", "Great work on the tests!",
		"**Strengths:**\n- Clear commit history\n- Good coverage", "All 14 acceptance criteria are met.",
		"The refactoring keeps behaviour the same; I compared both branches by hand.", "Tests pass locally and in CI.",
		"- Correctness: fine\n- Tests: fine\n- Security: no concerns", "**Risk:** low",
		"| Check | Result |\n|---|---|\n| Tests | ✅ |\n| Docs | ✅ |", "### Minor (optional)\n\n- Rename `x` to something longer.",
		"Optional nit: the comment in `a.go` has a typo.", "Minor: consider a shorter name, but that is a matter of taste.",
		"This is a well-scoped change: the parser is now strict, and errors carry a position.",
		"I checked that every caller handles the new error.", "The retry is bounded and stops when the context ends.",
		"**Summary:** adds pagination to the list endpoint and its tests.", "The new index makes the query use less memory.",
		"Thanks for the quick turnaround!", "_Reviewed by claude-opus_", "Reviewed 12 of 12 files.",
		"### Notes\n\nThe fallback is only used when the cache is empty.", "The lock is held only while the map is read.",
		"It returns early if the list is empty, so the loop is never entered.", "Confidence: 95%",
		"Files reviewed: 12", "No security issues.", "Performance: no regressions expected.", "Breaking changes: No",
		"I verified the migration on a copy: up and down both work.",
		"### Verification\n\n- `go test ./...` passes\n- `go vet` is clean",
		"Good error handling, clear naming, no dead code.", "Well structured and easy to follow.",
		"The previous blockers are all resolved.", "Both findings of the last round were fixed.",
		"Addresses the race that was reported in #12.",
		"Fixes the deadlock without changing the API.", "No critical issues. No major issues.", "**Critical issues:** None",
		"### Critical\n\nNone\n\n### Important\n\nNone", "Blocking issues: none", "LGTM", "Ship it! 🚀", "Looks good to me.",
		"The change is safe because the flag defaults to off.",
		"**Test coverage:** good; edge cases such as an empty list are covered.", "You handled the error case nicely.",
		"Consider adding a benchmark in a follow-up.",
	}
)
