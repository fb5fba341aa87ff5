package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/oplog"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
)

const (
	annotationsPerRequest = 50 // annotations that GitHub takes at once; it appends them at every update
	writeTries            = 4  // of a write whose answer was lost, each after a look at what became of it
)

// An UnpublishableError says that the check can never be written on that commit.
type UnpublishableError struct {
	Head string
	Err  error
}

func (e *UnpublishableError) Error() string {
	return fmt.Sprintf("publish on %.7s: %v", e.Head, e.Err)
}
func (e *UnpublishableError) Unwrap() error { return e.Err }

// Publish makes our check on c.Head read as c, and writes nothing if it does. It must follow an Observe of the same
// pull request by the same Forge: where that was forgotten meanwhile nothing is written, and a look must be taken
// again. Of several checks of ours with that name all are made equal.
func (f *Forge) Publish(ctx context.Context, pr quorum.PR, c report.Check) error {
	m, release := f.holdMemory(pr)
	defer release()
	if m.head != c.Head {
		return moved{"what was known of " + pr.String() + " was forgotten, or its head moved,"}
	}
	if f.fence != nil {
		written, err := f.fence.claim(f.installation, pr, c.Head, c.Name, m.lookBegan)
		if err != nil {
			return err
		}
		defer written()
	}
	m.wake, m.threadsDecide = c.Wake, c.Threads
	if c.Leave {
		return nil
	}
	p := publication{f: f, pr: pr, m: m}
	if f.client.Personal() {
		return p.publishStatus(ctx, c)
	}
	return p.publishCheck(ctx, c)
}

// A publication is one write of a pull request's check.
type publication struct {
	f  *Forge
	pr quorum.PR
	m  *memory
}

// publishCheck makes check runs read as c, and ends those that must not stay.
func (p *publication) publishCheck(ctx context.Context, c report.Check) error {
	if err := p.leaveToQueue(ctx, c); err != nil {
		return err
	}
	if err := p.retireOthers(ctx, c); err != nil {
		return err
	}
	mine := slices.DeleteFunc(slices.Clone(p.m.ownChecks), func(o writtenCheck) bool { return o.name != c.Name })
	if c.OnlyOpen {
		return p.endOpen(ctx, c)
	}
	status, err := p.equalStatus(ctx, c.Name)
	if err != nil {
		return err
	}
	return status.writeBeside(ctx, c, mine, func() error { return p.writeChecks(ctx, c, mine) })
}

// writeChecks makes our checks of that name read as c; there may be none yet.
func (p *publication) writeChecks(ctx context.Context, c report.Check, mine []writtenCheck) error {
	if len(mine) == 0 {
		if err := p.confirmComments(ctx, c.Conclusion == "success"); err != nil {
			return err
		}
		if err := p.createCheck(ctx, c); err != nil || c.Conclusion != "success" {
			return err
		}
		return p.refuseForeignWrites(ctx, c)
	}
	if c.Conclusion == "success" &&
		(c.Restamp || !slices.ContainsFunc(mine, func(o writtenCheck) bool { return o.readsAs(c, false) })) {
		g, beside := newGroup(ctx)
		g.Go(func() error { return p.refuseForeignWrites(beside, c) })
		g.Go(func() error { return p.confirmComments(beside, true) })
		if err := g.Wait(); err != nil {
			return err
		}
	}
	for i, o := range mine {
		if i > 0 {
			c.Annotations = nil // one of them carries the annotations
		}
		if err := p.updateCheck(ctx, o, c); err != nil {
			return err
		}
	}
	return nil
}

// endOpen completes our open checks, under whatever name, and green ones of the name that c gives, and touches nothing
// else. A head that another open pull request has too keeps its check.
func (p *publication) endOpen(ctx context.Context, c report.Check) error {
	open := slices.DeleteFunc( // whoever of the pull requests of the head they were made for
		slices.Clone(p.m.ownChecks),
		func(o writtenCheck) bool { return !o.isOpenOrGreen() || o.isGreen() && o.name != c.OrGreen },
	)
	if len(open) == 0 {
		return nil
	}
	if shared, err := p.headShared(ctx, c.Head); err != nil || shared {
		return err
	}
	for _, o := range open {
		next, err := p.headOfMaker(ctx, o, c)
		if err != nil {
			return err
		}
		switch title := report.SupersededTitle(next); next {
		case c.Head: // it is there still: a list lagged
		case "":
			err = p.updateCheckWithStatus(ctx, o, c)
		default:
			err = p.replaceCheck(ctx, o, report.Check{
				Name: o.name, Head: c.Head, Status: "completed", Conclusion: "cancelled",
				Title: title, Described: title, Summary: title + ".",
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// headOfMaker is the head that the other open pull request now has which a check on the head of c was made for; "" if
// there is none. Its own look ended nothing there as long as another one had the commit.
func (p *publication) headOfMaker(ctx context.Context, o writtenCheck, c report.Check) (string, error) {
	_, number, isNamed := strings.Cut(o.external, "#")
	if o.external == c.ExternalID || !isNamed || strings.Trim(number, "0123456789") != "" {
		return "", nil // it is this one's, or of nobody who could be asked
	}
	var maker restPull
	_, err := p.f.client.Get(ctx, repoPath(p.pr, "pulls", number), &maker)
	if client.IsNotFound(err) || err == nil && maker.State != "open" {
		return "", nil
	}
	return maker.Head.SHA, err
}

// updateCheckWithStatus makes a check of ours on the head read as c, whatever its name, and the status beside it.
func (p *publication) updateCheckWithStatus(ctx context.Context, o writtenCheck, c report.Check) error {
	status, err := p.equalStatus(ctx, o.name)
	if err != nil {
		return err
	}
	return status.writeBeside(ctx, c, []writtenCheck{o}, func() error { return p.updateCheck(ctx, o, c) })
}

// headShared reports whether another open pull request has that head.
func (p *publication) headShared(ctx context.Context, head string) (bool, error) {
	others, err := p.f.PullsOf(ctx, p.pr.Owner, p.pr.Repo, head)
	return slices.ContainsFunc(others, func(o quorum.PR) bool { return o.Number != p.pr.Number }), err
}

// confirmComments makes sure, before a pass is written, that REST shows the same comments as the conversation, if that
// alone told of them: a pass must not rest on one answer that lags. Until the head changes both are asked, after
// such a difference.
func (p *publication) confirmComments(ctx context.Context, passes bool) error {
	if !passes || !p.m.commentsFromQuery {
		return nil
	}
	comments, err := pullReader{client: p.f.client, pr: p.pr, texts: &p.m.pages}.readComments(ctx, nil)
	if err != nil {
		return err
	}
	shown := map[int64]bool{}
	isApart := false
	for _, c := range comments {
		shown[c.ID] = true
		isApart = isApart || p.m.conversation.isBehind(c.toText(), c.sum)
	}
	for id := range p.m.conversation.commentEdits {
		isApart = isApart || !shown[id]
	}
	if isApart {
		p.m.commentsApart, p.m.conversationCurrent = true, false
		return moved{"a comment of " + p.pr.String() + " was written, edited or deleted"}
	}
	p.m.commentsFromQuery = false
	return nil
}

// refuseForeignWrites makes sure that no other process wrote our check since it was observed: a pass of an older look
// must not stand over an objection that another process has seen. The list is conditional, so that usually it costs
// nothing.
func (p *publication) refuseForeignWrites(ctx context.Context, c report.Check) error {
	found, err := p.findOwn(ctx, c)
	if err != nil {
		return err
	}
	for _, now := range found {
		i := slices.IndexFunc(p.m.ownChecks, func(o writtenCheck) bool { return o.id == now.id })
		if i < 0 || p.m.ownChecks[i].status != now.status || p.m.ownChecks[i].conclusion != now.conclusion ||
			p.m.ownChecks[i].digests.title != now.digests.title ||
			!p.m.ownChecks[i].digests.sameText(now.digests) {
			return moved{"the check of " + p.pr.String() + " was written by another process"}
		}
	}
	return nil
}

// checkBody is a check run as it is written.
type checkBody struct {
	Name       string        `json:"name,omitempty"`
	Head       string        `json:"head_sha,omitempty"`
	ExternalID string        `json:"external_id,omitempty"`
	DetailsURL string        `json:"details_url,omitempty"` // goes with a write; none is made for it
	Status     string        `json:"status"`
	Conclusion string        `json:"conclusion,omitempty"`
	Output     *checkOutput  `json:"output,omitempty"`
	Actions    []checkButton `json:"actions,omitzero"`
}

// checkButton is a button of a check. GitHub shows it in full up to 20, 40 and 20 characters, and refuses longer ones.
type checkButton struct {
	Label       string `json:"label"`
	Description string `json:"description"`
	Identifier  string `json:"identifier"`
}

type checkOutput struct {
	Title       string           `json:"title"`
	Summary     string           `json:"summary"`
	Text        string           `json:"text,omitempty"`
	Annotations []restAnnotation `json:"annotations,omitempty"`
}

type restAnnotation struct {
	Path    string `json:"path"`
	Start   int    `json:"start_line"`
	End     int    `json:"end_line"`
	Level   string `json:"annotation_level"`
	Message string `json:"message"`
	Title   string `json:"title,omitempty"`
}

// buttonsOf are the buttons of a check that reads as c: none where nothing could come of a press. A job's own token
// gets none, for GitHub tells nobody of a press there.
func buttonsOf(app appIdentity, c report.Check) []checkButton {
	if app.KnownSlug() == quorum.ActionsApp {
		return nil
	}
	if c.Conclusion == "success" || c.Conclusion == "cancelled" {
		return []checkButton{}
	}
	return []checkButton{{
		Label: "Rerun reviewers", Description: "Run those again that do not approve", Identifier: quorum.RerunButton,
	}}
}

func checkBodyOf(app appIdentity, c report.Check, annotations []report.Annotation) checkBody {
	b := checkBody{
		Actions:    buttonsOf(app, c),
		Status:     c.Status,
		Conclusion: c.Conclusion,
		DetailsURL: c.DetailsURL,
		Output:     &checkOutput{Title: c.Title, Summary: c.Summary, Text: c.Text},
	}
	for _, a := range annotations {
		b.Output.Annotations = append(
			b.Output.Annotations,
			restAnnotation{Path: a.Path, Start: a.Line, End: a.Line, Level: a.Level, Message: a.Message, Title: a.Title},
		)
	}
	return b
}

// batchAnnotations cuts annotations as GitHub takes them; the first batch, maybe empty, goes with the check itself.
func batchAnnotations(all []report.Annotation) (out [][]report.Annotation) {
	for len(all) > annotationsPerRequest {
		out = append(out, all[:annotationsPerRequest])
		all = all[annotationsPerRequest:]
	}
	return append(out, all)
}

// createCheck writes the check for the first time. If the answer is lost the check is looked for before it is written
// again.
func (p *publication) createCheck(ctx context.Context, c report.Check) error {
	parts := batchAnnotations(c.Annotations)
	b := checkBodyOf(p.f.app, c, parts[0])
	b.Name, b.Head, b.ExternalID = c.Name, c.Head, c.ExternalID
	var lost error
	for try := range writeTries {
		if try > 0 {
			if err := pause(ctx, time.Second<<(try-1)); err != nil {
				return err
			}
			found, err := p.findOwn(ctx, c)
			if err != nil {
				lost = err
				continue
			}
			if len(found) > 0 {
				p.m.ownChecks = append(found, p.m.ownChecks...)
				if has := found[0].annotations; found[0].readsAs(c, false) &&
					has < len(c.Annotations) { // only the answer was lost
					return p.sendAnnotations(ctx, found[0], c, batchAnnotations(c.Annotations[has:]))
				}
				return p.updateCheck(ctx, found[0], c)
			}
		}
		var made restCheck
		_, err := p.f.client.Send(ctx, http.MethodPost, repoPath(p.pr, "check-runs"), b, &made)
		switch {
		case err == nil && made.ExternalID == c.ExternalID && !isByApp(p.f.app, made.toCheck().CheckRun):
			const other = "create check: GitHub shows it as of the App %q (%d), which is not the one that writes it"
			return fmt.Errorf(other, made.App.Slug, made.App.ID) // each look would write it again
		case err == nil:
			o := made.toCheck().asWritten()
			o.name, o.external = c.Name, c.ExternalID
			p.m.ownChecks = append([]writtenCheck{o}, p.m.ownChecks...)
			return p.sendAnnotations(ctx, o, c, parts[1:])
		case client.IsUnprocessable(err) || client.IsNotFound(err):
			return &UnpublishableError{c.Head, err}
		case !errors.Is(err, client.ErrTransport):
			return fmt.Errorf("create check: %w", err)
		}
		lost = err
	}
	return fmt.Errorf("create check: %w", lost)
}

// findOwn looks for our checks of that name on the head, the newest first.
func (p *publication) findOwn(ctx context.Context, c report.Check) (mine []writtenCheck, err error) {
	found, err := p.findOwnWithText(ctx, c)
	for _, o := range found {
		mine = append(mine, o.asWritten())
	}
	return mine, err
}

func (p *publication) findOwnWithText(ctx context.Context, c report.Check) (mine []ownCheck, err error) {
	path := repoPath(p.pr, "commits", c.Head, "check-runs") + "?filter=all&per_page=100"
	all, err := readPages[restCheck](ctx, p.f.client, nil, path, "check_runs")
	for _, r := range all {
		if o := r.toCheck(); o.Name == c.Name && isOwnCheck(p.f.app, p.pr, o.CheckRun) {
			mine = append(mine, o)
		}
	}
	slices.SortStableFunc(mine, newestCheckFirst)
	return mine, err
}

// updateCheck makes a check of ours read as c.
func (p *publication) updateCheck(ctx context.Context, o writtenCheck, c report.Check) error {
	if o.readsAs(c, c.Restamp && c.Status == "completed") {
		return nil
	}
	parts := batchAnnotations(c.Annotations)
	if err := p.patchCheck(ctx, o, c, parts[0]); err != nil {
		return err
	}
	return p.sendAnnotations(ctx, o, c, parts[1:])
}

// sendAnnotations sends the batches that are left.
func (p *publication) sendAnnotations(
	ctx context.Context,
	o writtenCheck,
	c report.Check,
	parts [][]report.Annotation,
) error {
	for _, part := range parts {
		if err := p.patchCheck(ctx, o, c, part); err != nil {
			return err
		}
	}
	return nil
}

// patchCheck updates a check once. If the answer is lost the check is read: annotations are appended, so that sending
// them again would show them twice.
func (p *publication) patchCheck(
	ctx context.Context,
	o writtenCheck,
	c report.Check,
	annotations []report.Annotation,
) error {
	path := repoPath(p.pr, "check-runs", strconv.FormatInt(o.id, 10))
	had := o.annotations
	if i := slices.IndexFunc(p.m.ownChecks, func(x writtenCheck) bool { return x.id == o.id }); i >= 0 {
		had = p.m.ownChecks[i].annotations
	}
	var lost error
	for try := range writeTries {
		if try > 0 {
			if err := pause(ctx, time.Second<<(try-1)); err != nil {
				return err
			}
			var now restCheck
			if _, err := p.f.client.Get(ctx, path, &now); err != nil {
				lost = err
				continue
			}
			if r := now.toCheck().asWritten(); r.readsAs(c, false) && r.annotations >= had+len(annotations) {
				p.m.noteWrite(r)
				return nil
			}
		}
		var made restCheck
		_, err := p.f.client.Send(ctx, http.MethodPatch, path, checkBodyOf(p.f.app, c, annotations), &made)
		switch {
		case err == nil:
			o.status, o.conclusion, o.digests = c.Status, c.Conclusion, digestsOf(c.Title, c.Summary, c.Text)
			o.annotations = had + len(annotations)
			p.m.noteWrite(o)
			return nil
		case !errors.Is(err, client.ErrTransport):
			return fmt.Errorf("update check: %w", err)
		}
		lost = err
	}
	return fmt.Errorf("update check: %w", lost)
}

// noteWrite remembers what a check of ours says now.
func (m *memory) noteWrite(o writtenCheck) {
	if i := slices.IndexFunc(m.ownChecks, func(x writtenCheck) bool { return x.id == o.id }); i >= 0 {
		m.ownChecks[i] = o
	}
}

// retireOthers ends checks of ours that must not stay: those of this head under another name, and, best effort, those
// of older heads.
func (p *publication) retireOthers(ctx context.Context, c report.Check) error {
	// A head that comes back has the check with which it was left: ended, as one that has been superseded or closed is.
	first := !slices.ContainsFunc(p.m.ownChecks, func(o writtenCheck) bool { return o.conclusion != "cancelled" })
	if !c.OnlyOpen {
		for _, o := range slices.Clone(p.m.ownChecks) { // under another name, which a policy has since changed
			known := slices.ContainsFunc(
				c.Retire,
				func(old report.Retired) bool { return old.Head == c.Head && old.Name == o.name },
			)
			if o.name != c.Name && !isOthers(o, c) && !known && o.isOpenOrGreen() {
				title := "the check is called " + report.Quote(c.Name) + " now"
				if o.external != c.ExternalID {
					title = "no open pull request has this check any more"
				}
				if err := p.replaceCheck(ctx, o, report.Check{
					Status: "completed", Conclusion: "cancelled", Title: title, Summary: title + ".",
				}); err != nil {
					return err
				}
			}
		}
	}
	var guessed []string
	for _, old := range slices.Backward(c.Retire) { // the newest come last
		ended := report.Check{
			Status:     "completed",
			Conclusion: "cancelled",
			Title:      old.Title,
			Summary:    old.Title + ".",
			Name:       old.Name,
			Head:       old.Head,
		}
		if old.Head == c.Head {
			for _, o := range slices.Clone(p.m.ownChecks) {
				if o.name == old.Name && !isOthers(o, c) && o.isOpenOrGreen() {
					if err := p.replaceCheck(ctx, o, ended); err != nil {
						return err
					}
				}
			}
			continue
		}
		// An earlier head is looked at if the conversation shows a check of ours open or green on it, or once, when the
		// first check is about to be written on this head: a commit that was force-pushed away is not in the
		// conversation any more.
		if key := old.Name + "@" + old.Head; !p.m.retired[key] && p.m.mayStand(old, first) {
			if !p.m.standsOn(ended) {
				if !slices.Contains(guessed, old.Head) {
					if len(guessed) == maxGuessedHeads {
						continue
					}
					guessed = append(guessed, old.Head)
				}
			}
			p.m.retired = withEntry(p.m.retired, key, true)
			if err := p.endOnOlderHead(ctx, ended); err != nil {
				var limit *client.LimitError
				if errors.As(err, &limit) || ctx.Err() != nil {
					return err
				}
				p.m.retired[key] = false
				p.f.log.Warn("an older head's check run could not be ended", oplog.PullRequest(p.pr), "head", old.Head, "err", err)
			}
		}
	}
	return nil
}

// isOthers reports whether a check of ours on the head of c may be another open pull request's.
func isOthers(o writtenCheck, c report.Check) bool {
	return slices.Contains(c.Others, o.name) || !c.OthersKnown && o.external != c.ExternalID
}

// replaceCheck ends a check of ours on the same head as another one, which may never be written: its text, with the
// record, stays as it is read now.
func (p *publication) replaceCheck(ctx context.Context, o writtenCheck, ended report.Check) error {
	var now restCheck
	if _, err := p.f.client.Get(ctx, repoPath(p.pr, "check-runs", strconv.FormatInt(o.id, 10)), &now); err != nil {
		return fmt.Errorf("read check: %w", err)
	}
	if now.ID != o.id { // its text would be none
		return fmt.Errorf("read check: the answer is no such check: %w", client.ErrTransport)
	}
	ended.Text = now.Output.Text
	return p.updateCheckWithStatus(ctx, o, ended)
}

// maxGuessedHeads is how many earlier heads are looked at on which a check of ours is not known to stand: a request
// for each name that it may have there.
const maxGuessedHeads = 3

// mayStand reports whether a check of ours may be open or green on an earlier head.
func (m *memory) mayStand(old report.Retired, first bool) bool {
	shown := m.conversation.commit(old.Head)
	switch {
	case shown.standing > 0 && m.conversation.check == old.Name:
		return true
	case !first:
		return false
	case shown.sha != "" && shown.complete && m.conversation.check == old.Name: // it would be shown, unless it is all too new
		return len(m.checksLeft(old.Head, old.Name, m.conversation.external)) > 0
	}
	return true
}

// checksLeft are the open and green checks of ours that were known on an earlier head when the pull request left it.
func (m *memory) checksLeft(head, name, external string) (left []writtenCheck) {
	if head != m.previousHead {
		return nil
	}
	return slices.DeleteFunc(
		slices.Clone(m.previousChecks),
		func(o writtenCheck) bool { return o.name != name || !isOfOurs(o.external, external) },
	)
}

// standsOn reports whether a check of ours is known to be open or green on c's head, which is an earlier one.
func (m *memory) standsOn(c report.Check) bool {
	shown := m.conversation.commit(c.Head)
	return len(m.checksLeft(c.Head, c.Name, m.conversation.external)) > 0 ||
		shown.standing > 0 && m.conversation.check == c.Name
}

// endOnOlderHead ends our open or green check on an older head, unless that is another open pull request's head.
func (p *publication) endOnOlderHead(ctx context.Context, c report.Check) error {
	var shared bool
	known := p.m.before.checks // this look has read them, if they are of that head
	readShared := func() (err error) {
		if known.head == c.Head && known.shared != nil {
			shared = *known.shared
			return nil
		}
		shared, err = p.headShared(ctx, c.Head)
		return err
	}
	var found []ownCheck
	g, _ := newGroup(ctx)
	if known.head == c.Head {
		found = slices.DeleteFunc(slices.Clone(known.checks), func(o ownCheck) bool { return o.Name != c.Name })
	} else {
		g.Go(func() (err error) {
			found, err = p.findOwnWithText(ctx, c)
			return err
		})
	}
	expected := p.m.standsOn(c)
	if expected {
		g.Go(readShared)
	}
	err := g.Wait()
	if client.IsNotFound(err) || client.IsUnprocessable(err) {
		return nil
	}
	found = slices.DeleteFunc(found, func(o ownCheck) bool {
		return !o.asWritten().isOpenOrGreen()
	})
	if err == nil && len(found) > 0 && !expected {
		err = readShared()
	}
	if err != nil || len(found) == 0 || shared {
		return err
	}
	older := publication{f: p.f, pr: p.pr, m: &memory{}} // what is remembered is of the head
	status, err := older.equalStatusOnOlderHead(ctx, c.Head, c.Name)
	if err != nil {
		return err
	}
	var mine []writtenCheck
	for _, o := range found {
		mine = append(mine, o.asWritten())
	}
	return status.writeBeside(ctx, c, mine, func() error {
		for i, o := range found {
			c.Text = o.Text // the record is in it
			if err := older.patchCheck(ctx, mine[i], c, nil); err != nil {
				return err
			}
		}
		return nil
	})
}

// statusStateOf is the state of the commit status that stands for a check.
func statusStateOf(c report.Check) string {
	state := map[string]string{
		"success": statusSuccess, "failure": "failure", "action_required": "error", "cancelled": "error",
	}[c.Conclusion]
	if c.Status != "completed" || state == "" {
		return statusPending
	}
	return state
}

// publishStatus writes a commit status, for a personal token may not write check runs. It is refused where a check run
// of that name stands: if the name is required, both would be.
func (p *publication) publishStatus(ctx context.Context, c report.Check) error {
	if p.m.foreignCheckOnHead {
		return fmt.Errorf("publish %s: a check run named %q stands on this commit, and a required name would then mean both",
			p.pr, c.Name)
	}
	state := statusStateOf(c)
	p.f.mu.Lock()
	me := p.f.me
	p.f.mu.Unlock()
	var newest *quorum.Status
	for i, st := range p.m.statuses { // newest first
		if strings.EqualFold(st.Context, c.Name) && st.Creator.Same(me) {
			newest = &p.m.statuses[i]
			break
		}
	}
	switch {
	case newest == nil && c.OnlyOpen,
		newest != nil && c.OnlyOpen && newest.State != statusPending && (newest.State != statusSuccess || c.OrGreen != c.Name):
		return nil
	case newest != nil && newest.State == state && newest.Description == c.Described:
		return nil
	}
	if err := p.confirmComments(ctx, state == statusSuccess); err != nil {
		return err
	}
	in := map[string]string{"state": state, "description": c.Described, "context": c.Name}
	if c.DetailsURL != "" {
		in["target_url"] = c.DetailsURL
	}
	var made restStatus
	_, err := p.f.client.Send(ctx, http.MethodPost, repoPath(p.pr, "statuses", c.Head), in, &made)
	if client.IsUnprocessable(err) || client.IsNotFound(err) {
		return &UnpublishableError{c.Head, err}
	}
	if err != nil {
		return fmt.Errorf("write status: %w", err)
	}
	p.m.statuses = append(
		[]quorum.Status{
			{ID: made.ID, Context: c.Name, State: state, Description: c.Described, Creator: me, At: made.Created},
		},
		p.m.statuses...)
	return nil
}
