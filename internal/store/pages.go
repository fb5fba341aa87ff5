package store

// The memory that SQLite keeps pages in.

import (
	"sync"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

const (
	pooledPages   = 256        // pages in memory, of all files of the process together
	pageSlotBytes = 4096 + 280 // bytes of a page, and of what SQLite notes about it
)

// poolPages gives SQLite one piece of memory for its pages, before the first file is opened. Otherwise each of them
// would be allocated by itself, and libc rounds 4.3 KB up to 9. When ten places are left, the page of any file that was
// used longest ago makes way, whatever cache_size allows: together they allow more. A pool that is refused costs only
// memory.
var poolPages = sync.OnceValue(func() (pooledAt uintptr) {
	tls := libc.NewTLS()
	defer tls.Close()
	memory := libc.Xmalloc(tls, pooledPages*pageSlotBytes)
	if memory == 0 {
		return 0
	}
	args := libc.NewVaList(memory, int32(pageSlotBytes), int32(pooledPages))
	defer libc.Xfree(tls, args)
	if sqlite3.Xsqlite3_config(tls, sqlite3.SQLITE_CONFIG_PAGECACHE, args) != sqlite3.SQLITE_OK {
		libc.Xfree(tls, memory)
		return 0
	}
	return memory
})
