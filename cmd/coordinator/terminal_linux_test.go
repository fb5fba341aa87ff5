//go:build !action

package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"strconv"
	"testing"

	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

// inTerminal runs the program with a terminal of so many columns as its standard output.
func inTerminal(t *testing.T, columns uint16, c *command, args ...string) (code int, drawn string) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("there are no pseudo-terminals here: %v", err)
	}
	defer ours.Close()
	fd := int(ours.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: columns}); err != nil {
		t.Fatal(err)
	}
	terminal, err := os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	if _, err := term.MakeRaw(terminal.Fd()); err != nil { // a line break stays one
		t.Fatal(err)
	}
	var all bytes.Buffer
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(&all, ours) // ends with an error when the terminal is closed
	}()
	c.Stdout = terminal
	ctx, cancel := context.WithTimeout(t.Context(), mainDeadline)
	defer cancel()
	code = c.Main(ctx, args)
	terminal.Close()
	<-read
	return code, all.String()
}
