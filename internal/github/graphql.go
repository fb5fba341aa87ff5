package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/github/untrusted"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
)

// One GraphQL query tells what REST does not: threads and who resolved them, who edited a text last, the timeline in
// one list, when the head's check suites were created, on which earlier commits a check of ours stands, and which blob
// the policy file is. It also says what REST says, bodies included, so that answers of the two that were read side by
// side can be told to belong together. Reviews stand before their threads: of a review that is shown no thread must be
// missing.
//
// It costs one point of the hour's, or two where there are many threads: GitHub counts the requests that its
// connections would take, each as often as the pages above it have entries, divides by a hundred and rounds. Source:
// "Rate limits and query limits for the GraphQL API".

// @words and @comment-words stand where texts' words are asked for, and @commits for [evidence.ListedCommits], see
// [queryOfConversation].
const conversationTemplate = `query($owner: String!, $name: String!, $number: Int!, $check: String!, $head: GitObjectID!, $left: GitObjectID!, $policy: String!, $threadsPerPage: Int!, $threads: String, $comments: String, $reviews: String, $timeline: String) {
  repository(owner: $owner, name: $name) {
    policy: object(expression: $policy) { oid }
    defaultBranchRef { name target { oid } }
    object(oid: $head) { ... on Commit {
      associatedPullRequests(first: 100) {
        pageInfo { hasNextPage endCursor }
        nodes { number state headRefOid baseRefName isDraft isCrossRepository createdAt author { ...who } }
      }
      checkSuites(first: 20) { pageInfo { hasNextPage } nodes { ...suite } }
    } }
    pullRequests(first: 50, orderBy: {field: UPDATED_AT, direction: DESC}) {
      nodes {
        number state headRefOid headRefName baseRefName isCrossRepository closedAt additions deletions changedFiles
        headRepository { nameWithOwner } author { ...who }
      }
    }
    left: object(oid: $left) { ... on Commit {
      associatedPullRequests(first: 50) { pageInfo { hasNextPage } nodes { number state headRefOid } }
    } }
    pullRequest(number: $number) {
      headRefOid baseRefName state isDraft title headRefName baseRefOid changedFiles additions deletions
      headRepository { nameWithOwner }
      potentialMergeCommit { oid }
      labels(first: 100) { nodes { name } }
      reviewRequests(first: 1) { totalCount }
      reviews(first: 100, after: $reviews) {
        pageInfo { hasNextPage endCursor }
        nodes { id fullDatabaseId @words lastEditedAt author { ...who } editor { ...who } }
      }
      reviewThreads(first: $threadsPerPage, after: $threads) {
        pageInfo { hasNextPage endCursor }
        nodes {
          isResolved isOutdated path line originalLine
          resolvedBy { __typename login databaseId }
          comments(first: 1) { nodes {
            id fullDatabaseId @words createdAt lastEditedAt url
            author { ...who } editor { ...who }
            originalCommit { oid }
            pullRequestReview { fullDatabaseId }
          } }
        }
      }
      comments(first: 100, after: $comments) {
        pageInfo { hasNextPage endCursor }
        nodes {
          id fullDatabaseId @comment-words createdAt updatedAt lastEditedAt authorAssociation url author { ...who } editor { ...who }
        }
      }
      timelineItems(first: 100, after: $timeline, itemTypes: [BASE_REF_CHANGED_EVENT, HEAD_REF_FORCE_PUSHED_EVENT, REOPENED_EVENT, CLOSED_EVENT, AUTOMATIC_BASE_CHANGE_SUCCEEDED_EVENT, READY_FOR_REVIEW_EVENT, CONVERT_TO_DRAFT_EVENT, REVIEW_REQUESTED_EVENT, REVIEW_DISMISSED_EVENT]) {
        pageInfo { hasNextPage endCursor }
        nodes {
          __typename
          ... on BaseRefChangedEvent { createdAt actor { ...who } previousRefName currentRefName }
          ... on AutomaticBaseChangeSucceededEvent { createdAt actor { ...who } oldBase newBase }
          ... on HeadRefForcePushedEvent { createdAt actor { ...who } beforeCommit { oid } afterCommit { oid } }
          ... on ReopenedEvent { createdAt actor { ...who } }
          ... on ClosedEvent { createdAt actor { ...who } }
          ... on ReadyForReviewEvent { createdAt actor { ...who } }
          ... on ConvertToDraftEvent { createdAt actor { ...who } }
          ... on ReviewRequestedEvent { createdAt actor { ...who } requestedReviewer { __typename ... on User { login databaseId } ... on Bot { login databaseId } } }
          ... on ReviewDismissedEvent { createdAt actor { ...who } previousReviewState review { fullDatabaseId } }
        }
      }
      commits(last: @commits) { totalCount nodes { commit {
        oid
        checkSuites(first: 5) { pageInfo { hasNextPage } nodes { ...suite } }
      } } }
    }
  }
}
` + suiteFragment + `
fragment who on Actor { __typename login ... on User { databaseId } ... on Bot { databaseId } }`

const suiteFragment = `fragment suite on CheckSuite {
  createdAt workflowRun { databaseId }
  checkRuns(first: 2, filterBy: {checkName: $check}) { pageInfo { hasNextPage } nodes { name status conclusion externalId } }
}`

// commitsQuery tells what the commits of a pull request carry, the newest first, for three points each fifty of them.
const commitsQuery = `query($owner: String!, $name: String!, $number: Int!, $check: String!, $before: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      headRefOid
      commits(last: 50, before: $before) {
        pageInfo { hasPreviousPage startCursor }
        nodes { commit { oid checkSuites(first: 5) { pageInfo { hasNextPage } nodes { ...suite } } } }
      }
    }
  }
}
` + suiteFragment

// fewThreads is how many threads are asked for where no more are known.
const fewThreads = 30

// Which words the conversation is asked for. Anybody can leave comments as long as GitHub takes them, so that an answer
// is longer than is read: then it is asked for again with fewer words, and those of reviewers one by one.
const (
	allWords     = iota
	reviewsWords // no comment's
	noWords
)

// queryOfConversation is the query that asks for those words.
func queryOfConversation(words int) string {
	ofReviews, ofComments := "body", "body"
	if words != allWords {
		ofComments = ""
	}
	if words == noWords {
		ofReviews = ""
	}
	return strings.NewReplacer("@words", ofReviews, "@comment-words", ofComments, "@commits", strconv.Itoa(evidence.ListedCommits)).
		Replace(conversationTemplate)
}

// bodiesQuery tells the words of texts, where the conversation without strangers' was too long.
const bodiesQuery = `query($ids: [ID!]!) {
  nodes(ids: $ids) { id ... on IssueComment { body } ... on PullRequestReview { body } ... on PullRequestReviewComment { body } }
}`

// bodiesPerQuery is how many texts bodiesQuery is asked for at once, each of 262,144 bytes at most.
const bodiesPerQuery = 5

const authorsQuery = `query($owner: String!, $name: String!, $number: Int!, $commits: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      headRefOid
      commits(first: 100, after: $commits) {
        pageInfo { hasNextPage endCursor }
        nodes { commit {
          oid
          authors(first: 20) { totalCount nodes { user { __typename login databaseId } } }
          committer { user { __typename login databaseId } }
          signature { isValid }
        } }
      }
    }
  }
}`

type graphActor struct {
	Type  string `json:"__typename"`
	Login string `json:"login"`
	ID    int64  `json:"databaseId"`
}

// account names a bot as REST does.
func (a *graphActor) account() quorum.Account {
	if a == nil {
		return quorum.Account{}
	}
	// As a commit's author GraphQL shows a bot as a User, under the name that REST gives it: no person has brackets.
	out := quorum.Account{Login: a.Login, ID: a.ID, Bot: a.Type == "Bot" || strings.HasSuffix(a.Login, "[bot]")}
	if out.Bot && !strings.HasSuffix(out.Login, "[bot]") {
		out.Login += "[bot]"
	}
	return out
}

// user is the account as REST shows it, to which a deleted one is the account ghost.
func (a *graphActor) user() *restUser {
	if a == nil {
		return &restUser{Login: "ghost", ID: 10137, Type: "User"}
	}
	is := a.account()
	kind := "User"
	if is.Bot {
		kind = "Bot"
	}
	return &restUser{Login: is.Login, ID: is.ID, Type: kind}
}

// bigID is a 64-bit id, which GraphQL writes as a string.
type bigID int64

func (id *bigID) UnmarshalJSON(b []byte) error {
	s := strings.Trim(string(b), `"`)
	if s == "null" || s == "" {
		return nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	*id = bigID(n)
	return err
}

type graphOID struct {
	OID string `json:"oid"`
}

type graphPage struct {
	HasNext bool   `json:"hasNextPage"`
	End     string `json:"endCursor"`

	HasPrevious bool   `json:"hasPreviousPage"`
	Start       string `json:"startCursor"`
}

type graphEdit struct {
	Node    string      `json:"id"`
	ID      bigID       `json:"fullDatabaseId"`
	Updated time.Time   `json:"updatedAt"`
	Edited  time.Time   `json:"lastEditedAt"`
	Author  *graphActor `json:"author"`
	Editor  *graphActor `json:"editor"`
	Body    string      `json:"body"`

	// Of a comment.
	Created  time.Time `json:"createdAt"`
	Relation string    `json:"authorAssociation"`
	URL      string    `json:"url"`
}

type graphThread struct {
	Resolved     bool        `json:"isResolved"`
	Outdated     bool        `json:"isOutdated"`
	Path         string      `json:"path"`
	Line         int         `json:"line"`
	OriginalLine int         `json:"originalLine"`
	ResolvedBy   *graphActor `json:"resolvedBy"`
	Comments     struct {
		Nodes []struct {
			Node     string      `json:"id"`
			ID       bigID       `json:"fullDatabaseId"`
			Body     string      `json:"body"`
			Created  time.Time   `json:"createdAt"`
			Edited   time.Time   `json:"lastEditedAt"`
			URL      string      `json:"url"`
			Author   *graphActor `json:"author"`
			Editor   *graphActor `json:"editor"`
			Original graphOID    `json:"originalCommit"`
			Review   struct {
				ID bigID `json:"fullDatabaseId"`
			} `json:"pullRequestReview"`
		} `json:"nodes"`
	} `json:"comments"`
}

type graphEvent struct {
	Type     string      `json:"__typename"`
	At       time.Time   `json:"createdAt"`
	Actor    *graphActor `json:"actor"`
	Previous string      `json:"previousRefName"`
	Current  string      `json:"currentRefName"`
	Old      string      `json:"oldBase"` // the base was merged and deleted
	New      string      `json:"newBase"`
	State    string      `json:"previousReviewState"`
	Before   graphOID    `json:"beforeCommit"`
	After    graphOID    `json:"afterCommit"`
	Target   *graphActor `json:"requestedReviewer"`
	Review   struct {
		ID bigID `json:"fullDatabaseId"`
	} `json:"review"`
}

type graphCommit struct {
	Commit struct {
		OID     string `json:"oid"`
		Authors struct {
			Total int `json:"totalCount"`
			Nodes []struct {
				User *graphActor `json:"user"`
			} `json:"nodes"`
		} `json:"authors"`
		Committer struct {
			User *graphActor `json:"user"`
		} `json:"committer"`
		Signature *struct {
			Valid bool `json:"isValid"`
		} `json:"signature"` // nil: it has none
		Suites graphConnection[graphSuite] `json:"checkSuites"`
	} `json:"commit"`
}

type graphSuite struct {
	Created time.Time                        `json:"createdAt"`
	Run     *graphSuiteRun                   `json:"workflowRun"` // nil: the suite is no run's
	Checks  graphConnection[graphSuiteCheck] `json:"checkRuns"`
}

type graphSuiteRun struct {
	ID int64 `json:"databaseId"`
}

type graphSuiteCheck struct {
	Name       string `json:"name"`
	Status     string `json:"status"`
	Conclusion string `json:"conclusion"`
	ExternalID string `json:"externalId"`
}

type graphConnection[T any] struct {
	Total int       `json:"totalCount"`
	Page  graphPage `json:"pageInfo"`
	Nodes []T       `json:"nodes"`
}

type graphPull struct {
	Head  string `json:"headRefOid"`
	Base  string `json:"baseRefName"`
	State string `json:"state"`
	Draft bool   `json:"isDraft"`

	Title   string `json:"title"`
	HeadRef string `json:"headRefName"`
	BaseSHA string `json:"baseRefOid"`
	changeSize
	HeadRepo *graphRepository `json:"headRepository"` // nil: it was deleted
	Merge    *graphOID        `json:"potentialMergeCommit"`

	Threads  graphConnection[graphThread] `json:"reviewThreads"`
	Comments graphConnection[graphEdit]   `json:"comments"`
	Reviews  graphConnection[graphEdit]   `json:"reviews"`
	Timeline graphConnection[graphEvent]  `json:"timelineItems"`
	Commits  graphConnection[graphCommit] `json:"commits"`

	Requested graphConnection[struct{}] `json:"reviewRequests"`
	Labels    graphConnection[struct {
		Name string `json:"name"`
	}] `json:"labels"`
}

type graphRepository struct {
	FullName string `json:"nameWithOwner"`
}

type graphAnswer struct {
	Repository *graphRepo `json:"repository"`
}

type graphRepo struct {
	Policy  graphOID `json:"policy"`
	Default struct {
		Name   string   `json:"name"`
		Target graphOID `json:"target"`
	} `json:"defaultBranchRef"`
	Commit *struct {
		Pulls  graphConnection[graphSibling] `json:"associatedPullRequests"`
		Suites graphConnection[graphSuite]   `json:"checkSuites"`
	} `json:"object"`
	Left *struct {
		Pulls graphConnection[graphSibling] `json:"associatedPullRequests"`
	} `json:"left"`
	Pull  *graphPull                 `json:"pullRequest"`
	Pulls graphConnection[sizedPull] `json:"pullRequests"` // those that changed last
}

// graphSibling is a pull request of which the head is a commit.
type graphSibling struct {
	Number  int       `json:"number"`
	State   string    `json:"state"`
	Head    string    `json:"headRefOid"`
	Base    string    `json:"baseRefName"`
	Draft   bool      `json:"isDraft"`
	Fork    bool      `json:"isCrossRepository"`
	Created time.Time `json:"createdAt"`

	Author graphActor `json:"author"` // zero: the account is gone
}

// A sizedPull is a pull request with how much it changes.
type sizedPull struct {
	graphSibling
	HeadRef  string           `json:"headRefName"`
	HeadRepo *graphRepository `json:"headRepository"` // nil: it was deleted
	ClosedAt time.Time        `json:"closedAt"`
	changeSize
	sameSize bool // as the pull request that was asked for
}

// changeSize is how much a pull request changes.
type changeSize struct {
	Additions    int `json:"additions"`
	Deletions    int `json:"deletions"`
	ChangedFiles int `json:"changedFiles"`
}

// conversation is what the query tells.
type conversation struct {
	head          string // that was asked for, and is the pull request's
	check         string // the name of ours that was asked for
	external      string // by which ours are told
	base          string
	tip           string // of the default branch
	draft         bool
	closed        bool
	threads       []quorum.Thread
	commentEdits  map[int64]lastEdit // of comments and reviews: their ids are of different sequences, and so are the maps
	reviewEdits   map[int64]lastEdit
	timeline      []quorum.Event
	pushed        time.Time       // creation of the head's first check suite that our own check did not bring; zero without one
	arrived       time.Time       // creation of the head's first check suite; zero without one
	headRuns      []int64         // workflow runs of the head's check suites
	moreSuites    bool            // the head has more check suites than were shown
	earlier       []earlierCommit // the newest ones, the head not among them
	siblings      []graphSibling  // other pull requests with this head, closed ones too
	siblingsKnown bool            // siblings is an answer
}

// A conversationAnswer is what the query answers, once.
type conversationAnswer struct {
	conversation
	blob          string // which stands at the policy's path on the default branch; "": none does, or it is not known
	pull          pullFacts
	others        []sizedPull   // the pull requests that changed last, this one too
	leftShared    *bool         // whether another open pull request has the head that was left; nil: that is not known
	comments      []restComment // as REST lists them
	commentsKnown bool          // comments are all, with their words
}

// lastEdit is who changed a text last.
type lastEdit struct {
	updated, edited time.Time
	editor          quorum.Account
	author          quorum.Account
	body            untrusted.Digest
	bodyKnown       bool // body was read: a stranger's is not where they are too long
}

// earlierCommit is an earlier commit with what it carries.
type earlierCommit struct {
	sha       string
	hasSuites bool // any check suite
	ours      int  // checks of ours
	standing  int  // those of them that are open or green
	complete  bool // none of them is left out
}

// commit finds a commit; zero if it is not listed.
func (c conversation) commit(sha string) earlierCommit {
	for _, k := range c.earlier {
		if k.sha == sha {
			return k
		}
	}
	return earlierCommit{}
}

func (e graphEdit) lastEdit() lastEdit {
	return lastEdit{
		updated: e.Updated,
		edited:  e.Edited,
		editor:  e.Editor.account(),
		author:  e.Author.account(),
		body:    untrusted.DigestOf(e.Body),
	}
}

// readConversation asks the query, page by page. Even if the head is another one it tells which blob stands at policy
// on the default branch. left is a head that the pull request may have left, or "". Of words it keeps those that
// watched keeps. HEAD is that branch, whatever else is called so (gitrevisions(7)).
func (r pullReader) readConversation(
	ctx context.Context,
	head, left, check, policy string,
	watched reviewerSet,
) (c conversationAnswer, err error) {
	c.conversation = conversation{
		head:         head,
		check:        check,
		external:     report.ExternalID(r.pr),
		commentEdits: map[int64]lastEdit{},
		reviewEdits:  map[int64]lastEdit{},
	}
	c.commentsKnown = true
	vars := map[string]any{
		"owner":          r.pr.Owner,
		"name":           r.pr.Repo,
		"number":         r.pr.Number,
		"check":          check,
		"head":           head,
		"left":           cmp.Or(left, head),
		"policy":         "HEAD:" + policy,
		"threadsPerPage": cmp.Or(r.texts.threads, fewThreads),
	}
	wordless := wordlessTexts{}
	for page := range maxPages {
		repo, err := r.askGraphQL(ctx, queryOfConversation(r.texts.words), vars)
		for errors.Is(err, client.ErrTooLong) && r.texts.words != noWords {
			r.texts.words++
			repo, err = r.askGraphQL(ctx, queryOfConversation(r.texts.words), vars)
		}
		if err != nil {
			return c, err
		}
		p := repo.Pull
		c.blob = repo.Policy.OID // the newest page counts, for this head or another
		if p.Head != head {
			return c, moved{"the head of " + r.pr.String() + " moved"}
		}
		bodies := r.texts.words != noWords
		c.takeThreads(p.Threads.Nodes, watched, bodies, wordless)
		takeEdits(c.commentEdits, p.Comments.Nodes, watched, r.texts.words == allWords, wordless)
		c.takeComments(p.Comments.Nodes, watched, r.texts.words == allWords)
		takeEdits(c.reviewEdits, p.Reviews.Nodes, watched, bodies, wordless)
		c.takeTimeline(p.Timeline.Nodes)
		if page == 0 {
			c.tip, c.pull = repo.Default.Target.OID, p.facts(repo.Default.Name)
			c.base, c.draft, c.closed = p.Base, p.Draft, p.State != "OPEN"
			c.readCommits(p.Commits.Nodes)
			if c.moreSuites = repo.Commit == nil || repo.Commit.Suites.Page.HasNext; repo.Commit != nil {
				c.readSuites(repo.Commit.Suites.Nodes)
			}
			c.readSiblings(repo, r.pr)
			c.others = repo.Pulls.Nodes
			for i := range c.others {
				c.others[i].sameSize = c.others[i].changeSize == p.changeSize
			}
			c.leftShared = repo.leftShared(left, r.pr)
		}
		more := advanceCursor(vars, "threads", p.Threads.Page)
		if more {
			r.texts.threads = 100
			vars["threadsPerPage"] = r.texts.threads
		}
		more = advanceCursor(vars, "comments", p.Comments.Page) || more
		more = advanceCursor(vars, "reviews", p.Reviews.Page) || more
		more = advanceCursor(vars, "timeline", p.Timeline.Page) || more
		if !more {
			sort.SliceStable(c.timeline, func(i, j int) bool { return c.timeline[i].At.Before(c.timeline[j].At) })
			return c, r.readBodies(ctx, wordless)
		}
	}
	return c, fmt.Errorf("the conversation of %s %w", r.pr, errNoEnd)
}

// wordlessTexts are reviewers' texts that came without their words: by node, what takes these.
type wordlessTexts map[string]func(body string)

// takeThreads adds threads of a page. bodies says that it has texts' words.
func (c *conversation) takeThreads(page []graphThread, watched reviewerSet, bodies bool, wordless wordlessTexts) {
	for _, shown := range page {
		if len(shown.Comments.Nodes) == 0 {
			continue
		}
		t := shown.toThread()
		t.Body = watched.keptBody(t.Author, t.Body)
		if i := len(c.threads); !bodies && watched.includes(t.Author) {
			wordless[shown.Comments.Nodes[0].Node] = func(body string) { c.threads[i].Body = body }
		}
		c.threads = append(c.threads, t)
	}
}

// takeEdits adds the last edits of texts of a page. bodies says that it has their words.
func takeEdits(into map[int64]lastEdit, page []graphEdit, watched reviewerSet, bodies bool, wordless wordlessTexts) {
	for _, e := range page {
		id, last := int64(e.ID), e.lastEdit()
		last.bodyKnown = bodies
		into[id] = last
		if !bodies && watched.includes(last.author) {
			wordless[e.Node] = func(body string) {
				last.body, last.bodyKnown = untrusted.DigestOf(body), true
				into[id] = last
			}
		}
	}
}

// takeComments adds comments of a page. bodies says that it has their words.
func (c *conversationAnswer) takeComments(page []graphEdit, watched reviewerSet, bodies bool) {
	if c.commentsKnown = c.commentsKnown && bodies; !c.commentsKnown {
		c.comments = nil
		return
	}
	for i := range page {
		e := &page[i]
		comment := restComment{
			ID: int64(e.ID), User: e.Author.user(), Body: e.Body, Created: e.Created, Updated: e.Updated, URL: e.URL, Relation: e.Relation,
		}
		comment.keepWords(watched)
		c.comments = append(c.comments, comment)
	}
}

// takeTimeline adds events of a page.
func (c *conversation) takeTimeline(page []graphEvent) {
	for _, e := range page {
		if kind, known := eventKinds[e.Type]; known {
			c.timeline = append(c.timeline, quorum.Event{
				Kind: kind, At: e.At, Actor: e.Actor.account(),
				From: e.Previous + e.Old + e.Before.OID + e.State, To: e.Current + e.New + e.After.OID,
				Target: e.Target.account(), Review: int64(e.Review.ID),
			})
		}
	}
}

// readBodies hands the words of texts to those who wait for them. One that was deleted meanwhile is an error, after
// which a look is taken again.
func (r pullReader) readBodies(ctx context.Context, wordless wordlessTexts) error {
	for nodes := range slices.Chunk(slices.Sorted(maps.Keys(wordless)), bodiesPerQuery) {
		var answer struct {
			Nodes []*struct {
				Node string `json:"id"`
				Body string `json:"body"`
			} `json:"nodes"`
		}
		if err := r.client.GraphQL(ctx, bodiesQuery, map[string]any{"ids": nodes}, &answer); err != nil {
			return err
		}
		words := map[string]string{}
		for _, n := range answer.Nodes {
			if n != nil {
				words[n.Node] = n.Body
			}
		}
		for _, node := range nodes {
			wordless[node](words[node])
		}
	}
	return nil
}

// facts returns the facts as GraphQL shows them.
func (p *graphPull) facts(defaultBranch string) pullFacts {
	labels := make([]string, len(p.Labels.Nodes))
	for i, l := range p.Labels.Nodes {
		labels[i] = l.Name
	}
	f := pullFacts{
		title: p.Title, head: p.Head, headRef: p.HeadRef, base: p.BaseSHA, baseRef: p.Base, defaultBranch: defaultBranch,
		labels: joinSorted(labels), draft: p.Draft, closed: p.State != "OPEN", commits: p.Commits.Total, files: p.ChangedFiles,
		lines: p.Additions + p.Deletions, requested: p.Requested.Total,
	}
	if p.HeadRepo != nil {
		f.headRepo = p.HeadRepo.FullName
	}
	if p.Merge != nil {
		f.merge = p.Merge.OID
	}
	return f
}

// readSiblings reads which other open pull requests have this head. An answer that does not show pr itself knows too
// little of the commit to say that there is no other.
func (c *conversation) readSiblings(r *graphRepo, pr quorum.PR) {
	if r.Commit == nil || r.Commit.Pulls.Page.HasNext {
		return
	}
	for _, p := range r.Commit.Pulls.Nodes {
		switch {
		case p.Head != c.head:
		case p.Number == pr.Number:
			c.siblingsKnown = true
		default:
			c.siblings = append(c.siblings, p)
		}
	}
}

// leftShared reports whether another open pull request than pr has the head that was left; nil if the answer knows too
// little of it: one that does not show pr itself does.
func (r *graphRepo) leftShared(left string, pr quorum.PR) *bool {
	isOurs := func(p graphSibling) bool { return p.Number == pr.Number }
	if left == "" || r.Left == nil || r.Left.Pulls.Page.HasNext || !slices.ContainsFunc(r.Left.Pulls.Nodes, isOurs) {
		return nil
	}
	shared := slices.ContainsFunc(r.Left.Pulls.Nodes, func(p graphSibling) bool {
		return p.Head == left && p.State == "OPEN" && p.Number != pr.Number
	})
	return &shared
}

// advanceCursor sets the cursor of one connection to its end, so that the next page of the query holds only what is
// new.
func advanceCursor(vars map[string]any, name string, p graphPage) bool {
	if p.End != "" {
		vars[name] = p.End
	}
	return p.HasNext
}

func (r pullReader) askGraphQL(ctx context.Context, query string, vars map[string]any) (*graphRepo, error) {
	var answer graphAnswer
	if err := r.client.GraphQL(ctx, query, vars, &answer); err != nil {
		return nil, err
	}
	if answer.Repository == nil || answer.Repository.Pull == nil {
		return nil, moved{"the pull request vanished"}
	}
	return answer.Repository, nil
}

func (t graphThread) toThread() quorum.Thread {
	c := t.Comments.Nodes[0]
	line := t.Line
	if line == 0 {
		line = t.OriginalLine
	}
	return quorum.Thread{
		ID: int64(c.ID), Review: int64(c.Review.ID), Author: c.Author.account(), Body: c.Body,
		Path: t.Path, Line: line, Commit: c.Original.OID, At: c.Created,
		Edited: !c.Edited.IsZero(), Editor: c.Editor.account(),
		Resolved: t.Resolved, ResolvedBy: t.ResolvedBy.account(), Outdated: t.Outdated, URL: c.URL,
	}
}

var eventKinds = map[string]quorum.EventKind{
	"BaseRefChangedEvent": quorum.BaseChanged, "AutomaticBaseChangeSucceededEvent": quorum.BaseChanged,
	"HeadRefForcePushedEvent": quorum.ForcePushed, "ReopenedEvent": quorum.Reopened, "ClosedEvent": quorum.Closed,
	"ReadyForReviewEvent": quorum.ReadyForReview, "ConvertToDraftEvent": quorum.ConvertedDraft,
	"ReviewRequestedEvent": quorum.ReviewRequested, "ReviewDismissedEvent": quorum.ReviewDismissed,
}

// readSuites reads when the head arrived. A suite beyond the page is younger than those on it.
func (c *conversation) readSuites(suites []graphSuite) {
	for _, s := range suites {
		if c.arrived.IsZero() || s.Created.Before(c.arrived) {
			c.arrived = s.Created
		}
		if s.Run != nil {
			c.headRuns = append(c.headRuns, s.Run.ID)
		}
		isOurs := slices.ContainsFunc(s.Checks.Nodes, func(check graphSuiteCheck) bool { return isOfOurs(check.ExternalID, c.external) })
		if (!isOurs || s.Run != nil) && (c.pushed.IsZero() || s.Created.Before(c.pushed)) {
			c.pushed = s.Created
		}
	}
}

// readCommits reads what the newest commits carry.
func (c *conversation) readCommits(nodes []graphCommit) {
	for _, n := range nodes {
		suites := n.Commit.Suites
		if n.Commit.OID == c.head {
			c.readSuites(suites.Nodes)
			continue
		}
		k := earlierCommit{sha: n.Commit.OID, hasSuites: len(suites.Nodes) > 0, complete: !suites.Page.HasNext}
		for _, s := range suites.Nodes {
			k.complete = k.complete && !s.Checks.Page.HasNext
			for _, check := range s.Checks.Nodes {
				if !isOfOurs(check.ExternalID, c.external) {
					continue
				}
				k.ours++
				if check.Status != "COMPLETED" || check.Conclusion == "SUCCESS" {
					k.standing++
				}
			}
		}
		c.earlier = append(c.earlier, k)
	}
}

// maxCommitPages bounds readCommitsBack: GitHub lists 250 commits of a pull request. Source: "Commits" of REST's pull requests.
const maxCommitPages = 5

// readCommitsBack reads what the newest commits before the head carry, the oldest of them first.
func (c conversation) readCommitsBack(ctx context.Context, r pullReader) ([]earlierCommit, error) {
	vars := map[string]any{"owner": r.pr.Owner, "name": r.pr.Repo, "number": r.pr.Number, "check": c.check}
	var back []earlierCommit
	for range maxCommitPages {
		repo, err := r.askGraphQL(ctx, commitsQuery, vars)
		if err != nil {
			return nil, err
		}
		if repo.Pull.Head != c.head {
			return nil, moved{"the head of " + r.pr.String() + " moved"}
		}
		page := conversation{head: c.head, external: c.external}
		page.readCommits(repo.Pull.Commits.Nodes)
		back = append(page.earlier, back...)
		at := repo.Pull.Commits.Page
		if !at.HasPrevious {
			break
		}
		vars["before"] = at.Start
	}
	return back, nil
}

// readCommitAuthors reads who made the commits of the pull request.
func (r pullReader) readCommitAuthors(ctx context.Context, head string) (commits []quorum.Commit, err error) {
	vars := map[string]any{"owner": r.pr.Owner, "name": r.pr.Repo, "number": r.pr.Number}
	for range maxPages {
		repo, err := r.askGraphQL(ctx, authorsQuery, vars)
		if err != nil {
			return nil, err
		}
		p := repo.Pull
		if p.Head != head {
			return nil, moved{"the head of " + r.pr.String() + " moved"}
		}
		for _, n := range p.Commits.Nodes {
			if n.Commit.Authors.Total > len(n.Commit.Authors.Nodes) {
				return nil, nil // not all are known, so that nobody can be said to be none of them
			}
			isSigned := n.Commit.Signature != nil && n.Commit.Signature.Valid
			c := quorum.Commit{SHA: n.Commit.OID, Verified: isSigned}
			isUnknown := false
			for _, a := range n.Commit.Authors.Nodes {
				if isUnknown = isUnknown || a.User == nil; a.User != nil {
					c.People = append(c.People, a.User.account())
				}
			}
			if isUnknown && len(c.People) > 0 { // beside whom it names; one alone is its pusher
				c.People = append(c.People, quorum.Account{})
			}
			if u := n.Commit.Committer.User; u != nil {
				c.People = append(c.People, u.account())
			}
			commits = append(commits, c)
		}
		if !advanceCursor(vars, "commits", p.Commits.Page) {
			return commits, nil
		}
	}
	return nil, fmt.Errorf("the list of commits of %s %w", r.pr, errNoEnd)
}
