# Runs a program as long as whoever started this script holds the write end of its standard input, and no longer: end of
# file means that it closed the pipe or that it is gone, even if it was killed. $1 is the program's directory, which is
# removed, the rest the program with its arguments.

trap '' HUP INT TERM
directory=$1
shift
exec 3<&0 </dev/null
"$@" >&2 3<&- &
program=$!
(
	while read -r _; do :; done
	kill -TERM $program
	sleep 5
	kill -KILL $program
) <&3 2>/dev/null &
watcher=$!
exec 3<&-
wait $program
kill -KILL $watcher 2>/dev/null
cd / && rm -rf "$directory"
