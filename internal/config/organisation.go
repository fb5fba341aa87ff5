package config

// The policy of an organisation, and how a repository's stands beside it. A repository says what it likes, except that it
// loosens nothing of what the organisation enforces: whoever owns one repository is taken for an attacker here.

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
)

// OrganisationFile is the path of an organisation's policy in the repository that holds it.
const OrganisationFile = quorum.OrganisationPath

// OrganisationRepo is the repository of an owner that holds its policy, unless another one is configured.
const OrganisationRepo = ".github"

// An Organisation is an organisation's policy that has no mistakes. It may be used by several goroutines.
type Organisation struct {
	keys PolicyKeys
	read *policyFileReader // not changed any more
}

// ParseOrganisation reads an organisation's policy; path is only used in messages. An error is an [*Error].
func ParseOrganisation(path string, src []byte) (*Organisation, error) {
	r := newPolicyFileReader(path, src)
	r.isOrganisation = true
	o := &Organisation{keys: Default(), read: r}
	if root := r.parseFile(); root != nil {
		r.decodeStruct("", root, reflect.ValueOf(&o.keys).Elem())
		r.checkEnforced(o.keys)
	}
	if len(r.problems) == 0 && o.NamesReviewers() {
		again := r.copyKeys()
		o.resolveWith(again, o.keys, quorum.FromOrganisation)
		r.problems = again.problems
	}
	if len(r.problems) > 0 {
		return nil, &Error{Problems: sortByPosition(r.problems)}
	}
	return o, nil
}

// copyKeys returns a reader that knows the same keys, with nothing to complain of.
func (r *policyFileReader) copyKeys() *policyFileReader {
	return &policyFileReader{path: r.path, lines: r.lines, positions: maps.Clone(r.positions), brokenKeys: map[string]bool{}}
}

// checkEnforced refuses what an organisation cannot mean.
func (r *policyFileReader) checkEnforced(f PolicyKeys) {
	e := f.Enforce
	isEmpty := len(e.Reviewers) == 0 && e.Quorum.Share == 0 && len(e.People.asRules()) == 0
	switch {
	case !r.hasKey("enforce") && len(f.Reviewers) == 0 && !r.brokenKeys["reviewers"]:
		r.failKey("", "the file says neither who reviews nor what is enforced", "add reviewers: or enforce:")
	case r.hasKey("enforce") && isEmpty && len(r.problems) == 0:
		r.failKey("enforce", "it enforces nothing", "add reviewers:, quorum: or people:, or remove it")
	}
	r.checkRequired(f)
}

// checkRequired refuses to require whom the file does not describe.
func (r *policyFileReader) checkRequired(f PolicyKeys) {
	required := f.Enforce.Reviewers
	for i, name := range required {
		at := fmt.Sprintf("enforce.reviewers[%d]", i)
		k := slices.IndexFunc(f.Reviewers, func(e ReviewerKeys) bool { return entryName(e) == name })
		switch {
		case r.brokenKeys[at] || r.brokenKeys["reviewers"]:
		case k < 0:
			r.failKey(at, "there is no reviewer "+quoteText(name),
				"describe it under reviewers: of this file; no repository can")
		case f.Reviewers[k].Shadow:
			r.failKey(at, quoteText(name)+" is a shadow and cannot be required", "remove shadow, or this name")
		case f.Reviewers[k].InsteadOf != "" || len(f.Reviewers[k].After) > 0:
			r.failKey(at, quoteText(name)+" waits for others and cannot be enforced", "remove instead_of and after there")
		case slices.Contains(required[:i], name):
			r.failKey(at, fmt.Sprintf("%s stands here again", quoteText(name)), "remove it")
		}
	}
}

// entryName is the name that an entry of reviewers has once its preset is known.
func entryName(e ReviewerKeys) string {
	preset, _ := review.Preset(e.Preset)
	return cmp.Or(e.Name, preset.Name, e.Preset)
}

// NamesReviewers reports whether the policy holds for repositories that have none.
func (o *Organisation) NamesReviewers() bool { return len(o.keys.Reviewers) > 0 }

// Check returns the name of the check in repositories without a file, and in all of them where anything is enforced.
func (o *Organisation) Check() string { return o.keys.Check }

// Enforces reports whether there is something that a repository may not loosen.
func (o *Organisation) Enforces() bool { return o.read.hasKey("enforce") }

// checkName is the check's name in a repository whose file calls it own: a rule may require the enforced one. o may be nil.
func (o *Organisation) checkName(own string) string {
	if o != nil && o.Enforces() {
		return o.keys.Check
	}
	return own
}

// Policy returns the policy of a repository that has no file. It is zero unless the organisation's names reviewers.
func (o *Organisation) Policy() quorum.Policy {
	if !o.NamesReviewers() {
		return quorum.Policy{}
	}
	return o.resolveWith(o.read.copyKeys(), o.keys, quorum.FromOrganisation)
}

// Merge reads a repository's policy beside that of its organisation, nil where none is known. It is [Parse] but for that.
func Merge(path string, src []byte, o *Organisation) (quorum.Policy, error) {
	policy, _, r := readPolicy(path, src, o)
	if len(r.problems) > 0 {
		return quorum.Policy{Check: policy.Check}, &Error{Problems: sortByPosition(r.problems)}
	}
	return policy, nil
}

// MergeWarnings is [Warnings] of a file beside an organisation's policy.
func MergeWarnings(path string, src []byte, o *Organisation) []Diagnostic {
	policy, _, r := readPolicy(path, src, o)
	if len(r.problems) > 0 {
		return nil
	}
	(&laneChecker{policyResolver: policyResolver{r}, policy: policy}).warnOfLanes()
	return sortByPosition(r.warnings)
}

// layOver puts each enforced reviewer in the place of the repository's reviewer that has its name or is the same account, App
// or workflow, and adds those that the repository does not name.
func (o *Organisation) layOver(r *policyFileReader, f *PolicyKeys) {
	for j, entry := range o.keys.Reviewers {
		name := entryName(entry)
		if !o.enforces(name) {
			continue
		}
		enforced := policyResolver{o.read.copyKeys()}.resolveReviewer(reviewerKey(j), entry, o.keys)
		i := slices.IndexFunc(f.Reviewers, func(e ReviewerKeys) bool { return strings.EqualFold(entryName(e), name) })
		for k := 0; i < 0 && k < len(f.Reviewers); k++ {
			if areOne(enforced, policyResolver{r.copyKeys()}.resolveReviewer(reviewerKey(k), f.Reviewers[k], *f)) {
				i = k
			}
		}
		at := r.positionOfKey("reviewers")
		if i < 0 {
			i, f.Reviewers = len(f.Reviewers), append(f.Reviewers, entry)
		} else {
			at = r.positionOfKey(reviewerKey(i))
			o.replaceEntry(r, f, i, entry)
		}
		for key := range o.read.positions {
			if rest, ok := strings.CutPrefix(key, reviewerKey(j)); ok {
				r.positions[reviewerKey(i)+rest] = at
			}
		}
	}
}

// replaceEntry puts what the organisation says of an enforced reviewer in the place of a repository's entry.
func (o *Organisation) replaceEntry(r *policyFileReader, f *PolicyKeys, i int, entry ReviewerKeys) {
	was, name := entryName(f.Reviewers[i]), entryName(entry)
	r.warnKey(reviewerKey(i),
		fmt.Sprintf("the organisation enforces %s: what this file says of it counts for nothing", quoteText(name)),
		"remove the entry")
	f.Reviewers[i] = entry
	rename := func(names []string) {
		if k := slices.Index(names, was); k >= 0 {
			names[k] = name
		}
	}
	for _, lane := range f.Lanes {
		rename(lane.Reviewers)
	}
	for k := range f.Reviewers {
		e := &f.Reviewers[k]
		e.After = slices.Clone(e.After)
		rename(e.After)
		if e.InsteadOf == was {
			e.InsteadOf = name
		}
	}
	maps.DeleteFunc(r.positions, func(key string, _ position) bool { return strings.HasPrefix(key, reviewerKey(i)+".") })
}

// enforces reports whether a reviewer is required everywhere. Names differ in more than their case.
func (o *Organisation) enforces(name string) bool {
	return slices.ContainsFunc(o.keys.Enforce.Reviewers, func(n string) bool { return strings.EqualFold(n, name) })
}

// resolveWith makes the policy of keys, with what the organisation enforces. from is the file that the keys are of.
func (o *Organisation) resolveWith(r *policyFileReader, said PolicyKeys, from quorum.KeySource) quorum.Policy {
	keys := said
	if r.isTightened = o.Enforces(); r.isTightened {
		keys.Reviewers, keys.Lanes = slices.Clone(said.Reviewers), slices.Clone(said.Lanes)
		o.tightenKeys(r, &keys, from == quorum.FromRepository)
		for i := range keys.Lanes {
			o.tightenLane(r, laneKey(i), &keys.Lanes[i], from == quorum.FromRepository)
		}
	}
	switch e := o.keys.Enforce; {
	case e.Quorum.Share != 0:
		r.floor = []quorum.NeedRule{quorum.NeedRule(e.Quorum)}
	case len(e.Reviewers) > 0: // or a lane that needs no review would need none of them
		r.floor = []quorum.NeedRule{{Share: quorum.ByNumber, Count: 1}}
	}
	policy := policyResolver{r}.resolvePolicy(keys)
	policy.Origins = o.originsOf(r, said, keys, policy.Reviewers, from)
	return policy
}

// originsOf says from where each key comes: said holds them as they are written, keys as they hold.
func (o *Organisation) originsOf(
	r *policyFileReader, said, keys PolicyKeys, reviewers []quorum.Reviewer, from quorum.KeySource,
) (all []quorum.Origin) {
	add := func(name, key string, isEnforced bool) {
		origin := quorum.Origin{Key: name, From: quorum.FromDefault}
		switch {
		case isEnforced:
			origin.From = quorum.FromEnforce
		case r.hasKey(key):
			origin.From = from
		}
		all = append(all, origin)
	}
	was := reflect.ValueOf(said)
	for field, is := range reflect.ValueOf(keys).Fields() {
		key := field.Tag.Get("yaml")
		if slices.Contains([]string{"version", "enforce", "reviewers"}, key) {
			continue
		}
		isRaised := key == "quorum" && len(r.floor) > 0 && quorum.NeedRule(keys.Quorum).IsLess(r.floor[0], len(reviewers))
		add(key, key, isRaised || !reflect.DeepEqual(was.FieldByIndex(field.Index).Interface(), is.Interface()))
	}
	for i := range reviewers {
		add("reviewers."+reviewers[i].Name, reviewerKey(i), o.enforces(reviewers[i].Name))
	}
	return all
}

// tightenKeys holds the keys of the top level to what the organisation's file says, where they ask less: whose word fills a
// gap or ends an objection, how long is waited, and what is guarded are ways around a reviewer, too.
func (o *Organisation) tightenKeys(r *policyFileReader, f *PolicyKeys, isOwn bool) {
	org := o.keys
	for i := range f.Reviewers {
		e := &f.Reviewers[i]
		if isOwn && o.enforces(e.InsteadOf) {
			r.warnKey(reviewerKey(i)+".instead_of",
				fmt.Sprintf("the organisation enforces %s: no reserve fills its seat", quoteText(e.InsteadOf)), "remove the key")
			e.InsteadOf, e.Shadow = "", true
		}
		if !o.enforces(entryName(*e)) {
			continue
		}
		e.Required = true
		if key := reviewerKey(i) + ".required"; !r.hasKey(key) {
			r.positions[key] = r.positionOfKey(key)
		}
		if e.Timeout == 0 {
			e.Timeout = org.Timeout // its own: no lane shortens it
		}
	}
	if f.Check != org.Check {
		r.warnIf(r.hasKey("check"), "check",
			"the organisation enforces its own name of the check: "+quoteText(org.Check), "remove the key")
		f.Check = org.Check
	}
	if !r.hasKey("override") {
		f.Override = org.Override
	}
	tightenTo(reflect.ValueOf(f).Elem(), reflect.ValueOf(org), func(string) bool { return true })
	f.People = f.People.withEnforced(org.Enforce.People)
	if !slices.Equal(f.Guard, org.Guard) {
		f.Guard = slices.Concat(f.Guard, org.Guard) // the last that matches counts
	}
}

// tightenLane holds a lane to what is enforced, and a repository's to the organisation's top level in all else, too.
func (o *Organisation) tightenLane(r *policyFileReader, key string, l *LaneKeys, isOwn bool) {
	has := func(name string) bool { return r.hasKey(key + "." + name) }
	if has("reviewers") {
		l.Reviewers = slices.Clone(l.Reviewers)
		for _, name := range o.keys.Enforce.Reviewers {
			if !slices.Contains(l.Reviewers, name) {
				l.Reviewers = append(l.Reviewers, name)
			}
		}
	}
	if has("people") {
		l.People = l.People.withEnforced(o.keys.Enforce.People)
	}
	if isOwn {
		tightenTo(reflect.ValueOf(l).Elem(), reflect.ValueOf(o.keys), has)
	}
}

// tightenTo gives own the organisation's values where its own are looser: of the keys that it has and that have a strict tag in org.
func tightenTo(own, org reflect.Value, has func(key string) bool) {
	for field, least := range org.Fields() {
		order, value := field.Tag.Get("strict"), own.FieldByName(field.Name)
		if order == "" || !value.IsValid() || !has(field.Tag.Get("yaml")) {
			continue
		}
		if order == "longer" {
			value.SetInt(max(value.Int(), least.Int()))
			continue
		}
		words := strings.Split(order, ",")
		if at := slices.Index(words, least.String()); at >= 0 && at < slices.Index(words, value.String()) {
			value.Set(least)
		}
	}
}
