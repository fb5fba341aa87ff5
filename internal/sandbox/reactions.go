package sandbox

// Reactions to comments, and presses of the buttons of a check run.

import (
	"fmt"
	"slices"
	"time"
)

// reaction is somebody's reaction to an issue comment.
type reaction struct {
	id      int64
	by      string
	content string
	at      time.Time
}

// reactionContents are the words by which GitHub names reactions.
var reactionContents = []string{"+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"}

func (g *GitHub) createReaction(r *routedRequest) routeAnswer {
	p, c := g.findComment(r.intParam("comment_id"))
	if c == nil {
		return answerNotFound()
	}
	var in struct {
		Content string `json:"content"`
	}
	if err := r.decodeBody(&in); err != nil || !slices.Contains(reactionContents, in.Content) {
		return answerError(422, "Validation Failed: content is no reaction")
	}
	by := g.programLogin()
	for _, old := range c.reactions { // one of a kind each: GitHub answers with the one that is there
		if old.by == by && old.content == in.Content {
			return answerOK(g.reactionJSON(old))
		}
	}
	made := reaction{id: g.newID(), by: by, content: in.Content, at: r.now}
	c.reactions = append(c.reactions, made)
	g.written.Reactions = append(g.written.Reactions, Reaction{Comment: c.id, Author: c.author, Content: in.Content})
	p.updated = r.now
	return answerCreated(g.reactionJSON(made))
}

func (g *GitHub) listReactions(r *routedRequest) routeAnswer {
	_, c := g.findComment(r.intParam("comment_id"))
	if c == nil {
		return answerNotFound()
	}
	return answerList(r, c.reactions, func(x reaction) any { return g.reactionJSON(x) }, "")
}

func (g *GitHub) reactionJSON(x reaction) object {
	return object{
		"id": x.id, "node_id": nodeID("REA", x.id), "user": g.userJSON(x.by), "content": x.content, "created_at": timeOrNull(x.at),
	}
}

// PressButton presses the button with that label of the newest own check run on a commit that has one. GitHub tells the
// App that owns the check, and nobody else.
func PressButton(g *GitHub, head, login, label string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.carryOutDue()
	for _, s := range slices.Backward(g.index.suitesByHead[SHA(head)]) {
		for _, c := range slices.Backward(s.checks) {
			at := slices.IndexFunc(c.Actions, func(a CheckAction) bool { return a.Label == label })
			if !c.Own || at < 0 {
				continue
			}
			pressed := c.Actions[at].Identifier
			g.emitCheckRunEvent(checkView{StoredCheckRun: c}, "requested_action", login, object{
				"requested_action": object{"identifier": pressed},
			})
			return nil
		}
	}
	return fmt.Errorf("press %q: no check of ours on %.7s has such a button", label, SHA(head))
}
