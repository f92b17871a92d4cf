#!/bin/sh
# Starts the Clearbox server in the background unless one answers already. What is
# printed here the session reads; so it says, in one line, whether the tools of
# Clearbox can be used. It never keeps a session from starting.
if ! command -v clearbox >/dev/null 2>&1; then
	echo "Clearbox is not installed (no program clearbox on the PATH): its tools do not work in this session. Tell the user once, and go on without."
	exit 0
fi
if said=$(clearbox ensure 2>&1); then
	echo "$said"
else
	echo "The Clearbox server could not be started, so its tools do not work in this session: $said"
fi
exit 0
