package client

import (
	"bytes"
	"io"
	"net/http"
)

// An inMemory is a body that is in memory, so that no layer need copy it to read it.
type inMemory struct {
	bytes.Reader
	all []byte
}

func (*inMemory) Close() error { return nil }

// bodyOf is a body in memory. Nobody changes it from now on.
func bodyOf(body []byte) io.ReadCloser {
	m := &inMemory{all: body}
	m.Reset(body)
	return m
}

// bufferBody reads resp's body, and leaves it readable.
func bufferBody(resp *http.Response) ([]byte, error) {
	if m, ok := resp.Body.(*inMemory); ok {
		return m.all, nil
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	resp.Body = bodyOf(body)
	return body, nil
}
