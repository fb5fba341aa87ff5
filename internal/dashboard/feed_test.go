package dashboard

import (
	"context"
	"testing"
	"testing/synctest"
)

func TestFeedMergesNudges(t *testing.T) {
	f := NewFeed()
	nudges, ok := f.Subscribe(t.Context(), "")
	if !ok {
		t.Fatal("no room for the first subscriber")
	}
	for range 1000 { // nobody reads: none of these may wait
		f.Publish("77/acme/shop#7")
	}
	<-nudges
	select {
	case <-nudges:
		t.Error("a thousand changes came as more than one nudge")
	default:
	}
	f.Publish("")
	<-nudges
}

func TestFeedOfOneKey(t *testing.T) {
	f := NewFeed()
	nudges, _ := f.Subscribe(t.Context(), "77/acme/shop#7")
	f.Publish("77/acme/shop#8")
	if len(nudges) != 0 {
		t.Error("a change of #8 nudged the page of #7")
	}
	f.Publish("77/acme/shop#7")
	if len(nudges) != 1 {
		t.Error("a change of #7 did not nudge its page")
	}
	<-nudges
	f.Publish("")
	if len(nudges) != 1 {
		t.Error("a change of the queue did not nudge the page of #7")
	}
}

func TestFeedIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := NewFeed()
		ctx, leave := context.WithCancel(t.Context())
		first, _ := f.Subscribe(ctx, "")
		for range maxSubscribers - 1 {
			if _, ok := f.Subscribe(t.Context(), ""); !ok {
				t.Fatal("no room before the bound")
			}
		}
		if _, ok := f.Subscribe(t.Context(), ""); ok {
			t.Fatal("room beyond the bound")
		}
		leave()
		synctest.Wait()
		if _, more := <-first; more {
			t.Error("the channel of who left is not closed")
		}
		last, ok := f.Subscribe(t.Context(), "")
		if !ok {
			t.Fatal("who left still has a place")
		}
		f.Close()
		if _, more := <-last; more {
			t.Error("a closed feed keeps a subscription open")
		}
		if _, ok := f.Subscribe(t.Context(), ""); ok {
			t.Error("a closed feed takes a subscriber")
		}
		f.Publish("77/acme/shop#7") // to nobody
	})
}
