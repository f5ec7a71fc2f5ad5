#!/usr/bin/env bash
# Tries out what a release consists of, with a program that is built already: packaging/test.sh PROGRAM
#
# The archive and its install script, the action's scripts with the variables that a workflow sets, the packages for npm in a
# fresh folder, the package of the extension, the hooks of pre-commit, a static program in an empty root, and the image. What
# can't be tried here is counted and named: `SKIPPED packaging: ...`. ASSIZE_PRE_COMMIT may name a pre-commit that is not on the
# path.
set -euo pipefail

if [ $# -ne 1 ]; then
  echo "usage: packaging/test.sh PROGRAM" >&2
  exit 2
fi
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
target=x86_64-unknown-linux-gnu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# Released programs have no symbols, and packing those of a program for tests takes most of a minute.
if command -v strip > /dev/null; then
  mkdir stripped
  strip -o stripped/assize "$program" && program=$folder/stripped/assize
fi

skip() { echo "SKIPPED packaging: $1"; }

fail() {
  echo "FAILED packaging: $1" >&2
  exit 1
}

# expect CODE COMMAND...: runs the command, which has to end with the exit code. Its output is in the file `log`.
expect() {
  local expected=$1 code=0
  shift
  "$@" > "$folder/log" 2>&1 || code=$?
  if [ "$code" -ne "$expected" ]; then
    cat "$folder/log" >&2
    fail "expected exit code $expected from $*, found $code"
  fi
}

expect_text() {
  grep -qF -- "$2" "$1" || fail "expected \`$2\` in $1: $(cat "$1")"
}

expect_version() {
  local found
  found=$("$@" --version)
  [ "$found" = "assize $version" ] || fail "expected \`assize $version\` from $*, found \`$found\`"
}

# example PAGE HEADING LANGUAGE [NUMBER]: a block of code below a heading of a page of the documentation, by default the first.
example() {
  awk -v heading="$2" -v fence="\`\`\`$3" -v number="${4:-1}" '
    $0 == heading { below = 1; next }
    below && !inside && /^#/ { exit }
    below && $0 == fence { seen += 1; inside = 1; next }
    inside && /^```$/ { if (seen == number) exit; inside = 0; next }
    inside && seen == number
  ' "$root/docs/$1" > "$folder/example"
  [ -s "$folder/example" ] || fail "$1 has no $3 below $2"
  cat "$folder/example"
}

try_archive() {
  local releases=$folder/releases archive
  archive=$("$root/packaging/archive.sh" $target "$program" "$releases/v$version")
  (cd "$(dirname "$archive")" && sha256sum "$(basename "$archive")" > SHA256SUMS)

  export ASSIZE_RELEASES=file://$releases ASSIZE_TARGET=$target
  expect 0 env GITHUB_PATH="$folder/path" RUNNER_TOOL_CACHE="$folder/tools" ASSIZE_VERSION="v$version" \
    "$root/packaging/action/install.sh"
  expect_version "$(cat "$folder/path")/assize"

  # Nothing is unpacked that is not what was expected.
  expect 2 env RUNNER_TOOL_CACHE="$folder/refused" ASSIZE_VERSION="$version" ASSIZE_SHA256=0000 \
    "$root/packaging/action/install.sh"
  expect_text log "expected 0000"
  : > "$releases/v$version/SHA256SUMS"
  expect 2 env RUNNER_TOOL_CACHE="$folder/refused" ASSIZE_VERSION="$version" "$root/packaging/action/install.sh"
  expect_text log "does not list"
  expect 2 env RUNNER_TOOL_CACHE="$folder/refused" ASSIZE_VERSION='1.0.0/../..' "$root/packaging/action/install.sh"
  [ ! -e "$folder/refused" ] || fail "a refused archive was unpacked"
  echo "ok: archive and install script"
}

# A project whose second version answers worse.
write_project() {
  mkdir -p "$1/evals"
  for case in 1 2 3 4 5 6 7 8 9 10 11 12; do
    printf -- '- {id: case-%s, input: "Question %s", output: "%s", assertions: [{type: contains, value: refund}]}\n' \
      "$case" "$case" "$2"
  done | { printf 'name: support\ntests:\n'; cat; } > "$1/evals/support.eval.yaml"
}

try_action() {
  local project=$folder/project outputs=$folder/outputs
  PATH=$(dirname "$(cat "$folder/path")/assize"):$PATH
  export PATH ASSIZE_FOLDER=.assize/action ASSIZE_JUDGE=offline GITHUB_OUTPUT=$outputs GITHUB_STEP_SUMMARY=$folder/summary
  write_project "$project" "We refund it."
  cd "$project"

  expect 0 env ASSIZE_BUDGET_USD=1 ASSIZE_ARGS=$'--workers\n4\n' "$root/packaging/action/evaluate.sh"
  expect_text "$outputs" "exit-code=0"
  expect_text "$outputs" "complete=true"
  expect_text "$folder/summary" "support"
  [ -s .assize/action/report.html ] || fail "there is no report"
  cp -R .assize/action/change .assize/action/base

  # The same answers are no worse than the baseline; then every answer is.
  expect 0 "$root/packaging/action/evaluate.sh"
  write_project "$project" "No."
  expect 1 "$root/packaging/action/evaluate.sh"
  expect_text "$folder/summary" "<!-- assize:"
  tail -n 5 "$outputs" > last
  expect_text "$outputs" "exit-code=1"

  # A file that is invalid is no run.
  echo 'tests: 5' > evals/broken.eval.yaml
  expect 2 "$root/packaging/action/evaluate.sh"
  expect_text "$outputs" "exit-code=2"
  rm evals/broken.eval.yaml
  expect 1 "$root/packaging/action/evaluate.sh"

  try_comment
  cd "$folder"
  echo "ok: scripts of the action"
}

# One comment: added by the first call, edited by the second. A program in place of `gh` keeps what it is asked.
try_comment() {
  mkdir -p "$folder/fake"
  cat > "$folder/fake/gh" << 'FAKE'
#!/usr/bin/env bash
echo "$*" >> "$GH_LOG"
case $* in *--paginate*) cat "$GH_COMMENTS" ;; esac
FAKE
  chmod +x "$folder/fake/gh"
  export GH_LOG=$folder/gh.log GH_COMMENTS=$folder/gh.comments GITHUB_REPOSITORY=someone/project ASSIZE_PULL=7
  export ASSIZE_COMMENT=.assize/action/comment.md

  : > "$GH_COMMENTS"
  expect 0 env PATH="$folder/fake:$PATH" "$root/packaging/action/comment.sh"
  expect_text "$GH_LOG" "--method POST repos/someone/project/issues/7/comments"
  printf '42\n43\n' > "$GH_COMMENTS"
  expect 0 env PATH="$folder/fake:$PATH" "$root/packaging/action/comment.sh"
  expect_text "$GH_LOG" "--method PATCH repos/someone/project/issues/comments/42"
  echo "no marker" > "$folder/other.md"
  expect 2 env PATH="$folder/fake:$PATH" ASSIZE_COMMENT="$folder/other.md" "$root/packaging/action/comment.sh"
}

# The script of the job that the documentation extends, with its variables and those that a runner sets.
try_gitlab() {
  if ! python3 -c 'import yaml' 2> /dev/null; then
    skip "the GitLab template: Python with PyYAML is not installed"
    return
  fi
  local project=$folder/gitlab
  example ci.md "### With the template" yaml > "$folder/gitlab-ci.yml"
  python3 - "$root/packaging/gitlab/assize.yml" "$folder/gitlab-ci.yml" > "$folder/gitlab.sh" << 'PYTHON'
import sys
import yaml

template, documented = (yaml.safe_load(open(path, encoding="utf-8")) for path in sys.argv[1:3])
job = template[".assize"]
own = documented["evals"]
assert own["extends"] == ".assize" and documented["include"][0]["remote"].endswith("/packaging/gitlab/assize.yml")
unknown = [name for name in own["variables"] if f"${name}" not in job["script"][0] and f"${{{name}" not in job["script"][0]]
assert not unknown, f"the template reads no {unknown}"
for name, value in {**job["variables"], **own["variables"], "ASSIZE_JUDGE": "offline"}.items():
    print(f"export {name}='{value}'")
print("\n".join(job["script"]))
PYTHON
  write_project "$project" "We refund it."
  cd "$project"
  export CI_DEFAULT_BRANCH=main
  expect 0 env CI_COMMIT_BRANCH=main sh "$folder/gitlab.sh"
  # A merge request has no branch of its own.
  expect 0 sh "$folder/gitlab.sh"
  write_project "$project" "No."
  expect 1 sh "$folder/gitlab.sh"
  for report in report.html junit.xml gl-code-quality-report.json; do
    [ -s $report ] || fail "the GitLab template wrote no $report"
  done

  # Several paths, one of them with a blank; and a run that is cut short, which is reported all the same.
  mkdir -p "more evals"
  cp evals/*.eval.yaml "more evals/"
  sed -i.bak 's/^name: .*//' "more evals"/*.eval.yaml
  expect 1 env ASSIZE_EVALS=$'evals\nmore evals' sh "$folder/gitlab.sh"
  rm -rf "more evals" .assize/ci report.html
  write_project "$project" "We refund it."
  printf 'tests:\n  - {id: a, input: i, output: o, assertions: [{type: code-grader, command: [./nowhere]}]}\n' > evals/broken.eval.yaml
  expect 3 env CI_COMMIT_BRANCH=main ASSIZE_ALLOW_CODE=1 sh "$folder/gitlab.sh"
  [ -s report.html ] || fail "the GitLab template reported nothing of a run that was cut short"
  [ ! -e .assize/ci/base ] || fail "a run that was cut short is the baseline"
  cd "$folder"
  echo "ok: GitLab template"
}

try_npm() {
  if ! command -v npm > /dev/null; then
    skip "the packages for npm: npm is not installed"
    return
  fi
  local main
  main=$(node "$root/packaging/npm/build.mjs" "$folder/npm" $target="$program" | tail -n 1)
  mkdir -p "$folder/app"
  cd "$folder/app"
  for package in "$folder/npm/linux-x64" "$main"; do
    (cd "$package" && npm pack --silent --pack-destination "$folder/app" > /dev/null 2>&1)
  done
  example install.md "## npm" json > package.json
  expect 0 npm install --offline --no-audit --no-fund "./assize-linux-x64-$version.tgz" "./assize-$version.tgz"
  local bin=node_modules/.bin/assize
  expect_version $bin
  expect 0 $bin init --yes
  # One of the cases that `init` writes fails, so that there is one to look at.
  expect 1 npm run evals
  expect 0 npm run evals -- --filter order-status --run-dir some
  expect 0 npm run evals:check
  expect 2 $bin validate nowhere.yaml

  rm -rf node_modules/@assize
  expect 2 $bin --version
  expect_text "$folder/log" "npm install @assize/linux-x64@$version"
  expect 0 env ASSIZE_BINARY="$program" $bin --version

  # A signal to the script alone ends the program too.
  printf '#!/bin/sh\ntrap "touch ended; exit 143" TERM\ntouch started\nwhile :; do sleep 0.1; done\n' > endless
  chmod +x endless
  ASSIZE_BINARY=$PWD/endless node node_modules/assize/bin/assize.js &
  local script=$! waited=0
  while [ ! -e started ] && [ $waited -lt 100 ]; do sleep 0.1; waited=$((waited + 1)); done
  kill -TERM "$script"
  wait "$script" || true
  [ -e ended ] || fail "a signal to the script for npm did not end the program"
  cd "$folder"
  echo "ok: packages for npm"
}

try_extension() {
  if ! command -v npm > /dev/null; then
    skip "the extension: npm is not installed"
    return
  fi
  cp -R "$root/editors/vscode" "$folder/vscode"
  cp -R "$root/schemas" "$folder/vscode/schemas"
  cp "$root/LICENSE-MIT" "$folder/vscode/LICENSE"
  cd "$folder/vscode"
  if ! npm install --no-audit --no-fund > "$folder/log" 2>&1; then
    skip "the extension: its packages can't be installed ($(tail -n 1 "$folder/log"))"
    cd "$folder"
    return
  fi
  expect 0 npm run build
  expect 0 npm run package
  python3 -m zipfile -l assize.vsix > "$folder/listed"
  for file in extension/dist/extension.js extension/package.json extension/schemas/suite.schema.json; do
    expect_text "$folder/listed" "$file"
  done
  if grep -q node_modules "$folder/listed"; then fail "the extension carries node_modules"; fi
  cd "$folder"
  echo "ok: package of the extension"
}

# The hooks name commands and files that exist, and the documented configuration names hooks that exist.
try_hooks() {
  write_project "$folder/hooks" "We refund it."
  sed -n 's/^  entry: assize //p' "$root/.pre-commit-hooks.yaml" > "$folder/entries"
  [ -s "$folder/entries" ] || fail "there are no hooks"
  while read -r entry; do
    expect 0 "$program" "$entry" "$folder/hooks/evals/support.eval.yaml"
  done < "$folder/entries"
  example install.md "## pre-commit" yaml > "$folder/hooks/documented.yaml"
  sed -n 's/^ *- id: //p' "$folder/hooks/documented.yaml" > "$folder/ids"
  while read -r id; do
    expect_text "$root/.pre-commit-hooks.yaml" "- id: $id"
  done < "$folder/ids"
  echo "ok: hooks of pre-commit"
  try_pre_commit
}

# pre-commit itself, with both documented configurations: the wheel holds the program that is tried here.
try_pre_commit() {
  local pre_commit=${ASSIZE_PRE_COMMIT:-pre-commit}
  if ! command -v "$pre_commit" > /dev/null; then
    skip "pre-commit with the documented configurations: it is not installed"
    return
  fi
  local project=$folder/hooks hooks=$folder/hooks-repository
  write_wheel "$folder/wheels"
  export PIP_FIND_LINKS=$folder/wheels PRE_COMMIT_HOME=$folder/pre-commit
  export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b GIT_CONFIG_GLOBAL=/dev/null
  mkdir -p "$hooks"
  cp "$root/.pre-commit-hooks.yaml" "$root/setup.py" "$root/Cargo.toml" "$hooks"
  (cd "$hooks" && git init --quiet && git add -A && git commit --quiet --message hooks && git tag v1)
  cd "$project"
  git init --quiet
  sed -e "s|repo: https://.*|repo: file://$hooks|" -e 's|rev: VERSION|rev: v1|' -e '/args:/d' documented.yaml > .pre-commit-config.yaml
  git add -A
  if ! "$pre_commit" install-hooks > "$folder/log" 2>&1; then
    skip "pre-commit with the documented configurations: the hooks can't be installed ($(tail -n 1 "$folder/log"))"
    cd "$folder"
    return
  fi
  expect 0 "$pre_commit" run --all-files
  expect_text "$folder/log" "assize lint"
  echo 'tests: 5' > evals/broken.eval.yaml
  git add -A
  expect 1 "$pre_commit" run --all-files
  expect_text "$folder/log" "broken.eval.yaml"

  example install.md "## pre-commit" yaml 2 > .pre-commit-config.yaml
  git add -A
  expect 1 "$pre_commit" run --all-files
  git rm --quiet --force evals/broken.eval.yaml
  expect 0 "$pre_commit" run --all-files
  cd "$folder"
  echo "ok: pre-commit with the documented configurations"
}

# A wheel that holds the program and nothing else.
write_wheel() {
  mkdir -p "$1"
  python3 - "$program" "$version" "$1" << 'PYTHON'
import sys
import zipfile

program, version, folder = sys.argv[1:4]
info = f"assize-{version}.dist-info"
script = zipfile.ZipInfo(f"assize-{version}.data/scripts/assize")
script.external_attr = 0o755 << 16
with zipfile.ZipFile(f"{folder}/assize-{version}-py3-none-any.whl", "w") as wheel:
    wheel.writestr(script, open(program, "rb").read())
    wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: assize\nVersion: {version}\n")
    wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    wheel.writestr(f"{info}/RECORD", "")
PYTHON
}

# A static program needs nothing of the system it runs on: an empty root, and the image. One that is linked with glibc draws random
# numbers from devices, which container engines add to every root.
try_static() {
  if ldd "$program" > "$folder/log" 2>&1 && ! grep -q "statically linked" "$folder/log"; then
    skip "an empty root and the image: the program is not static"
    return
  fi
  if [ "$(id -u)" -ne 0 ]; then
    skip "an empty root and the image: only root may change the root"
    return
  fi
  local empty=$folder/root
  mkdir -p "$empty/project" "$empty/dev"
  mknod --mode=666 "$empty/dev/random" c 1 8
  mknod --mode=666 "$empty/dev/urandom" c 1 9
  cp "$program" "$empty/assize"
  write_project "$empty/project" "We refund it."
  expect 0 chroot --userspec=65532:65532 "$empty" /assize --version
  chmod 777 "$empty/project"
  expect 0 env -i "$(command -v chroot)" --userspec=65532:65532 "$empty" /assize eval /project/evals --judge offline --run-dir /project/run
  echo "ok: a static program in an empty root"

  if ! command -v buildah > /dev/null; then
    skip "the image: buildah is not installed"
    return
  fi
  mkdir -p "$folder/context"
  cp "$program" "$folder/context/assize"
  expect 0 buildah --storage-driver vfs --root "$folder/images" --runroot "$folder/images-run" build --isolation chroot \
    --file "$root/packaging/Dockerfile" --build-arg PROGRAM=assize \
    --output "$folder/unpacked" "$folder/context"
  (cd "$folder/unpacked" && find . -type f | sort) > "$folder/listed"
  echo ./assize > "$folder/expected"
  diff "$folder/expected" "$folder/listed" || fail "the image holds something else"
  # The tool makes the folder for its own user alone.
  chmod 755 "$folder/unpacked"
  expect 0 chroot --userspec=65532:65532 "$folder/unpacked" /assize --version
  echo "ok: image"
}

try_archive
try_action
try_gitlab
try_npm
try_extension
try_hooks
try_static
