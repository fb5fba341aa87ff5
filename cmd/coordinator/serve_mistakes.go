//go:build !action

package main

// All that is wrong with the settings of serve, at once: who mends one mistake should not learn of the next only then.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"runtime"
	"strings"

	"github.com/review-coordinator/coordinator/internal/daemon"
)

// settingErrors are several mistakes in the settings of serve. Each is a line with its hint.
type settingErrors []error

func (all settingErrors) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s in the settings of serve", countNoun(len(all), "mistake"))
	for _, err := range all {
		b.WriteString("; " + err.Error())
	}
	return b.String()
}

// lines returns a line for each mistake, with its hint.
func (all settingErrors) lines() (lines []string) {
	for _, err := range all {
		line := oneLine(err.Error())
		var hinted *exitError
		if errors.As(err, &hinted) && hinted.hint != "" {
			line += "; hint: " + oneLine(hinted.hint)
		}
		lines = append(lines, line)
	}
	return lines
}

// joinMistakes returns what is wrong: nil, the one mistake, or all of them.
func joinMistakes(errs ...error) error {
	var all settingErrors
	for _, err := range errs {
		var several settingErrors
		switch {
		case errors.As(err, &several):
			all = append(all, several...)
		case err != nil:
			all = append(all, err)
		}
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return &exitError{code: exitUsage, err: all}
}

// tryListeners opens the two listeners and closes them again.
func (cmd serveCmd) tryListeners(ctx context.Context) error {
	var errs []error
	for _, l := range []struct{ flag, address string }{{"--listen", cmd.Listen}, {"--admin-listen", cmd.AdminListen}} {
		listener, err := listenLimited(ctx, bindTCP, l.flag, l.address, daemon.ListenerOptions{})
		if err == nil {
			defer listener.Close() // not before the other is open: both may ask for the same port
		}
		errs = append(errs, err)
	}
	return joinMistakes(errs...)
}

// tryDatabase opens the database and closes it again.
func tryDatabase(ctx context.Context, a databaseAddress, log *slog.Logger) error {
	if a == (databaseAddress{}) {
		return nil // its address is a mistake of its own
	}
	a.isTried = true
	s, err := openStore(ctx, a, nil, log)
	if err != nil {
		return err
	}
	return s.Close()
}

// warnOfOpenAdmin returns what to say where the admin listener can be reached from other machines; "" where it cannot.
func warnOfOpenAdmin(address net.Addr) string {
	at, ok := address.(*net.TCPAddr)
	if !ok || at.IP.IsLoopback() {
		return ""
	}
	return fmt.Sprintf(
		"the admin listener is at %s, which other machines may reach, and asks nobody who they are: let nothing come to it but a proxy that does; of a container, publish its port on 127.0.0.1 alone",
		at,
	)
}

// warnings returns what to say of settings that are worse than they should be.
func (s *server) warnings() (all []string) {
	damaged := s.store.Damaged
	if damaged != "" {
		damaged = "the database was damaged and is at " + damaged + " now; an empty one is begun: only time is lost"
	}
	for _, warning := range []string{
		damaged, warnOfOpenAdmin(s.adminListener.Addr()), warnOfOpenKey(s.config.KeyFile), daemon.ListenerOptions{}.Warning(),
	} {
		if warning != "" {
			all = append(all, warning)
		}
	}
	return all
}

// warnOfOpenKey returns what to say where other users may read or change the App's private key; "" where they may not.
func warnOfOpenKey(file string) string {
	info, err := os.Stat(file)
	if file == "" || err != nil || runtime.GOOS == "windows" || info.Mode().Perm()&0o027 == 0 {
		return ""
	}
	return fmt.Sprintf("the App's private key, %s, is open to others (mode %04o): chmod 0600 %s keeps it to the daemon's user",
		file, info.Mode().Perm(), file)
}

// A serveJSON is what serve --check --json prints.
type serveJSON struct {
	OK       bool          `json:"ok"`
	Checked  []checkedJSON `json:"checked"`
	Warnings []string      `json:"warnings"`
	Mistakes []failureJSON `json:"mistakes"`
}

// checksAsJSON describes what was checked; err is what is wrong, or nil.
func checksAsJSON(c *command, err error) serveJSON {
	out := serveJSON{OK: err == nil, Checked: append([]checkedJSON{}, c.Checked...), Warnings: append([]string{}, c.warnings...)}
	out.Mistakes = []failureJSON{}
	var all settingErrors
	if !errors.As(err, &all) && err != nil {
		all = settingErrors{err}
	}
	for _, one := range all {
		ending := &exitError{code: exitFailed}
		errors.As(one, &ending)
		out.Mistakes = append(out.Mistakes, failureJSON{Error: oneLine(one.Error()), Hint: oneLine(ending.hint), ExitCode: ending.code})
	}
	return out
}

// parsePublicURL returns the dashboard's address, which a flag or a variable holds, as checks link it, without a slash at
// its end; "" if there is none. Whoever reads a check is sent there, so it must be https, unless it is this machine's own.
func parsePublicURL(from, address string) (string, error) {
	const hint = "write it as https://HOST or https://HOST/PATH, as a browser reaches the dashboard"
	if address == "" {
		return "", nil
	}
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Hostname() == "" || u.Opaque != "":
		return "", usageError(errors.New(from+" is no address"), hint) // not quoted: it may hold a password
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", usageError(errors.New(from+" has more than a host and a path"), hint)
	case u.Scheme == "http" && isLoopback(u.Hostname()), u.Scheme == "https":
	default:
		return "", usageError(errors.New(from+" is not https"), hint+"; http is for this machine's own address only")
	}
	if strings.ContainsAny(u.Path, " ()<>\"'`[]\\%") {
		return "", usageError(errors.New(from+" has a path that no link can hold"), hint)
	}
	return strings.TrimRight(u.Scheme+"://"+u.Host+u.Path, "/"), nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// printChecked says that a part of the settings is as it should be.
func (c *command) printChecked(name, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	c.Checked = append(c.Checked, checkedJSON{name, text})
	fmt.Fprintf(c.Stdout, "ok  %-10s %s\n", name, text)
}
