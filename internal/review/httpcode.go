package review

// This file says what an HTTP code in a message means.

import (
	"strconv"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// hasHTTPCode reports whether s holds three digits that may be an HTTP code. It is a cheap first test.
func hasHTTPCode(s string) bool {
	for i := 0; i+2 < len(s); i++ {
		if s[i] >= '1' && s[i] <= '5' && s[i+1] >= '0' && s[i+1] <= '9' && s[i+2] >= '0' && s[i+2] <= '9' {
			return true
		}
	}
	return false
}

// outcomeOfCode returns the outcome of a run that failed with that HTTP code; ok is false if the code is no failure.
func outcomeOfCode(code string) (quorum.Outcome, quorum.Reason, bool) {
	n, _ := strconv.Atoi(code)
	switch n {
	case 401, 403:
		return quorum.Failed, quorum.ReasonCredentials, true
	case 402:
		return quorum.Failed, quorum.ReasonBilling, true
	case 400, 404, 405, 410, 413, 414, 415, 422:
		return quorum.Failed, quorum.ReasonInvalid, true
	case 408, 409, 499, 529:
		return quorum.Overloaded, quorum.ReasonOverloaded, true
	case 429:
		return quorum.Limited, quorum.ReasonRateLimit, true
	}
	if n >= 500 && n <= 599 {
		return quorum.Overloaded, quorum.ReasonOverloaded, true
	}
	return 0, "", false
}
