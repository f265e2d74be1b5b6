# Functions that run a separate PostgreSQL server on loopback, for the scripts of this
# folder and of Benchmarks.
#
# If root starts the server, it runs as the user `nobody`, because `initdb` refuses root.
# Set `folder` first, and `server_options` for more options of the server. Afterward,
# `port` and `database` have the connection parameters.

as_other() {
  if [ "$(id -u)" = 0 ]; then
    setpriv --reuid=nobody --regid=nogroup --clear-groups "$@"
  else
    "$@"
  fi
}

# Installs a package with apt, if possible, when a command is missing.
need() {
  command -v "$1" > /dev/null && return
  if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
    # The index of packages may be missing.
    { apt-get install -y -qq "$2" ||
      { apt-get update -qq && apt-get install -y -qq "$2"; }; } > /dev/null 2>&1 || true
  fi
  command -v "$1" > /dev/null
}

# Finds the server's programs, which Debian does not add to the path.
find_server() {
  local initdb
  initdb=$(ls -d /usr/lib/postgresql/*/bin/initdb 2> /dev/null | tail -1)
  [ -n "$initdb" ] || initdb=$(command -v initdb) || return 1
  programs=$(dirname "$initdb")
}

# Creates a server in `$folder/data` and starts it.
make_server() {
  find_server || { need initdb postgresql || true; find_server; } || return 1
  port=$((20000 + RANDOM % 20000))
  chmod 755 "$folder"
  mkdir -p "$folder/data" "$folder/log"
  [ "$(id -u)" != 0 ] || chown nobody:nogroup "$folder/data" "$folder/log"
  as_other "$programs/initdb" -D "$folder/data" -U rejoin -A trust \
    --no-instructions > /dev/null
  chmod 700 "$folder/data"
  database="host=127.0.0.1 port=$port user=rejoin dbname=postgres"
  start_server
}

start_server() {
  as_other "$programs/pg_ctl" -s -w -D "$folder/data" -l "$folder/log/server" \
    -o "-p $port -c listen_addresses=127.0.0.1 -c unix_socket_directories= \
      -c max_connections=200 -c max_wal_size=64MB -c autovacuum_naptime=5 -c fsync=on -c synchronous_commit=on \
      ${server_options:-}" \
    start > /dev/null
}

# Stops the server in a mode: smart, fast or immediate.
stop_server() { as_other "$programs/pg_ctl" -s -D "$folder/data" -m "$1" stop; }

# Fails if a database lacks a save that it acknowledged to a writer, or if two new
# devices receive different bytes.
#
#   check NAME DATABASE LOGS RUNS WHAT     LOGS is the folder of the writers' output
check() {
  local name=$1 database=$2 logs=$3 runs=$4 what=$5 expected=0
  if grep -l . "$logs"/*.err > /dev/null 2>&1; then
    echo "$name: a writer failed:" >&2
    cat "$logs"/*.err >&2
    return 1
  fi
  local log last one other total
  for log in "$logs"/*.log; do
    # A kill can truncate the last line.
    last=$(sed -n '$!p' "$log" | tail -1)
    expected=$((expected + ${last:-0}))
  done
  one=$("$writer" "$database" --total)
  other=$("$writer" "$database" --total)
  total=${one%% *}
  echo "$name: $what, $expected saves acknowledged and read," \
    "$total there, bytes $one = $other"
  if [ "$expected" = 0 ] || [ "$total" -lt "$expected" ] ||
    [ "$total" -gt $((expected + 3 * runs)) ] || [ "$one" != "$other" ]; then
    echo "$name: the hub has lost saves, or newcomers differ" >&2
    return 1
  fi
}
