package review

// This file is the closed list of what takes an approval by free text away, besides a finding, another value and what was not
// read: wherever it stands, above the yes or below. What is not on the list describes. Nothing here can approve.

import (
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A veto is a row of the list. Its expression is held against the words of one unit: a line, or a cell of a row.
type veto struct {
	name    string
	expr    func() *regexp.Regexp
	prose   bool   // it is held against each sentence, too, and takes the yes of a review's state away
	example string // a test reads it, and fails if anything but this row takes the yes away
}

var vetoes = []veto{
	{
		"do not merge", lazyRegexp(
			`(?:^|[.;:!?,(—–] ?|\b(?:i|we|you|please|so|and|but|strongly|this|that) )` + mustNot + `(?: recommend)?(?: yet)? ` +
				`(?:merg(?:e|ing)|ship|land|approve)\b|\b` + mustNot + `(?: yet)? be (?:merged|shipped|landed|approved)\b` +
				`|\bnot (?:yet )?(?:ready|safe) (?:to|for) (?:be )?merged?\b|\bnot mergeable\b` +
				`|\bhold (?:off|the merge)\b|^(?:please )?merge (?:only|once|after)\b`),
		true, "Please do not merge this yet.",
	},
	{
		"must be fixed", lazyRegexp(
			`\b(?:must|needs? to|has to|have to) (?:first )?be (?:(?:fixed|addressed|reverted|corrected|reworked)\b` +
				`|resolved(?: first| before (?:the )?merg\w+)?(?:[.;:!,]|$))` +
				`|\bshould be reverted\b|\bbefore (?:the )?(?:merge|merging|release)\b` +
				`|\bbefore (?:this|it) (?:(?:is|can be|gets) (?:merged|shipped|released|deployed|landed)|goes (?:in|out|live)|lands|ships)\b` +
				`|\bshow-?stopper\b|\bblocks? (?:the )?merg(?:e|ing)\b|\bis a (?:merge )?blocker\b|\bi (?:am requesting|request) changes\b` +
				`|^(?:action |fix )?required\b|\bfix (?:is )?required\b`),
		true, "The race in the hub must be fixed.",
	},
	{
		"a yes on a condition", lazyRegexp(
			`^(?:approved?|yes|lgtm|ready|pass(?:ed)?)[,;.]? (?:but|only|if|once|after|unless|provided|except|pending)\b`),
		true, "Approved, but only once the lock is fixed.",
	},
	{
		"changes requested", lazyRegexp(`^(?:changes (?:are )?(?:requested|required|needed)|requesting changes)\b`),
		false, "Changes are required in the hub.",
	},
	{
		"something is open", lazyRegexp(
			`\b(?:[1-9]\d{0,4}|one|two|three|four|five) (?:still |\w+ )?` + openState + ` ` + openThing + `\b` +
				`|\b` + openState + ` ` + openThing + ` ?[:(] ?[1-9]` +
				`|\b` + openThing + ` (?:still |left |remain(?:ing)? )?(?:open|unresolved) ?[:(] ?[1-9]` +
				`|\b[1-9]\d{0,4} ` + openThing + ` (?:still |are |remain )*(?:open|unresolved|unaddressed)\b`),
		false, "2 unresolved threads",
	},
	{
		"taken back", lazyRegexp(
			`\b(?:withdr[ae]w(?:s|ing)?|retract\w*|revok\w+|rescind\w*|revert\w*|tak(?:e|ing) back|took back|disregard|ignore|scrap) ` +
				`(?:\w+ ){0,2}(?:approval|approve|verdict|yes|above|decision|vote|review)\b|\brevoking (?:this|it)\b` +
				`|(?:^|\b(?:my|this|our|that|the|above|earlier) )(?:approval|verdict|yes|answer|decision|vote)\b.{0,30}\b(?:withdrawn|void` +
				`|in error|by mistake|premature|revoked|retracted|superseded|(?:no longer|not) (?:valid|stands?|holds?))\b` +
				`|\b(?:approval|verdict|yes)(?: above)? (?:was (?:a mistake|wrong)|is (?:wrong|a mistake))\b` +
				`|^(?:edit|update|correction)\b.{0,40}\b(?:not approved|a no|reject\w*|request_changes|withdrawn)\b` +
				`|\b(?:no longer|not) (?:approve|approving)\b|\bon second thoughts?\b|\bchanged my mind\b` +
				`|\b(?:scratch|strike) that\b|\btak(?:e|ing) (?:it|that) back\b|\bwrong (?:pull request|pr)\b` +
				`|\b(?:verdict|review|answer) (?:is |was )?(?:for|of) (?:another|a different) (?:pull request|pr)\b`),
		true, "I withdraw my approval.",
	},
	{
		"another value", lazyRegexp(
			`\b(?:verdict|decision|recommendation)(?: \([^()]{0,30}\))? ?(?:is|=|→|->|—|–|-|:)? ?(?:to )?` +
				`(?:request[_ -]?changes|changes[_ ]requested|reject(?:ed)?|block(?:ed)?|needs[_ ](?:work|changes)|fail(?:ed)?)\b` +
				`|^(?:approved?|lgtm|mergeable|merge|ship(?: it)?|safe to \w+|ready(?: to \w+)?|go) ?[:?] ?(?:no|false|not yet)\b` +
				`|^(?:\w+ ){0,3}\w+: (?:fail|failed|failing)[.!]?$|^vote: ?-1|^nack\b`),
		false, "Verdict - REJECT",
	},
	{
		"not in its language", lazyRegexp(
			`nicht mergen|ne pas fusionner|ne fusionnez pas|no fusion(?:ar|es)|não (?:mescl|faça merge)|niet mergen|non unire` +
				`|не (?:сливать|мержить)|đừng merge|không merge|マージ(?:しない|不可|するな)|(?:不要|请勿|不能)合[并併]|(?:병합|머지)하지 마`),
		true, "Bitte nicht mergen.",
	},
}

const mustNot = `(?:do not|don't|must not|should not|shouldn't|would not|cannot|can't|never|let's not)`

const (
	openState = `(?:open|unresolved|outstanding|blocking|remaining|unaddressed)`
	openThing = `(?:findings?|issues?|comments?|threads?|problems?|questions?)`
)

// The rules by which something takes an approval away for a reason of its own.
const (
	ruleUnread    = "not all was read"
	ruleCondition = "veto: a condition"
)

// connective matches a line behind a yes that begins by making it conditional, or by taking it back.
var connective = lazyRegexp(`^(?:but|only|if|provided|once|unless|except|until|before|after|pending|assuming|however|correction|actually|wait` +
	`|never mind|oops|sorry|stop|contingent on|subject to|conditional|conditions?|as long as|so long as|as soon as|apart from` +
	`|with (?:the|one|a) (?:caveat|condition)|on (?:the )?condition` +
	`|aber|nur|wenn|sobald|sofern|falls|außer|bevor|nachdem|mais|si|sauf|seulement|dès que|après|avant|pero|solo|sólo|salvo|cuando` +
	`|antes|después|mas|se|somente|apenas|exceto|quando|depois|maar|als|mits|tenzij|zodra|behalve|но|если|только|после|кроме|nhưng` +
	`|nếu|sau khi|trừ)(?:[^\pL]|$)|^(?:但|如果|只有|除|之后|前提|しかし|ただ|もし|条件|だが|다만|하지만|만약|단,|단 )`)

// otherChange matches a title that names a pull request: "Review of #41", "PR #41 review", "Pull request: #41".
var otherChange = lazyRegexp(`^(?:code |ai )?(?:re)?(?:review|verdict|assessment|result)(?: report| result)?s?:? (?:of |for |on )?` +
	`(?:pr |pull request )?#(\d{1,9})\b|^(?:pr|pull request):? #(\d{1,9})\b`)

// shortLine is how many words a line has fewer of than a sentence that describes.
const shortLine = 9

// vetoLine finds the line that takes an approval in line `at` away. A review's state and the words of a vendor (plain) are taken
// away by plain words alone, which stand neither in a fold nor in a table or quote.
func (d *document) vetoLine(at int, plain bool) (line int, rule string, found bool) {
	first := true
	for i, text := range d.linesBeside(at, plain) {
		units := []string{text}
		if text[0] == '|' {
			units = cellsOf(text)
		}
		if whole := d.wholeSentence(i, text); whole != text {
			units = append(units, whole)
		}
		for _, unit := range units {
			unit, _ = listItem(strings.TrimSpace(unit))
			if rule := ruleOfUnit(unit, plain, d.pull); rule != "" {
				return i, rule, true
			}
		}
		if plain || i < at {
			continue
		}
		if rule := ruleBehind(d.lines[i], text, first); rule != "" {
			return i, rule, true
		}
		first = false
	}
	return 0, "", false
}

// linesBeside yields the lines beside an approval, with their texts, in which something may take it away. With plain, those
// in a fold, a table or a quote are left out: they are about the change itself.
func (d *document) linesBeside(at int, plain bool) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for i, l := range d.lines {
			text := strings.TrimSpace(l.text)
			if text == "" || l.visibility == hidden || i == at || plain && isSetApart(l) {
				continue
			}
			if !yield(i, text) {
				return
			}
		}
	}
}

func isSetApart(l pageLine) bool {
	return l.folded || l.visibility == quoted && !l.alert || strings.HasPrefix(strings.TrimSpace(l.text), "|")
}

func ruleOfUnit(unit string, plain bool, pull int) (rule string) {
	bare := crossNames.Replace(cutCodeSpans(unit))
	words := plainWords(cutLinks(dropInvisible(bare)))
	for _, v := range vetoes {
		if (v.prose || !plain) && saysVeto(v, words) {
			return "veto: " + v.name
		}
	}
	if plain {
		return ""
	}
	_, value, _ := strings.Cut(words, ": ")
	_, isNo := rejectingUnit(value, false)
	_, isUnitNo := rejectingUnit(words, false)
	other := otherChange().FindStringSubmatch(words)
	item, isBox := strings.CutPrefix(bare, "[ ]")
	isBox = isBox || item != "" && strings.ContainsAny(bare[:min(len(bare), 4)], emptyBoxes)
	switch {
	case cross().MatchString(bare):
		return "veto: a cross"
	case isNo, isUnitNo:
		return "veto: another value"
	case isBox:
		return "veto: an open box"
	case other != nil && other[1]+other[2] != strconv.Itoa(pull):
		return "veto: another pull request"
	}
	return ""
}

// ruleBehind names what makes a line behind a yes take it back; "" if nothing does. first says that it is the first one there.
func ruleBehind(l pageLine, text string, first bool) (rule string) {
	item, isItem := listItem(text)
	begins := strings.TrimLeft(strings.ToLower(plainWords(dropInvisible(item))), "([\"'“ —–…-")
	switch {
	case l.level > 0 || isSetApart(l) || isItem && !first || isFooter(text):
	case !isItem && strings.HasSuffix(begins, "?"):
		return "veto: a question"
	case (first || strings.Count(begins, " ") < shortLine) && connective().MatchString(begins):
		return ruleCondition
	}
	return ""
}

func deniesInProse(words string) bool {
	return slices.ContainsFunc(vetoes, func(v veto) bool { return v.prose && saysVeto(v, words) })
}

// saysVeto reports whether words are a veto that they do not deny.
func saysVeto(v veto, words string) bool {
	if v.name == "something is open" && isSettled(words) {
		return false
	}
	return slices.ContainsFunc(v.expr().FindAllStringIndex(words, -1), func(at []int) bool { return !isDenied(words[:at[0]]) })
}

// isDenied reports whether what follows these words is denied by them, in the same clause: "nothing here …", "no issue that …".
func isDenied(before string) bool {
	before = before[max(0, len(before)-maxMatchedLine):]
	return denial().MatchString(before[strings.LastIndexAny(before, ".;:!?,")+1:])
}

var denial = lazyRegexp(`(?:^|\s)\(*(?:no|nothing|none|without|zero|any|not|nor|neither|never|didn't)\)*(?:\s|$)`)

// crossNames are GitHub's names of crosses, which it draws.
var crossNames = strings.NewReplacer(":x:", "❌", ":no_entry:", "⛔", ":no_entry_sign:", "🚫", ":stop_sign:", "🛑")

// cross matches a unit with a cross that says no: not one of before, which an arrow or a tick follows.
var cross = lazyRegexp(`^[^❌⛔🚫🛑]*[❌⛔🚫🛑][^→✅]*$`)
