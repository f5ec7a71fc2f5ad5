#!/usr/bin/env bash
# Times the way from nothing to a report that can be shared, for each way of installing: packaging/times.sh PROGRAM [WHEEL]
#
# PROGRAM is a built program, packed here as a release packs it; WHEEL is a wheel that `cargo xtask wheel` made. Packages come
# from local files, so that downloads take no time. Each way installs into an empty folder and then runs `assize init`, `assize
# eval` and `assize report`; that of the action runs its scripts. uv, npm, node and buildah are used where they are installed. Prints
# a Markdown table.
#
# A static program is also tried, by root, alone in an empty root and as the image: its layer is unpacked, and the program runs there
# as the user of the image. What a container engine adds is not measured.
#
# BUILD=1 adds `cargo install` from this checkout: crates are downloaded again, and nothing is built beforehand.
set -euo pipefail

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
  echo "usage: packaging/times.sh PROGRAM [WHEEL]" >&2
  exit 2
fi
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
wheel=${2:+$(cd "$(dirname "$2")" && pwd)/$(basename "$2")}
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
target=x86_64-unknown-linux-gnu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

quietly() {
  "$@" > "$folder/log" 2>&1 || {
    cat "$folder/log" >&2
    echo "FAILED: $*" >&2
    exit 1
  }
}

seconds() { date +%s.%N; }

# Removes the case that fails on purpose, so that every command has to succeed.
without_failure() { sed -i '/fails on purpose/,$d' "$1/evals/first.eval.yaml"; }

# The first report, with the installed program.
first_report() {
  quietly "$assize" init --yes
  without_failure .
  quietly "$assize" eval evals
  quietly "$assize" report last -o report.html
}

# The program in another root, as the user of the image.
in_root() {
  env -i HOME=/project TMPDIR=/project/.assize/tmp "$(command -v unshare)" --root "$PWD/root" --wd /project \
    --setgid 65532 --setuid 65532 /assize "$@"
}

root_report() {
  quietly in_root init --yes
  without_failure root/project
  quietly in_root eval evals
  quietly in_root report last -o report.html
  cp root/project/report.html report.html
}

# The same with the script of the action.
action_report() {
  quietly "$assize" init --yes
  without_failure .
  quietly env PATH="$(dirname "$assize"):$PATH" ASSIZE_FOLDER=.assize/action GITHUB_OUTPUT="$PWD/outputs" \
    GITHUB_STEP_SUMMARY="$PWD/summary" "$root/packaging/action/evaluate.sh"
  cp .assize/action/report.html report.html
}

# way NAME SIZE-OF INSTALL [REPORT]: times the function INSTALL, which sets `assize` to the installed program, and the first report,
# which is left in report.html.
way() {
  local started installed reported size
  mkdir -p "$folder/$3-${4:-}" && cd "$folder/$3-${4:-}"
  started=$(seconds)
  "$3"
  installed=$(seconds)
  "${4:-first_report}"
  reported=$(seconds)
  [ -s report.html ] || { echo "FAILED: $1 made no report" >&2 && exit 1; }

  size=$(du -ck $2 | tail -n 1 | cut -f 1)
  awk -v name="$1" -v size="$size" -v a="$started" -v b="$installed" -v c="$reported" \
    'BEGIN { printf "| %s | %.1f MB | %.1f s | %.1f s | %.1f s |\n", name, size / 1024, b - a, c - b, c - a }'
}

from_archive() {
  quietly env ASSIZE_RELEASES="file://$folder/releases" ASSIZE_TARGET=$target ASSIZE_VERSION="$version" \
    ASSIZE_PREFIX="$PWD/tools" GITHUB_PATH="$PWD/path" "$root/packaging/action/install.sh"
  assize=$(cat path)/assize
}

from_wheel() {
  quietly python3 -m venv environment
  quietly environment/bin/pip install --no-index "$wheel"
  assize=$PWD/environment/bin/assize
}

from_wheel_by_uv() {
  quietly uv venv --offline environment
  quietly uv pip install --offline --no-index --python environment "$wheel"
  assize=$PWD/environment/bin/assize
}

from_program() {
  mkdir root
  cp "$program" root/assize
  complete_root
}

from_image() {
  mkdir root
  tar --extract --file "$folder/image.tar" --directory root
  complete_root
}

# What a container engine adds to a root: a folder of the user, and the devices that static programs linked with glibc draw random
# numbers from.
complete_root() {
  install --directory --owner 65532 --group 65532 root/project
  mkdir root/dev
  mknod --mode=666 root/dev/random c 1 8
  mknod --mode=666 root/dev/urandom c 1 9
}

from_npm() {
  echo '{"private": true}' > package.json
  quietly npm install --offline --no-audit --no-fund "$folder"/npm/*.tgz
  assize=$PWD/node_modules/.bin/assize
}

from_source() {
  quietly env CARGO_HOME="$PWD/cargo" CARGO_TARGET_DIR="$PWD/target" \
    cargo install --path "$root/crates/cli" --locked --features full --root "$PWD/installed"
  assize=$PWD/installed/bin/assize
}

echo "| installed from | size | installing | first report | together |"
echo "|---|---|---|---|---|"

archive=$("$root/packaging/archive.sh" $target "$program" "$folder/releases/v$version")
(cd "$(dirname "$archive")" && sha256sum "$(basename "$archive")" > SHA256SUMS)
way "archive" "$archive" from_archive
way "action, its scripts" "$archive" from_archive action_report

if [ -n "$wheel" ]; then
  way "wheel, with pip in a fresh environment" "$wheel" from_wheel
  if command -v uv > /dev/null; then
    way "wheel, with uv in a fresh environment" "$wheel" from_wheel_by_uv
  fi
fi

if command -v npm > /dev/null; then
  main=$(node "$root/packaging/npm/build.mjs" "$folder/npm" $target="$program" | tail -n 1)
  for package in "$folder/npm/linux-x64" "$main"; do
    (cd "$package" && npm pack --silent --pack-destination "$folder/npm" > /dev/null 2>&1)
  done
  way "npm" "$folder/npm/assize-linux-x64-$version.tgz $folder/npm/assize-$version.tgz" from_npm
fi

# `ldd` fails for a program that is static and has a fixed place in memory.
libraries=$(ldd "$program" 2> /dev/null || echo "statically linked")
if [ "$(id -u)" -eq 0 ] && [[ $libraries == *"statically linked"* ]]; then
  way "program alone, in an empty root" "$program" from_program root_report
  if command -v buildah > /dev/null; then
    mkdir "$folder/context" && cp "$program" "$folder/context/assize"
    quietly buildah --storage-driver vfs --root "$folder/images" --runroot "$folder/images-run" build --isolation chroot \
      --file "$root/packaging/Dockerfile" --build-arg PROGRAM=assize --output "type=tar,dest=$folder/image.tar" "$folder/context"
    way "image, its files" "$folder/image.tar" from_image root_report
  fi
fi

if [ -n "${BUILD:-}" ]; then
  way "source, with \`cargo install\`" "$root/crates $root/Cargo.lock" from_source
fi
