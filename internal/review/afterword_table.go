package review

// This file lists what the sentences below a yes may speak of. A word that is added here can only take a yes away, except in
// repeatedYes, praise, denial and settledTrouble.

// openLabel matches the label of what is still to be done.
var openLabel = lazyWorded(
	`^(?:(?:with|the|one|a|my|only|some|open|main) )*(?:conditions?|caveats?|provisos?|requirements?|required` +
		`|prerequisites?` +
		`|pre-?conditions?|blockers?|blocking|action required|must[- ]fix|to-?dos?|to do` +
		`|before (?:the )?merge|before merging` +
		`|open (?:questions?|points?)|outstanding|reservations?|assumptions?|remaining (?:work|issues)` +
		`|next steps? before merge` +
		`|required (?:changes|actions?|fixes)|limitations?|(?:blocking|critical|serious|security) (?:issues?` +
		`|problems?|bugs?))$`,
)

// noteLabel matches a label behind which a sentence stands, and no value.
var noteLabel = lazyWorded(`^(?:reason|reasoning|reasons|notes?|nb|n\.b|remarks?|comments?|but|why)$`)

// gradeLabel and graveGrade match a grave degree behind its label.
var (
	gradeLabel = lazyWorded(`^(?:\w+ )?(?:severity|priority|grade)$`)
	graveGrade = lazyWorded(`^(?:critical|high|major|severe|blocker|p0|p1|d|e|f)\b`)
)

// answerLabel matches a label behind which a no is one to the merge.
var answerLabel = lazyWorded(
	`\b(?:answer|verdict|decision|again|conclusion|final|finally|merge|approval|approved?|ready|vote|status` +
		`|outcome|result|overall)$`,
)

// deniedAnswer matches an answer that is a no.
var deniedAnswer = lazyWorded(
	`^(?:no|nope|never|false|rejected|denied|blocked|withheld|declined|failed|void|invalid)$` +
		`|^not (?:this|like|in|as|good|enough|yet|ready|safe|so|the|really|quite|at all|to be|any ?more)\b`,
)

// conditionClause matches how a sentence begins that is a condition and no more, unless a main clause follows its comma.
var conditionClause = lazyWorded(
	`^(?:(?:and|or|just|so|then|yes|ok|fine|good work|approved?),? )?` +
		`(?:if|once|unless|until|provided|providing|assuming|pending|as long as|so long as|as soon as` +
		`|on (?:the )?condition` +
		`|under the condition|conditional(?:ly)?|subject to|contingent|barring|save (?:for)?|apart from` +
		`|aside from|other than` +
		`|except(?:ing)?|excluding|minus|modulo|given|granted|tentative(?:ly)?|provisional(?:ly)?|the moment` +
		`|in principle|after` +
		`|with (?:one |some |serious |a few |minor |the |two |a )?` +
		`(?:reservations?|caveats?|changes|fixes|conditions?|provisos?|exceptions?|restrictions?)` +
		`|when(?:ever)?|not (?:before|until|yet)|only (?:if|after|once|when|for|the|in|on|with|until|as)|but` +
		`|however|although` +
		`|though|mostly|partly|partially|almost|nearly|maybe|probably|perhaps|for now|on paper|in case` +
		`|(?:i'd|i would|we'd) (?:like|want|prefer|ask|wait|hold)|(?:yes|no|ok|okay|fine) (?:for|to|on|as|with))\b`,
)

// contrast matches how a sentence begins that takes something back, whatever follows its comma.
var contrast = lazyWorded(`^(?:but|however|although|though|yet|except)\b`)

// reservedClause matches a clause that makes what stands before it less than a yes.
var reservedClause = lazyWorded(
	`, (?:and |but )?(?:in principle|tentatively|provisionally|conditionally|subject to|pending|contingent` +
		`|conditional on` +
		`|with (?:some |serious |a few |minor |one |a )?(?:reservations?|caveats?|conditions?|restrictions?)` +
		`|provided (?:that|the|you|ci)|providing|assuming (?:that|the|you|ci)|on (?:the )?condition|mostly` +
		`|partly|for now|barring` +
		`|save for|apart from|minus|modulo|merge (?:only|after|once|when)|if and only if|only (?:for|if|after` +
		`|once|when)` +
		`|with minor|with the (?:proviso|exception|caveat)|(?:i'd|i would|we'd|we would)|so long as` +
		`|as long as|unless` +
		`|not (?:until|before|yet)|no for)\b|, (?:but|however|though|although|yet|except)\b`,
)

// conditionInside matches a condition within a sentence, and the step on which it hangs.
var conditionInside = lazyWorded(
	`\b(?:if|once|unless|until|after|when|before|provided|assuming|as long as|so long as|as soon as|pending` +
		`|subject to` +
		`|contingent (?:up)?on|conditional on|given|granted|the moment|only|depends? on)\b.*` +
		`\b(?:ci|build|pipeline|green|tests? (?:pass|passes|succeed|run)|merge[sd]?|merging|lands?|landed` +
		`|ships?|rebas\w+|released?` +
		`|sign-?off|goes in|approv\w+|agrees?|objects?|audit|legal|deploy\w*|freeze|production|gone|you` +
		`|questions?|answers?|fixing` +
		`|(?:is|are|been|was|were|got|has|have) (?:addressed|resolved|fixed|dealt with|reviewed|looked|signed` +
		`|corrected|rotated))\b`,
)

// verdictWords match that a sentence speaks of the verdict or the merge itself.
var verdictWords = lazyWorded(
	`\b(?:merg(?:e|es|ing|eable)|be merged|approv(?:e|es|ed|al|als|ing)|verdicts?|votes?|voted|voting` +
		`|sign(?:ed|s|ing)?[ -]?offs?` +
		`|nack|ship|land|withdr[ae]wn?|withdraw\w*|retract\w*|revok\w*|rescind\w*|supersed\w*|reject(?:s|ed` +
		`|ing)?|go ahead` +
		`|thumbs|objections?|blocks?|blocked|blockers?|stands? in the way)\b`,
)

// repeatedYes matches a whole sentence about the verdict that says yes again.
var repeatedYes = lazyWorded(
	`^(?:(?:so|and|thus|overall|therefore|hence|with that|in short|i think|i consider|i find|i believe|ok` +
		`|great|yes),? )*(?:` +
		`(?:(?:this|it|that|the|these|all|both|your|everything|we|i)(?: [\w-]+){0,3} )?` +
		`(?:(?:is|are|am|looks?|seems?|appears?|should be|remains?|happy|glad|good|can|may|could|be|to|now` +
		`|all|very|both|comfortable|fine) ){0,4}` +
		`(?:(?:good|ready|safe|fine|ok|okay|clear|clean|fit|happy)(?: and (?:safe|ready))? (?:to` +
		`|for) (?:merge|merging|be merged|land|ship|approve|approval|go)` +
		`|be merged|merge|mergeable|approved?|land|ship|approve|approving)` +
		`(?: (?:as[ -]is|to (?:main|master|trunk)|now|it|this|the (?:change|pr|pull request)|from my side` +
		`|with (?:confidence|minimal risk|low risk)|by me|from me))*` +
		`|(?:there (?:are|is|were|was) )?(?:no|zero|0|without|not any) (?:[\w-]+ ){0,2}(?:blockers?` +
		`|objections?)(?: (?:found|left|remain|remaining|from me|here|to merging))*` +
		`|(?:there is |i see |i found )?(?:nothing|none|no [\w-]+|no [\w-]+ [\w-]+)(?: (?:here|left|that` +
		`|which|to|found|of (?:them|this)|would|should))* ` +
		`(?:blocks?|blocking|prevents?|stands? in the way of)(?: (?:of|the|this|a|it|merge|merging|approval|from))*` +
		`|(?:all |the |both |every )?(?:[\w-]+ )?(?:blockers?|objections?)(?: [\w-]+){0,5} (?:resolved|fixed` +
		`|addressed|gone|closed)(?: now)?` +
		`|looks (?:good|safe|fine) to merge|lgtm.{0,20}|(?:all |the ` +
		`|both )?(?:[\w-]+ ){1,3}supports? (?:the )?(?:approval|merge))$`,
)

// retractingWords match what takes back what was said.
var retractingWords = lazyWorded(
	`^(?:hmm+|stop|oops|sorry|wait)\b|\b(?:oops|wrong (?:pr|pull request|repo|repository|branch|verdict|one)` +
		`|(?:an)?other (?:pr|pull request)` +
		`|mistaken|my mistake|by mistake|actually|after all|never ?mind|chang(?:e|ed|ing) my` +
		`|no longer (?:approve|stand|think|valid|recommend)` +
		`|not (?:be )?(?:go|reach|enter|leave|land|ship|deployed|released)|would (?:not|break)|i (?:was|am` +
		`|stand) (?:wrong|corrected))\b`,
)

// limitedWords match that a sentence speaks of what was said above, or of a part for which alone it holds.
var limitedWords = lazyWorded(
	`\b(?:above|at your own risk|under protest|(?:this|it|that|yes|approval) (?:only |just )?(?:holds|stands` +
		`|applies|counts|is valid|covers)` +
		`|(?:first|last|one|latest|this|single) commit (?:only|alone)|only (?:the |for |covers )?(?:first` +
		`|docs|code|backend|frontend)\b|(?:code|part|docs|side) (?:only|alone)` +
		`|conditional(?:ly)?|depends on|with conditions?)\b|= ?(?:false|no)\b`,
)

// stepWords match steps on the way to the merge, and who takes them.
var stepWords = lazyWorded(
	`\b(?:ci|pipelines?|builds?|releas(?:e|es|ed)|deploy\w*|production|prod|rebas\w*|squash\w*|bump|changelog` +
		`|freeze|follow-?up|flag|schema` +
		`|migrations?|keys?|tests?|lint\w*|security|legal|fix(?:es|ed)?|docs|pr|pull request|commits?|branch` +
		`|reviews?|reviewers?|comments?|benchmarks?` +
		`|changes?|checks?|you|we|author|someone|somebody|maintainers?|team|work|version|typo|bug|issue)\b`,
)

// needWords match that something has to be done.
var needWords = lazyWorded(
	`\b(?:must|needs?|needed|required?|requires|necessary|have to|has to|had to|should|shall|ought|remember` +
		`|don't forget|make sure` +
		`|let us|let's|awaiting|awaits?|waiting|wait|is missing|are missing|remains? (?:to|open)|left to` +
		`|still (?:red|fail\w*|needs?|missing|open|to|has|have|not|wait\w*|running|in progress|broken|pending))\b`,
)

// denial matches, before a need or a trouble, that there is none.
var denial = lazyWorded(`\b(?:no|not|nothing|none|without|zero|never|neither|nor|0|free of|instead of` +
	`|rather than|don't|doesn't|cannot|can't|isn't|aren't)\b[^.;]{0,50}$`)

// request matches how a clause begins that asks for something.
var request = lazyWorded(
	`^(?:(?:please|kindly|then|just|also|now|first|next|and|so|but),? )*(?:add|address|apply|ask|await` +
		`|backport|bump|clean up|confirm|correct|delete` +
		`|deploy|discuss|drop|edit|ensure you|extract|fix|get|go ahead|have (?:a|the|some)|hold|include|land` +
		`|make sure|be sure|merge|open|ping|push|put|rebase` +
		`|refactor|regenerate|remember|remove|rename|replace|rerun|resolve|restore|retest|revert|rework` +
		`|rewrite|rotate|send|squash|stop|swap` +
		`|talk to|try|verify|wait|do not|don't|never|please)\b`,
)

// troubleLeft matches that something grave is named as such.
var troubleLeft = lazyWorded(
	`\b(?:blocking|critical|serious|severe|unresolved|outstanding|grave|fatal|major|dangerous)(?: \w+)? ` +
		`(?:problems?|issues?|bugs?|findings?|defects?|concerns?|flaws?|regressions?|vulnerabilit(?:y|ies)` +
		`|blockers?|errors?)\b`,
)

// trouble matches the names of what is grave.
var trouble = lazyWorded(
	`\b(?:security (?:holes?|issues?|problems?|risks?)|data loss|loses? (?:data|writes|updates)|leaks?` +
		`|leaking|leaked|race conditions?|races|crash(?:es|ing)?` +
		`|corrupt\w*|vulnerab\w+|injections?|deadlocks?|irreversible|not reversible|breaks|breaking (?:the` +
		`|prod|clients|callers)|would break|panics` +
		`|never (?:released|closed|freed|called)|not (?:released|closed|freed|handled|checked|validated` +
		`|escaped|covered|tested)|regressions?|backdoor|exploit\w*)\b`,
)

// settledTrouble matches that what is named is gone.
var settledTrouble = lazyWorded(
	`\b(?:fix(?:e[sd])?|clos(?:e[sd])|resolv(?:e[sd])?|address(?:e[sd])?|gone|prevent(?:s|ed|ing)?|avoid(?:s` +
		`|ed|ing)?|remov(?:es|ed)|none|no(?:t any)? longer` +
		`|solv(?:es|ed)|handle[sd]?|guards?|guarded|against|protects?|eliminate[sd]?|cannot|can't|impossible` +
		`|caught|catches|expected|unlikely|now)\b`,
)

// unseenPart matches that the writer did not see a part of the change. Above a yes it would be the change that does not.
var unseenPart = lazyWorded(
	`\b(?:diff|patch|hunks?|file list|list of files|context|output|tool calls?|agents?|turns|tokens?` +
		`|binary files|rest|remaining|entries|answer|model|review|pass)\b` +
		`.*\b(?:not|cut|truncated|omitted|missing|skipped|stopped|failed|40\d|429|5\d\d|too (?:large|long` +
		`|big)|reached|exceeded|timed out|incomplete|partial)\b` +
		`|\b(?:no|without|only|just|first|part of|some|half|parts) (?:of )?(?:the |an? )?(?:\w+ )?(?:diff` +
		`|patch|hunks?|context)\b` +
		`|\b(?:i|we|it) (?:\w+ )?(?:stopped|ran out|gave up|skipped|ignored|skimmed|guessed|assumed)\b` +
		`|\btoo (?:large|big|long|many) (?:to|for)\b` +
		`|\btimed out\b|\bnot (?:have |had )?(?:enough|sufficient|the full|all|everything|run|shown|provided` +
		`|given|available|seen|read)\b` +
		`|\b(?:could|can|did|does|do)(?:n't| not) (?:be )?(?:run|respond|answer|finish|complete|verify|check` +
		`|see|read|tell|confirm|judge|say|test|retrieve\w*)\b` +
		`|\b(?:covers?|reviewed|valid for|checked|read) (?:only|just)\b|\bskipped:? \d` +
		`|\bskipped\b.*\bfiles?\b|\bfiles?\b.*\b(?:skipped|omitted|ignored|left out)\b`,
)

// praise matches what a line of one word may say below a yes.
var praise = lazyWorded(
	`^(?:nice|approving|thanks?|great|lgtm|shipit|excellent|perfect|awesome|cheers|congratulations|congrats|done` +
		`|approved?|good|solid|clean|merge|yes|ok` +
		`|okay|super|brilliant|fantastic|lovely|beautiful|neat|amazing|impressive|wow|well|kudos|notes?` +
		`|summary|details|reasoning|reasons?|praise` +
		`|strengths|none|nothing|changes|overview|correctness|security|performance|tests?|testing|style` +
		`|documentation|maintainability|readability)$`,
)

// reviewWords are words of which reviews in English are made, beside its function words.
var reviewWords = lazyWords(`code review tests test fix file api adds removes moves makes uses keeps handles
returns matches implementation logic naming names
coverage quality structure architecture design error errors handling edge case cases bug bugs issue issues found
nice thanks thank lgtm looks
minor optional nit typo comment comments risk low high medium confidence score security performance correctness
readability style documentation
docs function functions method class type types module package change changes pass passes passing green locally
verified checked compared
consider well easy follow scoped focused refactoring refactor feature support update updates behaviour behavior
approach keep up
no not an expected regressions concerns problems none nothing else`)

// pleasantWords match what a short paragraph holds that praises a change or describes it.
var pleasantWords = lazyWorded(
	`\b(?:good|great|right|nice(?:ly)?|clean(?:ly)?|clear(?:ly|er)?|solid|sound|safe(?:ly)?|well` +
		`|correct(?:ly)?|fine|simple|simpler|small|complete|cover(?:s|ed|age)` +
		`|tested|pass(?:es|ed|ing)?|met|done|ok|okay|lgtm|thanks?|thank you|works?|working|match(?:es|ed)?` +
		`|verified|checked|traced|confirmed|approv(?:ed|e|ing)` +
		`|improve[sd]?|improvement|easy|easier|readable|consistent(?:ly)?|expected|excellent|perfect|awesome` +
		`|impressive|elegant|robust|straightforward|focused` +
		`|useful|helpful|handle[sd]?|add(?:s|ed)|removed?|removes|rename[sd]?|update[sd]?|move[sd]?|uses` +
		`|keep[s]?|returns|protects|prevents|avoids|fixe[sd]` +
		`|addresse[sd]|resolve[sd]|terminates|stops|closes|releases|holds|locks|makes|takes|allows|supports` +
		`|replaces|introduces|implements` +
		`|extends|reduces|splits|drops|simplifie[sd]|refactor\w*|documented|bounded|compatible|compatibility` +
		`|safe to merge|ship it|ready|mechanical|renames|green` +
		`|consider|optional|taste|minor|nit|confidence|reviewed|limited|unchanged|happy|appreciate[sd]?` +
		`|congrat\w*|cheers|kudos` +
		`|(?:0|no|nothing|none|zero|without any) (?:[\w-]+ ){0,3}(?:concerns?|issues?|problems?|findings?` +
		`|bugs?|comments?|blockers?|objections?|regressions?|risks?` +
		`|action|add|fix|report|changes?|complaints?|suggestions?|questions?|remarks?|say|improve|nits|wrong` +
		`|further|more|else))\b`,
)

// settledRemark matches a whole remark that says that nothing is left to do.
var settledRemark = lazyWorded(
	`^(?:there is |i have )?(?:no|nothing|no further|nothing further|no other` +
		`|no more) ?(?:[\w-]+ ){0,2}(?:is |are |was |were )?(?:needed|required|necessary|left|to do|open)$`,
)

// unpleasantWords match what a short paragraph that is no doubt does not hold.
var unpleasantWords = lazyWorded(
	`\b(?:not|never|missing|lacks?|lacking|fail\w*|broken|wrong(?:ly)?|worr\w+|doubt\w*|unsure|unclear` +
		`|guess\w*|needs?|needed|must|should|would|could|might|may` +
		`|perhaps|maybe|but|if|when|once|first|until|unless|before|half|part(?:s|ly|ial|ially)?|some|few` +
		`|almost|nearly|mostly|un(?:tested|reviewed|safe|stable|handled)` +
		`|insecure|bad|poor\w*|hard|slow\w*|confus\w+|redo\w*|redone|except|however|still (?:to|a|need)|see` +
		`|let|get|expect|assum\w+|understanding|condition\w*` +
		`|requirement|confirmed by|scrap|revert\w*|misread|fewer|too|although|though|pending|await\w*|wait\w*` +
		`|by the|just one|one thing)\b|n't\b`,
)
