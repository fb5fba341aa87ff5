package report

import "time"

// Unread returns the check of a pull request that cannot be read since a moment. Its name, head and text are the
// caller's: the record stays as it is.
func Unread(since time.Time) Check {
	title := "Cannot be read since " + since.UTC().Format("2006-01-02 15:04 UTC")
	return Check{
		Status: "in_progress",
		Title:  title,
		Summary: title + ": GitHub gives no whole answer about this pull request. An objection might stand in what cannot be read, so that " +
			"the check is not green until it can be.\n\n**What you can do:** very many or very long comments are the usual cause: a maintainer " +
			"can delete them. Or close this pull request, and open another one for its branch.",
	}
}
