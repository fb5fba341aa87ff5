package client

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

const manifestCanary = "c0de0f1canary"

// An exchangeWire answers every request alike.
type exchangeWire struct {
	status int
	body   string
	err    error

	asked []string
}

func (w *exchangeWire) RoundTrip(req *http.Request) (*http.Response, error) {
	w.asked = append(w.asked, req.Method+" "+req.URL.String()+" "+req.Header.Get("Authorization"))
	if w.err != nil {
		return nil, w.err
	}
	return &http.Response{StatusCode: w.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(w.body)), Request: req}, nil
}

const newAppJSON = `{"id":7,"slug":"octo-quorum","name":"Octo\nquorum","owner":{"login":"octo"},"html_url":"https://github.com/apps/octo-quorum",
	"client_secret":"canary","webhook_secret":null,"pem":"-----BEGIN RSA PRIVATE KEY-----\ncanary\n-----END RSA PRIVATE KEY-----\n"}`

func TestExchangeManifestCode(t *testing.T) {
	w := &exchangeWire{status: 201, body: newAppJSON}
	app, err := ExchangeManifestCode(t.Context(), Options{BaseURL: "https://ghe.example/api/v3", Transport: w}, manifestCanary)
	if err != nil || app.ID != 7 || app.Slug != "octo-quorum" || app.Name != "Octo quorum" || app.Owner != "octo" || app.WebhookSecret != "" ||
		!strings.Contains(string(app.Key), "canary") {
		t.Errorf("%+v, %v", app, err)
	}
	if text := fmt.Sprintf("%v %+v %#v %s", app, app, app, app); strings.Contains(text, "canary") {
		t.Errorf("it prints as %s", text)
	}
	if want := "POST https://ghe.example/api/v3/app-manifests/" + manifestCanary + "/conversions "; len(w.asked) != 1 || w.asked[0] != want {
		t.Errorf("it asked %q", w.asked)
	}
}

// No error holds the code, which opens the key for an hour, or anything of an answer that may hold the key.
func TestErrorsOfAnExchangeTellNoSecret(t *testing.T) {
	for _, c := range []struct {
		wire exchangeWire
		code string
		says string
	}{
		{exchangeWire{status: 404, body: `{"message":"Not Found"}`}, manifestCanary, "404 Not Found"},
		{exchangeWire{status: 422, body: `{"message":"bad ` + manifestCanary + `"}`}, manifestCanary, "422 bad ***"},
		{exchangeWire{status: 403, body: `<html>` + manifestCanary}, manifestCanary, "403"},
		{exchangeWire{status: 302, body: ``}, manifestCanary, "302"},
		{exchangeWire{status: 502, body: manifestCanary}, manifestCanary, "502 Bad Gateway"},
		{exchangeWire{err: fmt.Errorf("dial %s: refused", manifestCanary)}, manifestCanary, "refused"},
		{exchangeWire{status: 201, body: `{"id":0,"pem":"canary PRIVATE KEY-----"}`}, manifestCanary, "no new App"},
		{exchangeWire{status: 201, body: `{"id":7,"pem":"canary"}`}, manifestCanary, "no new App"},
		{exchangeWire{status: 201, body: `{"id":"canary`}, manifestCanary, "no JSON"},
		{exchangeWire{}, "canary/../../user", "no code"},
		{exchangeWire{}, "", "no code"},
	} {
		_, err := ExchangeManifestCode(t.Context(), Options{Transport: &c.wire}, c.code)
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%d %s: %v", c.wire.status, c.wire.body, err)
		}
		if c.says == "no code" && len(c.wire.asked) > 0 {
			t.Errorf("%q was asked for", c.code)
		}
	}
}
