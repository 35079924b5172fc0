# Runs one PostgreSQL server, and cleans up after the test process that started this script has ended.
#
# The test process holds the write end of the standard input and never writes to it. End of file means that the test
# process has closed the pipe or has ended, even if it was killed. The standard output reports back: it is closed after
# the server has stopped and its directory is removed. No other process may hold the standard output.
#
# $1 directory, $2 initdb, $3 postgres, $4 a data directory to copy or "", $5 "keep" to keep a copy of the new data
# directory for standbys, or "restore" if $4 is a backup and this server is not a standby, the rest: arguments of postgres

trap '' HUP INT TERM
directory=$1 initdb=$2 postgres=$3 base=$4 keep=$5
shift 5
exec 3<&0 </dev/null

# The data directory after initdb is in the state of a clean shutdown, so a file copy of it can become a standby.
prepare() {
	if [ -n "$base" ]; then
		cp -Rp "$base" "$directory/data" || return
		[ "$keep" = restore ] || : >"$directory/data/standby.signal"
		return
	fi
	"$initdb" -D "$directory/data" --username=postgres --auth=trust --encoding=UTF8 --locale=C --no-sync >&2 || return
	[ -z "$keep" ] || cp -Rp "$directory/data" "$directory/base"
}

prepare || {
	cd / && rm -rf "$directory"
	exit 1
}

"$postgres" -D "$directory/data" "$@" >&2 3<&- &
server=$!

(
	while read -r _; do :; done
	# INT requests a fast shutdown. After ten seconds, QUIT follows, and then KILL. Each signal is repeated, because the
	# server loses a signal that arrives before its handler is installed.
	for signal in INT QUIT KILL; do
		tries=0
		while [ $tries -lt 100 ]; do
			kill -$signal $server 2>/dev/null || exit
			sleep 0.1
			tries=$((tries + 1))
		done
	done
) <&3 >&2 &
watcher=$!
exec 3<&-

wait $server
status=$?
kill -KILL $watcher 2>/dev/null
# Backends can outlive a killed postmaster for a moment, and still write files.
cd / && { rm -rf "$directory" || { sleep 1 && rm -rf "$directory"; }; }
exit $status
