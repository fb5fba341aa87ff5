package workkey_test

import (
	"testing"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

func TestParseReadsWhatWasWritten(t *testing.T) {
	pr := quorum.PR{Owner: "acme", Repo: "shop", Number: 7}
	sha := "0123456789012345678901234567890123456789"
	group := quorum.GroupRef{Owner: "acme", Repo: "shop", Head: sha, Branch: "gh-readonly-queue/release/2.0-ü/pr-104-" + sha}
	for key, want := range map[string]workkey.Key{
		workkey.Tenant(77):                    {Tenant: 77},
		workkey.Repo(77, "acme", "shop"):      {Tenant: 77, Owner: "acme", Repo: "shop"},
		workkey.Head(77, "acme", "shop", sha): {Tenant: 77, Owner: "acme", Repo: "shop", Head: sha},
		workkey.Pull(77, pr):                  {Tenant: 77, Owner: "acme", Repo: "shop", Number: 7},
		workkey.Group(77, group):              {Tenant: 77, Owner: "acme", Repo: "shop", Head: sha, Branch: group.Branch},
	} {
		if got, ok := workkey.Parse(key); !ok || got != want {
			t.Errorf("%s is read as %+v, %t", key, got, ok)
		}
	}
	for _, key := range []string{
		"", workkey.App, "77/", "77/acme", "77/acme/shop#", "77/acme/shop#x", "77/acme/shop@short", "77/ac me/shop",
		"99999999999999999999/acme/shop", "-1/acme/shop",
		"77/acme/shop!" + sha + "!", "77/acme/shop!" + sha + "!bWFpbg", "77/acme/shop!" + sha + "!a=b", "77/acme/shop!" + sha,
	} {
		if got, ok := workkey.Parse(key); ok {
			t.Errorf("%q is read as %+v", key, got)
		}
	}
}
