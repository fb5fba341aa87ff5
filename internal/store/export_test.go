package store

// PoolPages is for tests that open a file without this package: it must come before them.
func PoolPages() { poolPages() }
