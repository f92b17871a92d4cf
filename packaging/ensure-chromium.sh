#!/bin/sh
# Makes sure that the browser tests find a Chromium: installs one by the system's
# package manager when there is none, or says how to and fails. The one without
# windows takes a third of the time: root, as in containers, gets it where it is
# to be had.
set -u

headless=chromium-headless-shell
for name in $headless chrome-headless-shell; do
	command -v "$name" >/dev/null 2>&1 && exit 0
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
	[ -n "$(apt-cache search --names-only "^$headless\$" 2>/dev/null)" ] || apt-get update -qq >/dev/null 2>&1
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $headless >/dev/null 2>&1 && exit 0
fi

for name in chromium chromium-browser google-chrome google-chrome-stable; do
	command -v "$name" >/dev/null 2>&1 && exit 0
done
[ -x "/Applications/Chromium.app/Contents/MacOS/Chromium" ] && exit 0
[ -x "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" ] && exit 0

as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
		sudo -n "$@"
	else
		return 1
	fi
}

echo "installing Chromium for the browser tests …"
if command -v apt-get >/dev/null 2>&1; then
	how="sudo apt-get install chromium"
	as_root apt-get update -qq && DEBIAN_FRONTEND=noninteractive as_root apt-get install -y -qq chromium >/dev/null && exit 0
elif command -v dnf >/dev/null 2>&1; then
	how="sudo dnf install chromium"
	as_root dnf install -y -q chromium && exit 0
elif command -v pacman >/dev/null 2>&1; then
	how="sudo pacman -S chromium"
	as_root pacman -S --noconfirm --quiet chromium && exit 0
elif command -v apk >/dev/null 2>&1; then
	how="sudo apk add chromium"
	as_root apk add --quiet chromium && exit 0
elif command -v brew >/dev/null 2>&1; then
	how="brew install --cask chromium"
	brew install --quiet --cask chromium && exit 0
else
	how="your system's package manager, or set CHROMIUM to the path of one"
fi
echo "The browser tests need Chromium and it could not be installed. Install it with: $how" >&2
exit 1
