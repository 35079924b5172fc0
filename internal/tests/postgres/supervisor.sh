# Runs one PostgreSQL server and cleans up after it, whatever becomes of the test process that started this script.
#
# The test process holds the write end of our standard input and never writes to it: end of file means that it closed
# the pipe or that it is gone, even if it was killed. Our standard output is the way back: it is closed once the server is
# down and its directory removed, which is why nothing else may hold it.
#
# $1 directory, $2 initdb, $3 postgres, $4 the data directory to begin with or "", $5 "keep" if standbys will begin with a
# copy of this server's, "restore" if $4 is a backup and not that of a primary to follow, the rest: arguments to postgres

trap '' HUP INT TERM
directory=$1 initdb=$2 postgres=$3 base=$4 keep=$5
shift 5
exec 3<&0 </dev/null

# What initdb leaves is a server that was shut down: a plain copy of it can follow the original.
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
	# Fast shutdown; a server that takes longer than ten seconds is no longer asked. Every signal is repeated, for one that
	# arrives before the server handles it is lost.
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
# Backends can outlive a killed postmaster for a moment, and write.
cd / && { rm -rf "$directory" || { sleep 1 && rm -rf "$directory"; }; }
exit $status
