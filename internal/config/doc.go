// Package config reads the policy file.
//
// It promises that a policy is never half understood: what it does not know is an error with the file, the line, the
// column, a caret and a hint, and all mistakes that can be seen at once are told at once, in the order of their lines.
// A file is at most 64 KiB, is never expanded (there are no aliases), and costs time in proportion to its size, because
// a pull request may propose one.
//
// [PolicyKeys] and the types below it are the whole language. The decoder, the JSON Schema, the defaults and the
// reference in docs/policy.md are all read from them.
package config

//go:generate go test -run ^TestGenerated$ . -update
