#!/usr/bin/env bash
# Runs a command with a PostgreSQL server of its own, of which it tells in COORDINATOR_POSTGRES, and stops that afterwards; what
# stands in COORDINATOR_POSTGRES_RESTART restarts it, as after a crash.
# Nothing there outlives the machine, so the server does not wait for the disk.
set -euo pipefail
bin=$(find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -n 1)
[[ -n $bin ]] || { echo "no PostgreSQL here: apt-get install postgresql" >&2; exit 1; }
dir=$(mktemp -d)
port=$((20000 + RANDOM % 20000))
as=()
if ((EUID == 0)); then # the server refuses to run as root
  chown postgres "$dir"
  as=(runuser -u postgres --)
fi
trap '"${as[@]}" "$bin/pg_ctl" -D "$dir/data" -m immediate stop >/dev/null 2>&1 || true; rm -rf "$dir"' EXIT
"${as[@]}" "$bin/initdb" -D "$dir/data" -A trust -U postgres -E UTF8 --no-sync >"$dir/log" || { cat "$dir/log"; exit 1; }
settings="-p $port -k $dir -c listen_addresses=127.0.0.1 -c fsync=off -c full_page_writes=off -c max_connections=200"
"${as[@]}" "$bin/pg_ctl" -D "$dir/data" -l "$dir/data/log" -w -o "$settings" start >/dev/null || { cat "$dir/data/log"; exit 1; }
"${as[@]}" "$bin/postgres" --version
export COORDINATOR_POSTGRES="postgres://postgres@127.0.0.1:$port/postgres"
export COORDINATOR_POSTGRES_RESTART="${as[*]} $bin/pg_ctl -D $dir/data -l $dir/data/log -w -m immediate restart"
"$@"
