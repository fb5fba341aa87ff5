package config

// The sweep keys of a policy file. They are no part of a [quorum.Policy]: they decide nothing.

// ParseSweep reads how open pull requests are swept, and after how many faults in a row a sweep gives up, which is the
// circuit breaker's failure_threshold. A file with mistakes says nothing: it is as if it had neither key.
func ParseSweep(path string, src []byte) (sweep SweepKeys, threshold int) {
	r, file := newPolicyFileReader(path, src), Default()
	if root, ok := r.parseFile(); ok {
		r.decodeFile(root, &file)
		policyResolver{r}.resolvePolicy(file)
	}
	if len(r.problems) > 0 {
		file = Default()
	}
	return file.Sweep, file.CircuitBreaker.FailureThreshold
}
