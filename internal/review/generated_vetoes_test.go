package review

// This file writes approvals with one veto added. A veto is a class of its own: nothing of it may approve.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// conditions are what a yes may hang on, by language. Each may stand in the yes' line, below it, or at the end.
var conditions = map[string][]string{
	"en": {
		"if the tests pass", "once CI is green", "as long as the build stays green",
		"provided that the migration is looked at", "after a rebase",
		"subject to sign-off by security", "assuming the benchmark holds", "pending CI",
		"contingent on the other pull request",
		"unless mona objects", "when the dependency is released", "on condition that the flag stays off",
		"with the proviso that the lock is fixed",
		"save for the race in `pool.go`", "minus the last commit", "but the lock leaks on the error path", "however, the token is still logged",
		"only for the docs", "except the schema change", "rebase first", "fix the race first",
		"merge only after #12", "wait for CI",
		"conditional on a green build", "not before the release", "just make sure the tests pass",
		"please rebase before merging",
		"as soon as the typo in the schema is corrected", "with reservations", "with one caveat: the lock",
		"modulo the failing test",
		"once the comments below are addressed", "you must rotate the key before this lands",
		"CI must be green first", "address the comments first",
		"so long as nobody uses the old API", "barring surprises in staging", "apart from the migration",
		"needs a second approval first",
		"I'd like the failing test fixed first", "hold until Monday", "granted that the tests pass",
		"the moment CI goes green", "in principle",
		"provided CI passes", "if and only if the flag is off by default",
		"assuming that you add the missing test", "tentatively",
		"given a green build", "with minor changes", "as long as someone from the storage team agrees",
		"contingent upon legal review",
		"after the two comments are dealt with", "not until the numbers are in", "still needs a rebase",
		"do a rebase before you press the button",
	},
	"de": {
		"wenn die Tests durchlaufen", "sobald die CI grün ist", "aber erst nach dem Rebase",
		"sofern die Migration geprüft wurde",
		"vorausgesetzt, der Build ist grün", "nur für die Doku", "falls niemand widerspricht",
		"allerdings muss der Lock noch behoben werden",
		"unter der Bedingung, dass die Tests laufen", "bis auf das Rennen in `pool.go`", "mit Vorbehalt", "erst den Fehler beheben", "bitte vorher rebasen",
	},
	"fr": {
		"si les tests passent", "dès que la CI est verte", "mais seulement après un rebase",
		"sous réserve de la migration",
		"à condition que le build soit vert", "sauf la migration", "après correction du verrou",
		"pourvu que personne ne s'y oppose",
		"il faut d'abord corriger le verrou", "uniquement pour la doc", "en attendant la CI", "avec des réserves",
	},
	"es": {
		"si pasan las pruebas", "en cuanto la CI esté verde", "pero hay que corregir primero el bloqueo",
		"siempre que el build pase",
		"salvo la migración", "solo la documentación", "después de un rebase",
		"a condición de que nadie se oponga", "con reservas",
		"una vez corregida la carrera", "falta corregir el bloqueo", "pendiente de la CI",
	},
	"pt": {
		"se os testes passarem", "assim que a CI ficar verde", "mas só depois de um rebase",
		"desde que o build passe", "exceto a migração",
		"após corrigir o bloqueio", "com ressalvas", "contanto que ninguém se oponha",
		"somente a documentação", "é preciso corrigir antes",
	},
	"it": {
		"se i test passano", "non appena la CI è verde", "ma solo dopo un rebase",
		"a patto che la build passi", "tranne la migrazione",
		"dopo aver corretto il lock", "con riserva", "purché nessuno si opponga", "prima va corretto il lock",
		"solo la documentazione",
	},
	"nl": {
		"als de tests slagen", "zodra de CI groen is", "maar pas na een rebase", "mits de build groen is",
		"behalve de migratie",
		"nadat de lock is hersteld", "onder voorbehoud", "tenzij iemand bezwaar maakt",
		"alleen de documentatie", "eerst de fout herstellen",
	},
	"ru": {
		"если тесты пройдут", "как только CI станет зелёным", "но только после ребейза",
		"при условии, что сборка зелёная", "кроме миграции",
		"после исправления гонки", "с оговорками", "сначала исправьте гонку", "только документация",
		"если никто не возражает",
	},
	"pl": {
		"jeśli testy przejdą", "jak tylko CI będzie zielone", "ale dopiero po rebase",
		"pod warunkiem, że build przejdzie", "oprócz migracji",
		"po poprawieniu blokady", "z zastrzeżeniami", "najpierw trzeba poprawić wyścig", "tylko dokumentacja",
		"o ile nikt nie zaprotestuje",
	},
	"tr": {
		"testler geçerse", "CI yeşil olur olmaz", "ama önce yarış durumu düzeltilmeli",
		"derleme geçmesi şartıyla", "geçiş hariç",
		"rebase sonrasında", "çekincelerle", "kimse itiraz etmezse", "sadece belgeler", "önce kilidi düzeltin",
	},
	"id": {
		"jika tesnya lulus", "setelah CI hijau", "tapi perbaiki dulu kuncinya", "asalkan build lulus",
		"kecuali migrasinya",
		"sesudah rebase", "dengan catatan", "selama tidak ada yang keberatan", "hanya dokumentasinya",
		"kunci harus diperbaiki dulu",
	},
	"vi": {
		"nếu các bài kiểm thử đạt", "ngay khi CI xanh", "nhưng phải sửa khóa trước", "miễn là bản dựng đạt",
		"trừ phần di chuyển dữ liệu",
		"sau khi rebase", "có bảo lưu", "chỉ phần tài liệu", "cần sửa lỗi trước", "với điều kiện không ai phản đối",
	},
	"sv": {
		"om testerna går igenom", "så snart CI är grön", "men först efter en rebase",
		"förutsatt att bygget går igenom", "utom migreringen",
		"efter att låset är lagat", "med förbehåll", "såvida ingen protesterar", "bara dokumentationen",
		"laga felet först",
	},
	"uk": {
		"якщо тести пройдуть", "щойно CI стане зеленим", "але лише після ребейзу",
		"за умови, що збірка зелена", "крім міграції",
		"після виправлення гонки", "із застереженнями", "спершу виправте гонку", "тільки документація",
		"якщо ніхто не заперечує",
	},
	"zh": {
		"如果测试通过", "等 CI 变绿之后", "但需要先修复竞态条件", "前提是构建通过", "除了迁移部分", "变基之后", "有保留意见", "先修复锁的问题", "仅限文档", "只要没人反对",
	},
	"ja": {
		"テストが通れば", "CI が緑になったら", "ただし先にロックを直すこと", "ビルドが通ることが条件です", "マイグレーションを除く", "リベース後に",
		"条件付きで", "先に競合状態を修正してください", "ドキュメントのみ", "誰も反対しないなら",
	},
	"ko": {
		"테스트가 통과하면", "CI가 초록색이 되는 대로", "다만 경쟁 상태를 먼저 수정해야 합니다", "빌드가 통과한다는 조건으로", "마이그레이션은 제외",
		"리베이스 후에", "조건부로", "먼저 잠금을 고쳐 주세요", "문서만", "아무도 반대하지 않는다면",
	},
	"ar": {
		"إذا نجحت الاختبارات", "بمجرد أن يصبح البناء أخضر", "لكن يجب إصلاح القفل أولا", "بشرط أن ينجح البناء",
		"باستثناء الترحيل",
		"بعد إعادة الأساس", "مع تحفظات", "أصلح الخطأ أولا", "الوثائق فقط", "ما لم يعترض أحد",
	},
	"hi": {
		"अगर परीक्षण पास हों", "जैसे ही CI हरा हो", "लेकिन पहले लॉक ठीक करें", "बशर्ते बिल्ड पास हो",
		"माइग्रेशन को छोड़कर", "रीबेस के बाद",
		"शर्तों के साथ", "पहले त्रुटि सुधारें", "केवल दस्तावेज़", "यदि कोई आपत्ति न करे",
	},
	"cs": {"pokud projdou testy", "ale až po rebase", "jakmile bude CI zelené", "s výhradami", "kromě migrace", "nejdřív opravte zámek"},
	"fi": {"jos testit menevät läpi", "kunhan CI on vihreä", "mutta vasta rebasen jälkeen", "tietyin varauksin", "paitsi migraatio", "korjaa ensin lukko"},
	"hu": {"ha a tesztek lefutnak", "amint a CI zöld", "de csak rebase után", "fenntartásokkal", "kivéve a migrációt", "előbb javítsd a zárat"},
	"el": {"αν περάσουν τα τεστ", "αλλά μόνο μετά το rebase", "με επιφυλάξεις", "εκτός από τη μετάβαση"},
	"he": {"אם הבדיקות יעברו", "אבל רק אחרי rebase", "בכפוף לאישור", "חוץ מההעברה"},
	"th": {"ถ้าการทดสอบผ่าน", "แต่ต้องแก้ล็อกก่อน", "หลังจาก rebase", "ยกเว้นการย้ายข้อมูล"},
	"ro": {"dacă trec testele", "dar numai după rebase", "cu rezerve", "cu excepția migrării", "imediat ce CI este verde"},
	"da": {"hvis testene går igennem", "men først efter en rebase", "med forbehold", "undtagen migreringen"},
	"sw": {"kama majaribio yatapita", "lakini baada ya rebase", "isipokuwa uhamisho"},
	"fa": {"اگر آزمون\u200cها بگذرند", "اما اول قفل را درست کنید", "به شرط سبز شدن CI"},
	"bn": {"যদি পরীক্ষাগুলি পাস করে", "তবে আগে লকটি ঠিক করুন", "রিবেসের পরে"},
	"ta": {"சோதனைகள் தேர்ச்சி பெற்றால்", "ஆனால் முதலில் பூட்டை சரிசெய்யவும்"},
	"tl": {"kung papasa ang mga test", "pero pagkatapos ng rebase", "maliban sa migration"},
	"ms": {"jika ujian lulus", "tetapi selepas rebase", "kecuali migrasi"},
}

// conditionLanguages are the keys of conditions, in an order that a seed can repeat.
var conditionLanguages = sortedKeys(conditions)

var (
	// tails follow a yes in its line.
	tailClasses = map[string][]string{
		"tail: negation": {
			": No", ", not really", " — never in this state", "? Not at all", ", no", " (no)", ": false",
			" = no", ", hardly", " is what I cannot say",
			" would be wrong", " - withheld", ": withheld", ", not", " ... not", " was the old answer",
			", I do not think so", " (denied)", ", said nobody",
		},
		"tail: part": {
			" (design only)", ", only the docs", " (1 of 3)", " (0 of 3 agents)", " (2/3 reviewers)",
			" for the first commit", " (tests not read)",
			", partly", " — 40 %", " (backend part)", " in part", " 3/5", " (60%)", " for `docs/` only", " with nits", " with comments", " by product",
			" for 2 of 5 files", " (title and description)", " of the naming", " - frontend", " (security)",
			", at least the parser",
		},
		"tail: or":  {" | No", " / No / With fixes", " or No", ", No or With fixes", "|No|With fixes", " or not"},
		"tail: two": {" and no", ", and no", " / Rejected", " -> Rejected", " → No", ", rejected on second look", ", later: No"},
	}
	endClasses = map[string][]string{
		"later: taken back": {
			"Actually, no.", "On second thought, this must not go in.",
			"Update: that was hasty. Do not merge it.", "Edit: do not merge, it deletes user data.",
			"❌ Do not merge.", "Correction: the migration drops a table, so my answer above no longer holds.",
			"Scratch that: the lock leaks.",
			"I take that back after reading `pool.go`.", "Please disregard the verdict above.", "Wait, the counter is never reset.",
			"I withdraw my approval.", "Not ready yet.", "This should not be merged.", "Hold the merge.",
			"Do not ship this.", "⛔ Blocked.",
			"I have changed my mind.", "Rejected.", "Looking again: no.", "My approval above is void.",
			"Ignore the yes above.", "🚫 Not this way.",
			"Sorry, I spoke too soon: this is not safe to merge.", "Final answer: no.",
			"Never mind, it is not good enough.", "Revoking this.",
		},
		"later: blocker": {
			"**Must fix before merge:** the cache outlives its owner.", "Blocker: the lock is held across the upload in `depot.go:17`.",
			"Before merging you must rotate the key.", "The lock in `pool.go` must be released first.", "This needs to be fixed first: the query is open to injection.",
			"There is one blocking problem left: the token is logged.", "### Blockers\n\n- `auth.go:41` logs the token.",
			"**Blocking:** `auth.go:41` logs the token.", "The following has to be corrected before the release: the index is missing.",
			"### Must fix\n\n- `auth.go:41`: the token is logged", "One thing blocks the merge: the missing index.", "Please fix the race in `pool.go` first.",
			"Required: add a test for the empty list.", "Action required: rotate the key.",
			"You need to fix the failing test before this goes in.",
			"The race in `pool.go` is a show-stopper.", "Merge only after the race is fixed.", "The author has to rebase this before it can be merged.",
		},
		"later: finding": {
			"- 🔴 `auth.go:41`: the token is logged", "1. **Critical** `auth.go:41`: the token is logged", "- [P1] `pool.go:88` races",
			"### Critical\n\n- `auth.go:41` logs the token", "**High:** `pool.go:88` races with the janitor",
			"| Severity | Count |\n|---|---|\n| Critical | 1 |",
			"- **[HIGH]** `pool.go:88`: a race", "Critical: 1 · High: 0", "### 🔴 High\n\n1. `pool.go:88`: the lock is not released",
		},
		"later: another value": {
			"**Ready to merge?** No", "### Verdict: REVISE", "**Status:** Issues Found",
			"## Verdict\n\nRequest changes", "Recommendation: do not merge",
			"**Ready to merge?** With fixes", "**Overall verdict:** ❌ Rejected", "# NEEDS CHANGES",
			"**Verdict:** Not approved", "Decision: BLOCK",
			"**Final verdict:** no", "**Status:** ❌ Failed",
		},
		"later: not all seen": {
			"Note: the diff was truncated, so later files were not read.",
			"I could only see the first 200 lines of the diff.",
			"Reviewed 2 of 300 files.", "Reviewed 40% of the change.", "Coverage: 3/90 files.", "I could not read `schema.sql`.", "The diff was empty.",
			"Two agents timed out.", "The tests were not reviewed.",
			"I ran out of context before the last file.", "The output was cut off.",
			"Error: the model returned no answer for 3 files.", "14 files were skipped because of their size.",
			"I did not look at the migration.",
			"GitHub answered 403 when I fetched the diff.", "Only the title was available to me.",
			"The context limit was reached.",
			"Failed to fetch 3 files.", "I was unable to open `main.go`.", "I only skimmed the generated code.", "This review is incomplete.",
			"⚠️ Some files could not be loaded.", "The patch was too large to read in full.",
			"Remaining files: not reviewed.", "I had no access to the diff.",
			"**Files reviewed:** 3 of 12", "Not reviewed: `internal/store`.", "The security agent crashed, so its part is missing.",
		},
	}
	// lead-ins stand above an approval that is somebody else's or of another time.
	leadIns = []string{
		"The author wrote:", "The description of the pull request says:",
		"Had the tests passed I would have written:", "Your answer must end like this:",
		"Example:", "For example:", "mona said:", "CodeRabbit answered:", "Previous review:",
		"In the last round I wrote:", "The template asks for:",
		"The commit message reads:", "Quote from the pull request:", "The old verdict was:",
		"Der Autor schreibt:", "L'auteur a écrit :",
		"作者写道：", "作者のコメント：", "El autor escribió:", "Автор пишет:", "If it were up to the tests:",
		"What the other bot posted:",
		"## Previous review", "## Example output", "### Pull request description",
		"### Prior verdict (superseded)", "## History",
		"<details>\n<summary>Previous result</summary>\n",
		"<details>\n<summary>Earlier review of abc1234</summary>\n",
	}
	// noticeTops stand above everything.
	noticeTops = []string{
		"## ⚠️ API Error (HTTP 503)", "> [!WARNING]\n> Rate limit exceeded. Please wait 5 minutes.",
		"## Rate limit exceeded", "# Review skipped",
		"> [!CAUTION]\n> The model is currently overloaded.", "## ❌ Authentication failed",
		"### Quota exceeded", "## Diff is too large",
		"> [!IMPORTANT]\n> I was unable to fetch the diff of this pull request.", "**The request timed out.**",
		"## Credit balance is too low",
	}
)

func sortedKeys(m map[string][]string) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// writeVetoed returns an approval with one veto.
func (w *writer) writeVetoed() generatedText {
	switch w.rnd.IntN(11) {
	case 9, 10:
		return w.writeMore()
	case 0, 1, 2:
		return w.writeConditional()
	case 3:
		return w.writeTail()
	case 4, 5:
		return w.writeEnd()
	case 6:
		return w.writeEcho()
	case 7:
		return w.writeHidden()
	}
	switch w.rnd.IntN(3) {
	case 0:
		return w.writeBesideNotice()
	case 1:
		return w.writeUnfilled()
	}
	return w.writeJSONVetoed()
}

// wordedApproval returns an approval that is not only a state: words cannot hide from a state what it says.
func (w *writer) wordedApproval() approval {
	a := w.approval()
	for a.class == "state" {
		a = w.approval()
	}
	return a
}

func (w *writer) writeConditional() generatedText {
	language := pickOne(w, conditionLanguages)
	if w.oneIn(4) {
		language = "en"
	}
	text := pickOne(w, conditions[language])
	a := w.wordedApproval()
	capital := strings.ToUpper(text[:1]) + text[1:]
	if text[0] >= 0x80 {
		capital = text
	}
	below := []string{text, capital + ".", "(" + text + ")", "_" + capital + "_", "**" + capital + ".**", "\n" + capital + ".", "- " + text}
	if a.class == "preset" { // whose lists describe the change
		below = below[:len(below)-1]
	}
	switch w.rnd.IntN(4) {
	case 0:
		tail := pickOne(w, []string{", %s", " — %s", " (%s)", " %s", "; %s", ". %s.", " - %s"})
		return w.withTail(a, "condition in its line: "+language, fmt.Sprintf(tail, text))
	case 1:
		return a.toText("condition below, "+a.class+": "+language, w.frame(a, a.String(), frameParts{below: pickOne(w, below)}), mustNotApprove)
	case 2:
		return a.toText("condition labelled, "+a.class+": "+language, w.frame(a, a.String(), frameParts{below: "\n" + fmt.Sprintf(pickOne(w, []string{
			"**Condition:** %s", "Note: %s", "**Reasoning:** %s.", "**Reason:** good work, %s",
			"**Caveat:** %s", "### Note\n\n%s.",
		}), text)}), mustNotApprove)
	}
	return a.toText("condition at the end, "+a.class+": "+language, w.frame(a, a.String(), frameParts{end: capital + "."}), mustNotApprove)
}

// writeMore returns an approval with one of the later wordings. A vendor's own sentence stands in its template, whose short
// prose describes the change: what may stand there its vetoes tell.
func (w *writer) writeMore() generatedText {
	a := w.wordedApproval()
	for a.class == "preset" {
		a = w.wordedApproval()
	}
	switch w.rnd.IntN(5) {
	case 0:
		return w.withTail(a, "more: tail", pickOne(w, moreTails))
	case 1:
		return a.toText("more: end, "+a.class, w.frame(a, a.String(), frameParts{end: pickOne(w, moreEnds)}), mustNotApprove)
	case 2:
		a = w.fieldApproval()
		return a.toText("more: notice", w.frame(a, a.String(), frameParts{top: pickOne(w, moreNotices)}), mustNotApprove)
	case 3:
		for a = w.fieldApproval(); strings.HasPrefix(a.lines[0], "#"); { // a heading of its own ends what stands above
			a = w.fieldApproval()
		}
		return a.toText("more: echo", w.frame(a, a.String(), frameParts{above: pickOne(w, moreLeadIns)}), mustNotApprove)
	}
	parts := frameParts{end: pickOne(w, moreConditions)}
	if w.oneIn(2) {
		parts = frameParts{below: "\n" + parts.end}
	}
	return a.toText("more: condition, "+a.class, w.frame(a, a.String(), parts), mustNotApprove)
}

// withTail returns a text whose approving line goes on.
func (w *writer) withTail(a approval, class, tail string) generatedText {
	for a.class == "zero counts" && strings.HasPrefix(a.lines[0], "|") {
		a = w.zeroApproval()
	}
	w.added = tail
	n := len(a.lines) - 1
	a.lines = append([]string(nil), a.lines...)
	line := a.lines[n]
	if bare, bold := strings.CutSuffix(line, "**"); bold && w.oneIn(2) {
		a.lines[n] = bare + tail + "**"
	} else {
		a.lines[n] = line + tail
	}
	return a.toText(class+", "+a.class, w.frame(a, a.String(), frameParts{}), mustNotApprove)
}

func (w *writer) writeTail() generatedText {
	class := pickOne(w, sortedKeys(tailClasses))
	a := w.wordedApproval()
	for a.class == "zero counts" {
		a = w.wordedApproval()
	}
	return w.withTail(a, class, pickOne(w, tailClasses[class]))
}

func (w *writer) writeEnd() generatedText {
	class := pickOne(w, sortedKeys(endClasses))
	a := w.wordedApproval()
	end := pickOne(w, endClasses[class])
	parts := frameParts{end: end}
	if w.oneIn(3) {
		parts = frameParts{below: "\n" + end}
	}
	return a.toText(class+", "+a.class, w.frame(a, a.String(), parts), mustNotApprove)
}

// writeEcho returns an approval that is not the writer's, or not of now.
func (w *writer) writeEcho() generatedText {
	a := w.fieldApproval()
	if w.oneIn(4) {
		a = w.nothingFoundApproval()
	}
	lead := pickOne(w, leadIns)
	for strings.HasPrefix(lead, "#") && strings.HasPrefix(a.lines[0], "#") {
		a = w.fieldApproval()
	}
	parts := frameParts{above: lead, end: pickOne(w, []string{"", "They did not.", "I have not decided yet.", "More below."})}
	if strings.HasPrefix(lead, "<details>") {
		parts.end = "</details>"
	}
	return a.toText("echo, "+a.class, w.frame(a, a.String(), parts), mustNotApprove)
}

// hidings make a text's part one that nobody sees, or that is shown as code, struck out or quoted.
var hidings = map[string]func(s string) string{
	"comment":            func(s string) string { return "<!-- " + s + " -->" },
	"comment of lines":   func(s string) string { return "x <!--\n" + s + "\n-->" },
	"open comment":       func(s string) string { return "<!--\n" + s },
	"fence":              func(s string) string { return "```\n" + s + "\n```" },
	"fence of tildes":    func(s string) string { return "~~~md\n" + s + "\n~~~" },
	"open fence":         func(s string) string { return "````\n" + s },
	"quote":              func(s string) string { return "> " + strings.ReplaceAll(s, "\n", "\n> ") },
	"quote in item":      func(s string) string { return "- > " + strings.ReplaceAll(s, "\n", "\n  > ") },
	"indented":           func(s string) string { return "x\n\n    " + strings.ReplaceAll(s, "\n", "\n    ") },
	"pre":                func(s string) string { return "<pre>\n" + s + "\n</pre>" },
	"blockquote":         func(s string) string { return "<blockquote>\n\n" + s + "\n\n</blockquote>" },
	"del":                func(s string) string { return "<del>\n\n" + s + "\n\n</del>" },
	"strike":             func(s string) string { return "~~" + s + "~~" },
	"strike over lines":  func(s string) string { return "~~I was content at first.\n" + s + "\nThat was before.~~" },
	"single tilde":       func(s string) string { return "~" + s + "~" },
	"definition's title": func(s string) string { return "[a]: https://example.com '\n" + s + "\n'" },
	"footnote":           func(s string) string { return "[^1]: " + s },
	"declaration":        func(s string) string { return "<!X\n" + s + "\n>" },
	"instruction":        func(s string) string { return "<?x\n" + s + "\n?>" },
	"CDATA":              func(s string) string { return "<![CDATA[\n" + s + "\n]]>" },
	"attribute":          func(s string) string { return "<img alt=\"\n" + s + "\n\" src=x>" },
	"link text":          func(s string) string { return "[" + s + "](https://example.com/badge)" },
	"image":              func(s string) string { return "![" + s + "](https://example.com/badge.svg)" },
	"code span":          func(s string) string { return "`" + s + "`" },
	"code tag":           func(s string) string { return "<code>" + s + "</code>" },
	"cell":               func(s string) string { return "| Who | What |\n|---|---|\n| mona | " + s + " |" },
	"title tag":          func(s string) string { return "<title>\n" + s + "\n</title>" },
	"task":               func(s string) string { return "- [ ] " + s },
	"left to right":      func(s string) string { return "\u202e" + s + "\u202c" },
	"previous fold": func(s string) string {
		return "<details><summary>Previous reviews</summary>\n\n" + s + "\n\n</details>"
	},
	"letters": func(s string) string {
		return replaceSome(s, "e", "\u0435", "o", "\u043e", "a", "\u0430", "E", "\u0415", "O", "\u041e", "A", "\u0410")
	},
	"zero width": func(s string) string {
		return replaceSome(s, "e", "e\u200b", "o", "o\u200b", "E", "E\u200b", "O", "O\u200b")
	},
	"full width": func(s string) string {
		return replaceSome(s, "e", "\uff45", "o", "\uff4f", "E", "\uff25", "O", "\uff2f")
	},
	"joiner": func(s string) string {
		return replaceSome(s, "e", "e\u200d", "o", "o\u200d", "E", "E\u200d", "O", "O\u200d")
	},
	"mathematical": func(s string) string {
		return replaceSome(s, "e", "\U0001d5f2", "o", "\U0001d5fc", "E", "\U0001d5d8", "O", "\U0001d5e2")
	},
	"combining": func(s string) string {
		return replaceSome(s, "e", "e\u0336", "o", "o\u0336", "E", "E\u0336", "O", "O\u0336")
	},
}

func replaceSome(s string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(s) }

var hidingNames = func() (names []string) {
	for name := range hidings {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}()

func (w *writer) writeHidden() generatedText {
	a := w.fieldApproval()
	if w.oneIn(3) {
		a = w.nothingFoundApproval()
	} else if w.oneIn(4) {
		a = w.presetApproval()
	}
	name := pickOne(w, hidingNames)
	if a.class == "preset" && name == "link text" { // a vendor may link its own sentence
		name = "image"
	}
	switch name { // over lines, these marks hold no longer
	case "strike", "single tilde", "code span", "code tag", "link text", "image", "cell", "task", "footnote":
		for len(a.lines) > 1 || strings.HasPrefix(a.lines[0], "#") || strings.ContainsAny(a.lines[0], "[|") || strings.HasPrefix(a.lines[0], "- ") {
			a = w.fieldApproval()
		}
	}
	core := hidings[name](strings.Join(a.lines, "\n"))
	if core == strings.Join(a.lines, "\n") {
		return w.writeHidden()
	}
	if p := presetOf(a.reviewer.Preset); name == "quote" && p.OpensQuoted || name == "code tag" && p.CodeRows {
		return w.writeHidden() // there its vendor says so
	}
	return a.toText("hidden: "+name+", "+a.class, w.frame(a, core, frameParts{}), mustNotApprove)
}

func (w *writer) writeBesideNotice() generatedText {
	a := w.fieldApproval()
	if w.oneIn(3) {
		a = w.nothingFoundApproval()
	}
	return a.toText("beside a notice, "+a.class, w.frame(a, a.String(), frameParts{top: pickOne(w, noticeTops)}), mustNotApprove)
}

// writeUnfilled returns a template that nobody filled in.
func (w *writer) writeUnfilled() generatedText {
	f := pickOne(w, verdictFields)
	value := pickOne(w, []string{
		"[Yes | No | With fixes]", "Yes/No/With fixes", "Approved | Rejected", "APPROVE|REVISE|RETHINK",
		"{{verdict}}", "<verdict>", "[your verdict]",
		"Yes or No", "Approved, Rejected", "TBD", "…", "...", "[ ] Yes [ ] No", "Yes ☐ No ☐", "☐ Approved",
		"[ ] Approved", "[x] Yes [x] No", "$VERDICT",
		"%s", "YES / NO", "(Approved|Issues Found)", "one of: Approved, Rejected", "?", "n/a", "undefined",
		"null", "Approved?", "Yes?",
	})
	a := w.withKind(approval{class: "field", lines: w.field(f, value), reviewer: w.plainReviewer(quorum.ReadyToMerge)})
	return a.toText("unfilled", w.frame(a, a.String(), frameParts{}), mustNotApprove)
}

func (w *writer) writeJSONVetoed() generatedText {
	more := pickOne(w, []string{
		`"approved": false`, `"blocking_issues": ["the token is logged"]`, `"errors": ["the diff was truncated"]`, `"required_changes": 2`,
		`"comments": [{"body": "the lock leaks"}]`, `"meta": {"approved": false}`, `"truncated": true`, `"conditions": "once CI is green"`,
		`"notes": "do not merge before Monday"`, `"nested": {"blockers": 1}`, `"severity": "critical"`, `"warnings": ["tests were not read"]`,
		`"overall_explanation": "I could not read the diff."`, `"explanation": "Approved, but only once the lock is fixed."`,
		`"files_reviewed": 3, "files_total": 90`, `"verdict2": "reject"`, `"decision": "reject"`, `"overall_correctness": "patch is incorrect"`,
		`"reasoning": "Do not merge this."`, `"result": "fail"`, `"issues": [{"severity": "critical", "body": "the token is logged"}]`, `"ready": false`,
		`"blocking": true`, `"score": 2`, `"must_fix": ["the index"]`, `"partial": true`, `"error": "timeout"`, `"explanation": "aber erst nach dem Rebase"`,
	})
	findings, verdict := "[]", w.jsonYes()
	class := "json: key"
	if strings.HasPrefix(more, `"overall_correctness`) {
		verdict = `"verdict": "approve"`
	}
	switch w.rnd.IntN(4) {
	case 0:
		class, more = "json: finding", `"title": "x"`
		findings = pickOne(w, []string{
			`[{"path": "a.go", "line": 3, "severity": "high", "body": "the lock leaks"}]`, `[{"title": "[P0] the token is logged", "body": "in the log"}]`,
			`[{"priority": 1, "title": "a race"}]`, `["the token is logged"]`, `"the token is logged"`, `{"path": "a.go"}`, `[{"blocking": true, "body": "x"}]`,
		})
	case 1:
		class, more = "json: verdict", `"title": "x"`
		verdict = pickOne(w, []string{
			`"verdict": "approve once CI is green"`, `"verdict": "approve | reject"`, `"verdict": true`, `"verdict": ["approve"]`, `"verdict": "not approved"`,
			`"verdict": "approved (2 of 3)"`, `"verdict": "approve", "status": "rejected"`, `"verdict": "approve", "verdict": "reject"`, `"verdict": ""`,
			`"verdict": {"value": "approve"}`, `"verdict": "аpprove"`, `"verdict": "<approve>"`, `"ok": true`, `"verdict": "approve_with_nits"`,
		})
	}
	body := w.jsonObject(verdict, findings, more)
	if strings.Count(body, `"files_total"`) > 1 || strings.Count(body, `"title"`) > 2 {
		return w.writeJSONVetoed()
	}
	return generatedText{class: class, reviewer: w.jsonReviewer(), material: Material{Kind: Comment, Body: body}, want: mustNotApprove}
}
