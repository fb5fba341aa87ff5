package main

import (
	"fmt"
	"io"
	"sync/atomic"

	"github.com/review-coordinator/coordinator/internal/github/client"
)

// A command is the program with everything that it touches outside itself.
type command struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Folder         string    // in which a person stands; "": it is in no clone
	Color          bool      // Stdout wants colour
	ErrColor       bool      // Stderr wants colour
	Verbose        bool      // -v
	JSON           io.Writer // where the object of --json goes; nil without --json
	log            logSettings
	Observed       client.Observer    // is told of each request; may be nil
	Clock          func(fmt.Stringer) // gets the clock of a demo that begins; nil: none wants it

	Checked   []checkedJSON // of the settings of serve
	warnings  []string      // that were printed
	wroteJSON bool          // the object has been written
	jobOutput *outputGuard  // standard output of a job; nil outside a job
	Grace     atomic.Int64  // how long a stop may take, where that is not [stopGrace]
}

// A checkedJSON is a part of the settings of serve that is as it should be.
type checkedJSON struct {
	Name string `json:"name"`
	Text string `json:"text"`
}
