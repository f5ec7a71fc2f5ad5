#!/usr/bin/env bash
# Installs a release of Assize: downloads the archive of this machine, compares it with the checksums of the release, unpacks
# it, and puts the program on the path of later steps.
#
# ASSIZE_RELEASES  address of the folder of releases, such as https://HOST/OWNER/REPOSITORY/releases/download
# ASSIZE_VERSION   version without `v`
# ASSIZE_SHA256    checksum of the archive (optional). Without it, the SHA256SUMS of the release is used, which protects
#                  against a damaged download, not against a changed release.
# ASSIZE_PREFIX    folder to install into; RUNNER_TOOL_CACHE/assize otherwise
# ASSIZE_TARGET    Rust target triple (optional); that of this machine otherwise
set -euo pipefail

fail() {
  echo "::error title=Assize was not installed::$1" >&2
  exit 2
}

releases=${ASSIZE_RELEASES:?the address of the releases is not set}
version=${ASSIZE_VERSION:?the version is not set}
version=${version#v}
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?$ ]] ||
  fail "expected a version such as 1.2.3, found \`$version\`"

target=${ASSIZE_TARGET:-}
if [ -z "$target" ]; then
  case $(uname -s)-$(uname -m) in
    Linux-x86_64) target=x86_64-unknown-linux-musl ;;
    Linux-aarch64 | Linux-arm64) target=aarch64-unknown-linux-musl ;;
    Darwin-x86_64) target=x86_64-apple-darwin ;;
    Darwin-arm64) target=aarch64-apple-darwin ;;
    MINGW*-x86_64 | MSYS*-x86_64) target=x86_64-pc-windows-msvc ;;
    *) fail "there is no release for $(uname -s) on $(uname -m); build it from source" ;;
  esac
fi

suffix=tar.gz
case $target in *windows*) suffix=zip ;; esac
archive=assize-$version-$target.$suffix
prefix=${ASSIZE_PREFIX:-${RUNNER_TOOL_CACHE:?neither ASSIZE_PREFIX nor RUNNER_TOOL_CACHE is set}/assize}
folder=$prefix/assize-$version-$target

download() {
  curl --fail --silent --show-error --location --retry 3 --output "$2" "$1" || fail "can't download $1"
}

sha256() {
  if command -v sha256sum > /dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

if [ ! -x "$folder/assize" ] && [ ! -x "$folder/assize.exe" ]; then
  download_folder=$(mktemp -d)
  trap 'rm -rf "$download_folder"' EXIT
  download "$releases/v$version/$archive" "$download_folder/$archive"

  expected=${ASSIZE_SHA256:-}
  if [ -z "$expected" ]; then
    download "$releases/v$version/SHA256SUMS" "$download_folder/SHA256SUMS"
    expected=$(awk -v name="$archive" '$2 == name || $2 == "*" name { print $1 }' "$download_folder/SHA256SUMS")
    [ -n "$expected" ] || fail "SHA256SUMS of $version does not list $archive"
  fi
  found=$(sha256 "$download_folder/$archive")
  [ "$found" = "$expected" ] || fail "$archive has the SHA-256 checksum $found, expected $expected"

  mkdir -p "$prefix"
  case $suffix in
    zip) unzip -q -o "$download_folder/$archive" -d "$prefix" ;;
    *) tar -xzf "$download_folder/$archive" -C "$prefix" ;;
  esac
fi

"$folder/assize" --version
if [ -n "${GITHUB_PATH:-}" ]; then
  echo "$folder" >> "$GITHUB_PATH"
fi
