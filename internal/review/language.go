package review

// This file tells whether a line is English, the language whose doubts doubt.go reads. What follows a yes in another
// language may be a condition, and nobody can list all of those: it is read only as a reason behind its label.
//
// A sentence is told by its function words ("the", "but", "nach", "sauf"): each language has a few hundred, and no sentence
// is without them. A line without any, such as the name of a file, is taken for English.

import (
	"strings"
	"sync"
	"unicode"
)

// englishWords are function words of English, and words that a review's short sentences are made of.
var englishWords = lazyWords(`the this that these those and or of to in for with without is are was were be been
being has have had it its
they them their there all any every each both not nothing none which what who how why when where while because
since at by from into
onto over under than then also well very more most less only just now new old good great nice clean clear small
simple solid safe sound correct
done work works change changes tested covers covered fixes fixed files line lines reviewed reviewer added adds
removed renames looks reads does did will would should could can may might must if once after before but however
until unless off up out
about across between through during per via same other another such own one two three first last next few many
much some our we you your my`)

// otherWords are function words of languages whose doubts foreignDoubt knows. None is a word of English, nor of code.
var otherWords = lazyWords(`aber sobald wenn falls nur erst sofern nicht und mit auf nach vor zuerst bitte muss
vorher unter ohne noch kein keine
keiner niemand wird werden vom zum zur dem eine einen einer eines ist sind dass nachdem bevor jedoch allerdings
vorausgesetzt bedingung vorbehalt
mais les seulement avec sauf une et faut uniquement pas ne qui cette tout avant doit doivent sous dans aux que
pourvu attendant bien
pero las los hay una cuando cuanto falta por para del como debe antes siempre salvo pruebas pasan pase reservas
corregir
assim contanto exceto somente apenas uma sem passarem passe ressalvas corrigir ficar depois
gli che non della dei dopo senza tranne appena prima patto nessuno passano dell alla delle riserva
maar het een mits behalve nadat onder tenzij alleen eerst zodra niet voor wordt moet deze zijn iemand voorbehoud
van slagen
jak tylko ale dopiero oprócz najpierw trzeba nikt nie ile przed musi gdy kiedy pod warunkiem jest przez
przejdzie
ama hariç sonra kimse sadece ve bir bu için eğer ancak önce geçerse olur
jika setelah tapi tetapi dulu asalkan kecuali sesudah selepas dengan selama tidak ada yang hanya harus dan ini
itu untuk sudah belum sebelum kalau
oleh dari sau khi
och att inte efter innan ingen bara snart måste som till förutsatt utom ett`)

// unknownWords are function words of languages whose doubts nobody here knows.
var unknownWords = lazyWords(`hvis og ikke kun når skal undtagen etter unntatt forbehold lulus ujian
pokud jakmile bude kromě musí jen jestli nejdřív
jos kunhan mutta vasta jälkeen paitsi ennen varauksin vihreä korjaa ensin vain mukaan
ha amint csak kivéve előbb hogy kell nem után
dacă cu dar numai după imediat este trebuie doar rezerve și
kama lakini baada isipokuwa kabla kwa
kung ang mga pagkatapos maliban muna bago hindi kapag
ako nakon osim prije mora ampak samo
amb després quan però
jei tikai pärast ainult kuid
haddii nëse amma tí ṣùgbọ́n kodwa ngaphambi`)

// weakWords are function words of other languages that code and English write too: one counts half.
var weakWords = lazyWords(`die der das den als im bei bis si la le en il un du sur des se el
 de es con sin na ma men med est son ha po alles cu`)

func lazyWords(list string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		words := map[string]bool{}
		for _, w := range strings.Fields(list) {
			words[w] = true
		}
		return words
	})
}

// isForeign reports whether a line is in another language than English. text is without code spans.
func isForeign(text string) bool {
	isStop := func(r rune) bool { return strings.ContainsRune(",;:.()，。：；、،", r) }
	for clause := range strings.FieldsFuncSeq(withoutNames(strings.ToLower(text)), isStop) {
		if isForeignClause(clause) {
			return true
		}
	}
	return false
}

// longestName is how long a word with letters beyond ASCII may be that is taken for a name.
const longestName = 11

func isForeignClause(text string) bool {
	all, english, foreign := 0, 0, 0 // foreign counts halves
	for word := range strings.FieldsFuncSeq(text, isNoLetter) {
		all++
		switch word = strings.Trim(word, "'’"); {
		case word == "":
		case otherWords()[word], unknownWords()[word]:
			foreign += 2
		case weakWords()[word]:
			foreign++
		case englishWords()[word]:
			english++
		case hasForeignLetter(word):
			if isLatin(word) {
				foreign += 2
				if len(word) > longestName {
					all++
				}
			} else {
				foreign += 4
				all++ // a word may be a sentence
			}
		}
	}
	return foreign > 2*english && all > 1
}

// withoutNames returns s without the paths, addresses and identifiers in it.
func withoutNames(s string) string {
	if !strings.ContainsAny(s, "/_.@#\\") {
		return s
	}
	words := strings.Fields(s)
	for i, w := range words {
		if inner := strings.Trim(w, ".,;:!?()[]\"'*_"); strings.ContainsAny(inner, "/_.@#\\") && !hasForeignLetter(inner) {
			words[i] = ""
		}
	}
	return strings.Join(words, " ")
}

func isNoLetter(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsMark(r) && r != '\'' && r != '’'
}

// isLatin reports whether all letters of a word are Latin ones.
func isLatin(word string) bool {
	for _, r := range word {
		if unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r) {
			return false
		}
	}
	return true
}

// hasForeignLetter reports whether s holds a letter beyond ASCII.
func hasForeignLetter(s string) bool {
	for _, r := range s {
		if r >= 0x80 && unicode.IsLetter(r) {
			return true
		}
	}
	return false
}

// reasonLabel matches the label of a reason or a summary, in the languages whose conditions foreignDoubt knows.
var reasonLabel = lazyRegexp(`^(?:(?:reason(?:ing|s)?|summary|rationale|justification|explanation|why` +
	`|details?|overview|assessment|strengths|praise|scope` +
	`|begründung|grund|zusammenfassung|raisons?|motifs?|résumé|motivo|razón|razones|resumen|justificación` +
	`|razonamiento|justificativa|motivação|resumo` +
	`|motivazione|riepilogo|sintesi|reden|toelichting|samenvatting|причина|обоснование|резюме|итог` +
	`|uzasadnienie|powód|podsumowanie|gerekçe|neden|özet` +
	`|alasan|ringkasan|lý do|tóm tắt|motivering|sammanfattning|обґрунтування|підсумок|理由|原因|总结|總結|概要|摘要|まとめ` +
	`|이유|요약|السبب|الملخص|कारण|सारांश)` +
	` ?(?:[:：]| - | – | — ))`)

// foreignDoubt matches what may make a yes conditional, or take it back, in a reason in another language: "if", "but",
// "only", "after", "must", "first", "not".
var foreignDoubt = lazyRegexp(`(?:^|[^\pL])(?:aber|sobald|wenn|falls|nur|erst|zuerst|außer|jedoch|allerdings` +
	`|sofern|vorausgesetzt|nachdem|bevor|muss|müssen|bitte|vorbehalt\pL*` +
	`|bedingung|vorher|bis auf|solange|nicht|kein\pL*` +
	`|mais|si|sauf|seulement|uniquement|dès|après|condition|pourvu|cependant|toutefois|réserves?|faut|doit` +
	`|doivent|attendant|avant|ne|pas|d'abord` +
	`|pero|solo|sólo|salvo|excepto|cuando|cuanto|después|siempre|condición|vez|embargo|aunque|reservas|falta` +
	`|hay|debe|deben|antes|pendiente|no` +
	`|mas|se|só|somente|apenas|exceto|quando|depois|desde|assim que|contanto|porém|embora|após|ressalvas` +
	`|preciso|deve|não|pendente` +
	`|ma|però|tranne|eccetto|dopo|purché|patto|appena|tuttavia|riserva|prima|deve|non|va` +
	`|maar|als|zodra|mits|behalve|tenzij|nadat|alleen|echter|pas|voorbehoud|eerst|moet|niet` +
	`|но|если|только|лишь|после|когда|кроме|как только|при условии|однако|оговорк\pL*|сначала|нужно|надо|не` +
	`|исправ\pL*` +
	`|ale|jeśli|jeżeli|tylko|dopiero|po|oprócz|gdy|warunkiem|jednak|zastrzeżeni\pL*|najpierw|trzeba|musi|nie|ile` +
	`|ama|fakat|ancak|eğer|sadece|yalnızca|sonra\pL*|şartıyla|koşuluyla|hariç|önce|\pL*(?:erse|arsa|ırsa|irse` +
	`|mezse|mazsa)|olmaz|değil|çekince\pL*` +
	`|tapi|tetapi|jika|kalau|setelah|sesudah|kecuali|asalkan|hanya|namun|dulu|harus|selama|tidak|belum|catatan` +
	`|nhưng|nếu|sau khi|trừ|chỉ|miễn là|tuy nhiên|ngay khi|phải|cần|trước|điều kiện|bảo lưu|không|chưa` +
	`|men|om|efter|förutsatt|utom|när|endast|dock|förbehåll|såvida|bara|först|måste|inte|snart` +
	`|якщо|тільки|лише|після|коли|крім|проте|щойно|умови|застереженн\pL*|спершу|треба|потрібно` +
	`|виправ\pL*)(?:[^\pL]|$)` +
	`|但|如果|若|只有|只要|只|仅|僅|除|之后|之後|不过|前提|然而|等|先|需|必须|必須|应|保留|未|不|しかし|ただ|もし|条件|だが|のみ|でも|後に|たら|れば|なら|除く|先に|ください` +
	`|必要|べき|ない|ません` +
	`|다만|하지만|그러나|만약|단,|단 |조건|면 |면\.|면$|대로|제외|후에|먼저|주세요|해야|않|문서만` +
	`|لكن|إذا|بعد|شرط|فقط|باستثناء|إلا|بمجرد|ما لم|يجب|أولا|تحفظ|لا |أصلح|लेकिन|परंतु|यदि|अगर|बशर्ते|केवल` +
	`|सिवाय|किन्तु|जैसे ही|पहले|बाद|छोड़|शर्त|नहीं`)

// isForeignDoubt reports whether a line that follows a yes is one in another language that may take it back: anything but
// a reason behind its label.
func isForeignDoubt(text string) bool {
	words := strings.ToLower(plainWords(cutLinks(cutCodeSpans(text))))
	if !isForeign(words) {
		return false
	}
	label := reasonLabel().FindString(words)
	return label == "" || !isKnownLanguage(words[len(label):]) || foreignDoubt().MatchString(words[len(label):])
}

// isKnownLanguage reports whether a sentence is in a language whose doubts foreignDoubt knows.
func isKnownLanguage(words string) bool {
	if !isKnownScript(words) {
		return false
	}
	known, latin := false, false
	for word := range strings.FieldsFuncSeq(words, isNoLetter) {
		if unknownWords()[word] {
			return false
		}
		known = known || otherWords()[word] || weakWords()[word]
		latin = latin || isLatin(word)
	}
	isOtherScript := func(r rune) bool { return r >= 0x80 && unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r) }
	return known || !latin || strings.ContainsFunc(words, isOtherScript)
}

// isKnownScript reports whether all letters are of a script whose doubts are known.
func isKnownScript(words string) bool {
	for _, r := range words {
		if r >= 0x80 && unicode.IsLetter(r) &&
			!unicode.In(r, unicode.Latin, unicode.Cyrillic, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
				unicode.Arabic, unicode.Devanagari) &&
			r != 'ー' || strings.ContainsRune("پچژگکی", r) {
			return false
		}
	}
	return true
}
