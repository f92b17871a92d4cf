#!/bin/sh
# Plays the claude program in tests: prints the recorded stream that the prompt names,
# and waits where the program waited for an answer. What no recording shows is done by
# the test binary, which is started with the name of the trick.
trick() {
	TEST_TRICK=$1 exec "$TEST_SELF" -p
}
case "$1" in
--version)
	echo "${TEST_PLAYED_VERSION:-2.1.900 (Claude Code)}"
	exit 0
	;;
auth)
	echo "$TEST_PLAYED_LOGIN"
	exit 0
	;;
esac
[ -z "$TEST_DEAF" ] || trick deaf

prompt=
while IFS= read -r line; do
	case "$line" in *'"type":"user"'*) prompt=$line && break ;; esac
done
name=$(printf '%s\n' "$prompt" | sed -n 's/.*recording:\([a-z0-9./-]*\).*/\1/p')
case "$name:$*" in */no-session:*--resume=*) ;; */no-session:*) name=${name%no-session}hello ;; esac
file=$TEST_STREAMS/$name.jsonl
[ -f "$file" ] || trick "$name"

exec 4<&0
sed "s|@WORK@|$PWD|g" "$file" | while IFS= read -r line; do
	case "$line" in 'exit '*) continue ;; esac
	printf '%s\n' "$line"
	case "$line" in
	*'"type":"control_request"'*)
		id=$(printf '%s\n' "$line" | sed 's/.*"request_id":"\([^"]*\)".*/\1/')
		while IFS= read -r heard <&4; do
			[ -z "$TEST_HEARD_IN" ] || printf '%s\n' "$heard" >>"$TEST_HEARD_IN"
			case "$heard" in *"$id"*) break ;; esac
		done
		;;
	esac
done
cat >/dev/null # as the program waits for the end of its input
exit "$(sed -n 's/^exit //p' "$file" | tail -1 | grep . || echo 0)"
