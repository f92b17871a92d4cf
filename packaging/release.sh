#!/usr/bin/env bash
# Builds static release binaries for Linux: release.sh [amd64] [arm64]
#
# Without arguments both are built. SQLite is C, so each needs a C compiler for its
# kind of machine. A machine that cannot be built for is named at the end, with what
# is missing, and the exit code is 1; the others are built all the same.
#
# The archives go to dist/, or to $DIST, with their checksums in SHA256SUMS.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$(sed -n 's/^const version = "\(.*\)"$/\1/p' cmd/clearbox/main.go)
dist=${DIST:-dist}
# Names of users and hosts are looked up in Go: the C library cannot do that in a
# static binary.
tags=sqlite_fts5,sqlite_omit_load_extension,netgo,osusergo
host=$(go env GOHOSTARCH)
missing=()

# compiler prints a C compiler that makes static binaries for a machine: one with
# musl before one with glibc.
compiler() {
	local names=()
	case $1 in
	amd64) names=(x86_64-linux-musl-gcc x86_64-linux-gnu-gcc) ;;
	arm64) names=(aarch64-linux-musl-gcc aarch64-linux-gnu-gcc) ;;
	esac
	[ "$1" = "$host" ] && names=(musl-gcc "${names[@]}" gcc)
	for name in "${names[@]}"; do
		command -v "$name" >/dev/null && echo "$name" && return 0
	done
	if command -v zig >/dev/null; then
		case $1 in
		amd64) echo "zig cc -target x86_64-linux-musl" ;;
		arm64) echo "zig cc -target aarch64-linux-musl" ;;
		esac
		return 0
	fi
	return 1
}

# links says whether a compiler can link a static program; a glibc without its
# static half cannot.
links() {
	local dir code=0
	dir=$(mktemp -d)
	echo 'int main(void) { return 0; }' >"$dir/try.c"
	# shellcheck disable=SC2086 # a compiler may have arguments
	if ! $1 -static -o "$dir/try" "$dir/try.c" 2>"$dir/why"; then
		head -3 "$dir/why" >&2
		code=1
	fi
	rm -rf "$dir"
	return "$code"
}

build() {
	local arch=$1 cc name=clearbox-$version-linux-$1
	rm -f "$dist/$name.tar.gz"
	if ! cc=$(compiler "$arch"); then
		case $arch in
		arm64) missing+=("linux/arm64: no C compiler for it; install gcc-aarch64-linux-gnu, or musl's cross compiler, or zig") ;;
		*) missing+=("linux/$arch: no C compiler for it; install gcc or musl-tools, or zig") ;;
		esac
		return 0
	fi
	if ! links "$cc"; then
		missing+=("linux/$arch: $cc cannot link statically; install the static C library (libc6-dev, or libc6-dev-$arch-cross for a cross compiler), or musl")
		return 0
	fi
	echo "building $name with $cc …"
	local stage=$dist/stage/$name
	rm -rf "$stage" && mkdir -p "$stage"
	CGO_ENABLED=1 GOOS=linux GOARCH=$arch CC=$cc CGO_CFLAGS="-O2 -g0" go build -trimpath -tags "$tags" \
		-ldflags "-s -w -linkmode external -extldflags '-static'" -o "$stage/" ./cmd/...
	if [ "$arch" = "$host" ]; then
		"$stage/clearbox" version
	fi
	for binary in "$stage"/*; do
		if command -v readelf >/dev/null && readelf -l "$binary" | grep -q 'program interpreter'; then
			echo "$binary is not static" >&2
			return 1
		fi
	done
	cp README.md packaging/clearbox.service "$stage/"
	tar -C "$dist/stage" --owner=0 --group=0 --sort=name -czf "$dist/$name.tar.gz" "$name"
}

wanted=("$@")
[ ${#wanted[@]} -gt 0 ] || wanted=(amd64 arm64)
for arch in "${wanted[@]}"; do
	case $arch in
	amd64 | arm64) ;;
	*) echo "release.sh: there is no release for $arch; it is amd64 or arm64" >&2 && exit 2 ;;
	esac
done
mkdir -p "$dist"
for arch in "${wanted[@]}"; do
	build "$arch"
done
rm -rf "$dist/stage"
built=("$dist"/clearbox-"$version"-linux-*.tar.gz)
if [ -e "${built[0]}" ]; then
	(cd "$dist" && sha256sum clearbox-"$version"-linux-*.tar.gz | tee SHA256SUMS)
fi
for why in "${missing[@]}"; do
	echo "not built: $why" >&2
done
[ ${#missing[@]} = 0 ]
