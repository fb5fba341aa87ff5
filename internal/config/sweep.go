package config

// The sweep keys of a policy file. They are no part of a [quorum.Policy]: they decide nothing.

// ParseSweep reads how open pull requests are swept, and after how many faults in a row a sweep gives up, which is the
// circuit breaker's failure_threshold. A file with mistakes says nothing: it is as if it had neither key. o is the
// organisation's policy, nil where none is known: it says so for a repository without a file.
func ParseSweep(path string, src []byte, o *Organisation) (sweep SweepKeys, threshold int) {
	if src == nil && o != nil {
		return o.keys.Sweep, o.keys.CircuitBreaker.FailureThreshold
	}
	_, file, r := readPolicyWith(path, src, o)
	if len(r.problems) > 0 {
		file = Default()
	}
	return file.Sweep, file.CircuitBreaker.FailureThreshold
}
