package config

// The language of the policy file, key by key. A field's yaml tag is its key, its jsonschema tag bounds it, its initial tag is
// its value in a file that says nothing, and its description is what users read in the reference and in their editor. Its
// strict tag says what no file may loosen below an organisation's: words from the strictest on, or longer, where a longer duration
// is the stricter one. A default tag is a phrase of the reference, a least tag a shortest duration, text:"lines" lets a text have
// several.

import (
	"reflect"
	"slices"
	"sync"

	"github.com/goccy/go-yaml/parser"
)

// PolicyKeys are the keys of a policy file as it is written, before presets, defaults and words are resolved.
type PolicyKeys struct {
	Version        int                `yaml:"version" initial:"1"         jsonschema:"enum=1"                                        jsonschema_description:"The version of this language."`
	Check          string             `yaml:"check" initial:"Review quorum"           jsonschema:"minLength=1,maxLength=100"                     jsonschema_description:"Name of the check run."`
	Mode           string             `yaml:"mode" initial:"enforce"            jsonschema:"enum=enforce,enum=report,enum=off"             jsonschema_description:"enforce: the check says the verdict. report: the check is neutral and says (report only). off: nothing is written." strict:"enforce,report,off"`
	Quorum         Quorum             `yaml:"quorum" initial:"majority"                                                                     jsonschema_description:"How many approvals are needed: a number, majority (more than half of the voting reviewers) or all of them. majority and all count those that vote on the pull request, and are at least one."`
	Grace          Duration           `yaml:"grace" initial:"3m"                                                                      jsonschema_description:"How long a reached quorum waits for the reviewers that have not answered." strict:"longer"`
	Timeout        Duration           `yaml:"timeout" initial:"10m"                                                                    jsonschema_description:"How long each attempt of a reviewer may take."                                                                                                                                                                   least:"1s" strict:"longer"`
	Deadline       Duration           `yaml:"deadline" initial:"45m"                                                                   jsonschema_description:"What is pending so long after the start, or after its turn, is unavailable, whatever happens."                                                                                                                                       least:"1s" strict:"longer"`
	EarlyStart     bool               `yaml:"early_start" initial:"true"                                                                jsonschema_description:"Blocked as soon as a quorum has answered and one of them objects, without waiting for the rest."`
	Drafts         string             `yaml:"drafts" initial:"wait"          jsonschema:"enum=wait,enum=review"                         jsonschema_description:"wait: nothing is decided while the pull request is a draft. review: a draft is decided like any other."`
	StandIn        string             `yaml:"stand_in" initial:"write"        jsonschema:"enum=none,enum=write,enum=maintain,enum=admin" jsonschema_description:"The permission of a person whose approval of the head may fill missing approvals." strict:"none,admin,maintain,write"`
	Override       string             `yaml:"override" initial:"none"        jsonschema:"enum=none,enum=maintain,enum=admin"            jsonschema_description:"The permission of a person who may accept a pull request over an objection, by /review-coordinator accept." strict:"none,admin,maintain"`
	OwnChange      string             `yaml:"own_change" initial:"refused"      jsonschema:"enum=refused,enum=stand_in"                    jsonschema_description:"stand_in: a person who may stand in may vouch for a change of their own, by a comment that the title names. It is no approval. Where override names their permission, they may accept, too." strict:"refused,stand_in"`
	Threads        string             `yaml:"threads" initial:"others"         jsonschema:"enum=others,enum=anyone"                       jsonschema_description:"Who may end an objection by resolving its threads: others (people who had no hand in the change), or anyone (but bots)." strict:"others,anyone"`
	Guard          []Glob             `yaml:"guard" initial:"[.github/workflows/**, .github/actions/**]"                                                                      jsonschema_description:"Path patterns. A pull request that changes one of these files makes the reviewers concerned unavailable, unless they object: those whose evidence github-actions[bot] posts. Each preset adds the files that instruct its reviewer, as listed below."`
	Retry          RetryKeys          `yaml:"retry"                                                                      jsonschema_description:"The one rerun of a reviewer that failed."`
	CircuitBreaker CircuitBreakerKeys `yaml:"circuit_breaker"                                                            jsonschema_description:"Stops asking a reviewer again that is down, in the daemon and within one sweep. It only delays. A single job keeps to an open circuit that the check names."`
	Sweep          SweepKeys          `yaml:"sweep"                                                                      jsonschema_description:"How open pull requests are swept. It changes nothing in a single job."`
	Fix            FixKeys            `yaml:"fix"                                                                        jsonschema_description:"Starts a workflow that fixes a blocked pull request. Off unless a workflow is named."`
	Comment        string             `yaml:"comment" initial:"never"         jsonschema:"enum=never,enum=on_problem"        jsonschema_description:"When the verdict is also told in a comment on the pull request, which is edited in place. on_problem: from the first time on that the check is blocked or unverified."`
	Families       string             `yaml:"families" initial:"any" jsonschema:"enum=any,enum=distinct" jsonschema_description:"distinct: reviewers of one family count as one, in the quorum, in approvals and in those that are pending. Who has none is one of its own." strict:"distinct,any"`
	People         PeopleKeys         `yaml:"people" jsonschema_description:"Approvals of the head by people who could stand in, on top of the quorum: a number, or a list of {count, of} with logins and teams, each of which needs its own number."`
	Carry          string             `yaml:"carry" initial:"none" jsonschema:"enum=none,enum=same_diff" jsonschema_description:"same_diff: a push that leaves the pull request's diff as it was keeps its approvals. Objections it keeps in any case." strict:"none,same_diff"`
	Escalate       EscalateKeys       `yaml:"escalate" jsonschema_description:"Whose review is asked for when nothing else helps. Off unless named."`
	Lanes          []LaneKeys         `yaml:"lanes" jsonschema:"maxItems=50" jsonschema_description:"Rules for some pull requests, read from the top. What a lane asks more than the top level is added wherever it may hold. The first that asks less and surely holds is the last that is read."`
	Enforce        EnforceKeys        `yaml:"enforce" jsonschema_description:"Only in an organisation's policy: what no repository may loosen. See organisation.md."`
	Reviewers      []ReviewerKeys     `yaml:"reviewers"       jsonschema:"required,minItems=1,maxItems=50"               jsonschema_description:"Who reviews, in the order of the check's table."`
}

// RetryKeys bound the one rerun.
type RetryKeys struct {
	Max      int      `yaml:"max" initial:"1"       jsonschema:"minimum=0,maximum=1" jsonschema_description:"Reruns for each reviewer and head: 0 or 1."`
	FastFail Duration `yaml:"fast_fail" initial:"30s"                                  jsonschema_description:"An empty attempt that ended sooner is run again at once."`
	Backoff  Duration `yaml:"backoff" initial:"1m"                                    jsonschema_description:"Any other attempt is run again after this long, give or take a fifth."`
}

// CircuitBreakerKeys say when a reviewer that is down is asked no more.
type CircuitBreakerKeys struct {
	Enabled          bool     `yaml:"enabled" initial:"true"           jsonschema_description:"Whether there is one."`
	FailureThreshold int      `yaml:"failure_threshold" initial:"5" jsonschema_description:"Pull requests in a row on which one reviewer has outages that open it; a stranger's, from forks, count once. In a sweep also faults on the way to GitHub in a row that stop it." jsonschema:"minimum=1,maximum=1000"`
	ResetTimeout     Duration `yaml:"reset_timeout" initial:"10m"     jsonschema_description:"After this long one attempt is let through; the rest follow once it succeeds, and the next one after half of it if nothing came of the first."                                                                     least:"1s"`
}

// SweepKeys bound a sweep over the open pull requests.
type SweepKeys struct {
	MaxConcurrent int         `yaml:"max_concurrent" initial:"4" jsonschema:"minimum=1,maximum=64"     jsonschema_description:"Pull requests that are evaluated at once."`
	BatchSize     int         `yaml:"batch_size" initial:"10"     jsonschema:"minimum=1,maximum=1000"   jsonschema_description:"Pull requests in a batch."`
	BatchDelay    Duration    `yaml:"batch_delay" initial:"1s"                                          jsonschema_description:"Pause between two batches."`
	ItemDelay     Duration    `yaml:"item_delay"                                           jsonschema_description:"Pause between two evaluations of one worker."`
	MaxRetries    int         `yaml:"max_retries" initial:"3"    jsonschema:"minimum=0,maximum=10"     jsonschema_description:"Further tries of an evaluation that failed for a transport fault."`
	Backoff       BackoffKeys `yaml:"backoff"                                              jsonschema_description:"Pause before such a try, doubling from base to max, with full jitter."`
	Limit         int         `yaml:"limit" initial:"200"          jsonschema:"minimum=1,maximum=100000" jsonschema_description:"Pull requests that one sweep evaluates at most."`
}

// BackoffKeys bound a pause that doubles.
type BackoffKeys struct {
	Base Duration `yaml:"base" initial:"2s" least:"1ms" jsonschema_description:"The first pause."`
	Max  Duration `yaml:"max" initial:"10s"  least:"1ms" jsonschema_description:"The longest pause."`
}

// FixKeys name the workflow that fixes a blocked pull request.
type FixKeys struct {
	Workflow    string `yaml:"workflow"     jsonschema_description:"Path of the workflow file."`
	MaxRestarts int    `yaml:"max_restarts" initial:"3" jsonschema_description:"Fix runs for one pull request." jsonschema:"minimum=0,maximum=100"`
}

// EscalateKeys name the people or teams whose review is asked for.
type EscalateKeys struct {
	To    []string `yaml:"to"    jsonschema:"maxItems=10" jsonschema_description:"Logins, and teams as @org/team. Each is asked once on a pull request, until somebody answered."`
	After Duration `yaml:"after" initial:"30m" jsonschema_description:"How long the check must have been unverified." least:"1s"`
	Forks bool     `yaml:"forks" jsonschema_description:"Also ask about pull requests from forks, which anybody can open."`
}

// EnforceKeys say what an organisation lets no repository loosen.
type EnforceKeys struct {
	Reviewers []string   `yaml:"reviewers" jsonschema:"minItems=1,maxItems=50" jsonschema_description:"Names of reviewers of this file. They are required everywhere, as this file describes them."`
	Quorum    Quorum     `yaml:"quorum"    default:"*(any)*"                   jsonschema_description:"At least so many approvals are needed, in every lane."`
	People    PeopleKeys `yaml:"people" jsonschema_description:"These people must approve, in every lane; as at the top level."`
}

// LaneKeys are a rule for some pull requests.
type LaneKeys struct {
	Name       string        `yaml:"name"        jsonschema:"required,minLength=1,maxLength=60"                     jsonschema_description:"Its name, as the check shows it. No two lanes have the same."`
	If         ConditionKeys `yaml:"if"          default:"*(needed)*"                                               jsonschema_description:"The pull requests that it is for; all conditions that are named must hold."`
	Why        string        `yaml:"why"         jsonschema:"maxLength=200"                                         jsonschema_description:"The reason that the check gives."`
	Quorum     LaneQuorum    `yaml:"quorum"      default:"the top level's"                                          jsonschema_description:"As at the top level, of those who vote in the lane; none: no review is needed."`
	People     PeopleKeys    `yaml:"people"      default:"the top level's" jsonschema_description:"As at the top level."`
	Reviewers  []string      `yaml:"reviewers"   default:"all that vote"   jsonschema:"minItems=1,maxItems=50"      jsonschema_description:"The names of those who vote; the others are shown."`
	Grace      Duration      `yaml:"grace"       default:"the top level's"                                          jsonschema_description:"As at the top level."`
	Timeout    Duration      `yaml:"timeout"     default:"the top level's"                               least:"1s" jsonschema_description:"As at the top level. A reviewer's own goes before it."`
	Deadline   Duration      `yaml:"deadline"    default:"the top level's"                               least:"1s" jsonschema_description:"As at the top level."`
	EarlyStart bool          `yaml:"early_start" default:"the top level's"                                          jsonschema_description:"As at the top level."`
	StandIn    string        `yaml:"stand_in"    default:"the top level's" jsonschema:"enum=none,enum=write,enum=maintain,enum=admin" jsonschema_description:"As at the top level."`
	Override   string        `yaml:"override"    default:"the top level's" jsonschema:"enum=none,enum=maintain,enum=admin" jsonschema_description:"As at the top level."`
	OwnChange  string        `yaml:"own_change"  default:"the top level's" jsonschema:"enum=refused,enum=stand_in"   jsonschema_description:"As at the top level."`
	Threads    string        `yaml:"threads"     default:"the top level's" jsonschema:"enum=others,enum=anyone"     jsonschema_description:"As at the top level."`
}

// ConditionKeys say for which pull requests a lane is, or on which a reviewer votes.
type ConditionKeys struct {
	AllPaths []Glob   `yaml:"all_paths" jsonschema:"maxItems=100" jsonschema_description:"Every changed path must match, of a rename both names. For what asks more, and for a reviewer's vote, one path is enough."`
	AnyPath  []Glob   `yaml:"any_path"  jsonschema:"maxItems=100" jsonschema_description:"One changed path must match, of a rename either name. A lane with it can only ask for more."`
	Authors  []string `yaml:"authors"   jsonschema:"maxItems=100" jsonschema_description:"Accounts: nobody else opened it, pushed to it or wrote its commits; a bot's commit counts only if GitHub verified its signature. For what asks more, and for a reviewer's vote, it is enough that one of them had a hand in it."`
	Labels   []string `yaml:"labels"    jsonschema:"maxItems=100" jsonschema_description:"One of these labels must be on it. A lane with it can only ask for more."`
	Base     []Glob   `yaml:"base"      jsonschema:"maxItems=100" jsonschema_description:"The base branch must match."`
}

// ReviewerKeys are one entry of reviewers.
type ReviewerKeys struct {
	Name         string        `yaml:"name"          jsonschema:"minLength=1,maxLength=39,pattern=^[A-Za-z0-9][A-Za-z0-9._-]*$" default:"the preset's name"                                                 jsonschema_description:"What the check calls it. Needed without a preset."`
	Preset       string        `yaml:"preset"                                                                                                                                                       jsonschema_description:"A reviewer that the coordinator knows. Each other key of this entry overrides what the preset says."`
	Workflow     string        `yaml:"workflow"                                                                                                                                                     jsonschema_description:"Path of the workflow file that runs it, or a dynamic/… path."`
	Event        []string      `yaml:"event"         jsonschema:"minItems=1"                                            default:"[pull_request, pull_request_target, dynamic]"                      jsonschema_description:"The events whose runs count."`
	Check        string        `yaml:"check"         jsonschema:"minLength=1,maxLength=255"                                                                                                         jsonschema_description:"Name of its check run."`
	App          string        `yaml:"app"                                                                                                                                                          jsonschema_description:"Slug of the App that owns the check run. Needed with check."`
	Status       string        `yaml:"status"        jsonschema:"minLength=1,maxLength=255"                                                                                                         jsonschema_description:"Context of its commit status."`
	Author       string        `yaml:"author"                                                                           default:"github-actions[bot] for a workflow, the App's account for a check" jsonschema_description:"The account that posts its evidence: name[bot] is a Bot, a plain login a User."`
	Heading      string        `yaml:"heading"       jsonschema:"minLength=1,maxLength=200"                                                                                                         jsonschema_description:"The heading that its texts open with. Needed where its verdict is read from texts of an author that others share. None may begin another of the same author."`
	Verdict      VerdictFormat `yaml:"verdict"                                                                          default:"auto"                                                              jsonschema_description:"Where its verdict stands: auto, ready-to-merge, review-state, findings, json, conclusion, {artifact: NAME}, {conclusion: {neutral: object}}, or words of its own: {field: LABEL, approve: [WORD], object: [WORD], none: [WORD]}. With conclusion the conclusion alone is the verdict, but for comments on the diff."`
	Coverage     string        `yaml:"coverage"      jsonschema:"enum=required"                                                                                                                     jsonschema_description:"required: an approval counts only if its text names the commit (Reviewed commit: SHA) or says that all files were read (3 of 3 files)."`
	MinSeverity  string        `yaml:"min_severity"  jsonschema:"enum=any,enum=low,enum=medium,enum=high,enum=critical" default:"any"                                                               jsonschema_description:"The least severity of a finding that objects, in a text and in comments on the diff. What states no severity objects."`
	FailureMeans string        `yaml:"failure_means" jsonschema:"enum=findings,enum=unavailable"                        default:"unavailable"                                                       jsonschema_description:"With verdict: conclusion, what a failure is. findings: it objects at once. unavailable: it is run again once."`
	Timeout      Duration      `yaml:"timeout"                                                                          default:"the top level's"                                                   jsonschema_description:"How long each attempt of it may take."                                                                                                                                                                    least:"1s"`
	Required     bool          `yaml:"required"                                                                         default:"false"                                                             jsonschema_description:"The quorum cannot do without it."`
	Shadow       bool          `yaml:"shadow"                                                                           default:"false"                                                             jsonschema_description:"It is shown and never counted."`
	Vote         bool          `yaml:"vote" default:"true" jsonschema_description:"false: it is a condition that others name in after, and no voter. It is shown and never counted, as a shadow."`
	InsteadOf    string        `yaml:"instead_of" jsonschema:"minLength=1,maxLength=39" default:"*(nobody)*" jsonschema_description:"The name of the reviewer whose reserve it is. It is asked, and votes, only while that one is unavailable, and fills its seat. Its objection counts at any time. A reserve is no voter of its own, in quorum and lanes."`
	After        []string      `yaml:"after" jsonschema:"minItems=1,maxItems=50" default:"*(nobody)*" jsonschema_description:"Names of reviewers. Before these have approved it is not asked, and its time does not run; once one of them can approve no more it is unavailable. Its objection counts at any time."`
	Family       string        `yaml:"family" default:"the preset's" jsonschema:"minLength=1,maxLength=60" jsonschema_description:"The maker of its model, for families: distinct. Presets know theirs where it is one."`
	Shapes       ShapesKeys    `yaml:"shapes"                                                                                                                                                       jsonschema_description:"Sentences of its own by which it is understood, beside those of its preset: for a vendor that has none, or until it knows a new form. coordinator classify prints the row to add."`
	When         ConditionKeys `yaml:"when"                                                                                                                                                         jsonschema_description:"The pull requests that it votes on; all that is named must hold. On one to which it has objected it votes in any case."`
	Request      RequestKeys   `yaml:"request"                                                                                                                                                      jsonschema_description:"How it is asked for a review. A comment reaches apps, and no workflow when it is written with GITHUB_TOKEN."`
}

// ShapesKeys are sentences by which a reviewer is understood, in the form of a vendor's file.
type ShapesKeys struct {
	Approves  []ShapeText  `yaml:"approves"   jsonschema:"maxItems=40" jsonschema_description:"Such a line approves."`
	IfSettled []ShapeText  `yaml:"if_settled" jsonschema:"maxItems=40" jsonschema_description:"Such a line approves, if none of the reviewer's threads is open."`
	Counts    []ShapeText  `yaml:"counts"     jsonschema:"maxItems=40" jsonschema_description:"Such a line, with {count}, approves where it counts none and objects where it counts any."`
	Objects   []ShapeText  `yaml:"objects"    jsonschema:"maxItems=40" jsonschema_description:"Such a line objects, unless its {count} is zero."`
	Vetoes    []ShapeText  `yaml:"vetoes"     jsonschema:"maxItems=40" jsonschema_description:"As objects, within quotes and folded parts too, whatever else the text says."`
	Partial   []ShapeText  `yaml:"partial"    jsonschema:"maxItems=40" jsonschema_description:"What approves beside such a line did not see all of the change."`
	Working   []ShapeText  `yaml:"working"    jsonschema:"maxItems=40" jsonschema_description:"Such a line says that the review is under way."`
	Other     []ShapeText  `yaml:"other"      jsonschema:"maxItems=40" jsonschema_description:"A text with such a line among its first is no review."`
	Notices   []NoticeKeys `yaml:"notices"    jsonschema:"maxItems=40" jsonschema_description:"What says that there is no review, and why."`
}

// NoticeKeys are a sentence or a comment by which a reviewer says that there is no review.
type NoticeKeys struct {
	Line    ShapeText `yaml:"line"                                                                                                                                                                                                                                                                     jsonschema_description:"The line; or:"`
	Marker  string    `yaml:"marker"  jsonschema:"minLength=3,maxLength=200"                                                                                                                                                                                                                           jsonschema_description:"Words of an HTML comment of the text, in small letters."`
	Outcome string    `yaml:"outcome" jsonschema:"required,enum=empty,enum=overloaded,enum=limited,enum=failed,enum=declined,enum=unknown"                                                                                                                                                             jsonschema_description:"What the answer comes to: empty, overloaded and unknown are asked for once more, limited where it says when it ends, failed and declined never."`
	Reason  string    `yaml:"reason"  jsonschema:"required,enum=empty,enum=overloaded,enum=rate_limit,enum=quota,enum=credentials,enum=billing,enum=budget,enum=invalid,enum=model_refusal,enum=declined,enum=too_large,enum=skipped,enum=no_secrets,enum=unknown" jsonschema_description:"What the check says: of limited rate_limit or quota; of failed credentials, billing, budget, invalid or model_refusal; of declined declined, too_large, skipped or no_secrets; else as the outcome."`
}

// RequestKeys say how a reviewer is asked.
type RequestKeys struct {
	Comment string `yaml:"comment"  text:"lines" jsonschema:"minLength=1,maxLength=2000" jsonschema_description:"The comment that asks for a review, or for another one."`
	AtStart bool   `yaml:"at_start"                                                      jsonschema_description:"It is asked once at the start, if nothing was seen of it." default:"false"`
}

// Default is the file that says nothing.
func Default() PolicyKeys {
	file := initialKeys()
	file.Guard = slices.Clone(file.Guard)
	return file
}

var initialKeys = sync.OnceValue(func() (file PolicyKeys) {
	setInitialValues(reflect.ValueOf(&file).Elem())
	return file
})

// setInitialValues gives the keys of a struct the values of their initial tags.
func setInitialValues(keys reflect.Value) {
	for field, value := range keys.Fields() {
		text := field.Tag.Get("initial")
		switch {
		case text != "":
			r := newPolicyFileReader("", []byte(text))
			n, err := parser.ParseBytes([]byte(text), 0)
			if err == nil {
				r.decodeValue("", n.Docs[0].Body, value, field.Tag)
			}
			if err != nil || len(r.problems) > 0 {
				panic("config: bad tag of " + field.Name) // unreachable unless this file has a typing error
			}
		case value.Kind() == reflect.Struct:
			setInitialValues(value)
		}
	}
}
