// Package change tells what a pull request changes, who had a hand in it, and which policy holds for it by that.
//
// It promises that what a contributor can choose, and what is not known, makes nothing easier: one more commit, file, author or
// label, or one signature less, never lowers how many must approve, how many people, or who votes. The package is pure.
package change
