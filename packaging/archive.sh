#!/usr/bin/env bash
# Packs one release archive: packaging/archive.sh TARGET PROGRAM FOLDER
#
# TARGET is a Rust target triple, PROGRAM the built program, FOLDER where the archive goes. The archive holds one folder,
# assize-VERSION-TARGET, with the program, the licences, the changelog, completions and man pages; its name is the one that
# cargo-binstall and the install script of the action look for. Prints the path of the archive.
set -euo pipefail

if [ $# -ne 3 ]; then
  echo "usage: packaging/archive.sh TARGET PROGRAM FOLDER" >&2
  exit 2
fi
target=$1 program=$2 folder=$3
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
name=assize-$version-$target

mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
staging=$(mktemp -d)
trap 'rm -rf "$staging"' EXIT
mkdir "$staging/$name"

case $target in
  *windows*) cp "$program" "$staging/$name/assize.exe" ;;
  *) install -m 755 "$program" "$staging/$name/assize" ;;
esac
cp "$root"/{LICENSE-APACHE,LICENSE-MIT,README.md,CHANGELOG.md} "$staging/$name/"
# `cargo xtask package-files` makes them; they are the same for every target.
if [ -d "$root/target/package-files" ]; then
  cp -R "$root"/target/package-files/{completions,man} "$staging/$name/"
fi

cd "$staging"
case $target in
  *windows*)
    7z a -bso0 -bsp0 "$folder/$name.zip" "$name"
    echo "$folder/$name.zip"
    ;;
  *)
    # Without the date and the user of the build, so that the same files make the same archive. The options are those of GNU
    # tar; the tar of macOS has others.
    same=()
    if tar --version | grep -q GNU; then
      same=(--sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner)
    fi
    tar ${same[@]+"${same[@]}"} -cf - "$name" | gzip -n > "$folder/$name.tar.gz"
    echo "$folder/$name.tar.gz"
    ;;
esac
