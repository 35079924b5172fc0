# Runs a program until the process that started this script (the parent) closes a pipe or ends. The pipe is the standard
# input of this script. Its end of file means that the parent has closed it, or has ended, even if it was killed.
# After the program has ended, the script removes the directory of the program.
#
# $1 directory of the program, the rest: the program and its arguments

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
