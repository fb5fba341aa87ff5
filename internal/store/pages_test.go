package store

import (
	"encoding/binary"
	"fmt"
	"testing"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// The pool is there, and a page with its notes fits into its places: otherwise SQLite would quietly use other memory.
func TestPagesComeFromThePool(t *testing.T) {
	if poolPages() == 0 {
		t.Fatal("SQLite has refused the pool")
	}
	tls := libc.NewTLS()
	defer tls.Close()
	status := func(of int32) uint64 {
		t.Helper()
		numbers := libc.Xcalloc(tls, 2, 8) // now, and at most
		defer libc.Xfree(tls, numbers)
		if rc := sqlite3.Xsqlite3_status64(tls, of, numbers, numbers+8, 0); rc != sqlite3.SQLITE_OK {
			t.Fatal("SQLite does not tell:", rc)
		}
		return binary.NativeEndian.Uint64(libc.GoBytes(numbers, 8))
	}
	used, elsewhere := status(sqlite3.SQLITE_STATUS_PAGECACHE_USED), status(sqlite3.SQLITE_STATUS_PAGECACHE_OVERFLOW)
	s := openFaulty(t, nil)
	for n := range 30 {
		if err := s.Poke(t.Context(), testPoke(fmt.Sprint(n))); err != nil {
			t.Fatal(err)
		}
	}
	if more := status(sqlite3.SQLITE_STATUS_PAGECACHE_USED) - used; int64(more) <= 0 {
		t.Errorf("a file is open, and %d pages more are in the pool", int64(more))
	}
	if more := status(sqlite3.SQLITE_STATUS_PAGECACHE_OVERFLOW) - elsewhere; more != 0 {
		t.Errorf("%d bytes of pages are not in the pool", more)
	}
}
