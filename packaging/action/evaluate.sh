#!/usr/bin/env bash
# Runs the evals, compares them with the baseline if there is one, and writes the reports. `assize` is on the path.
#
# ASSIZE_EVALS       files and folders, one per line
# ASSIZE_JUDGE       as in --judge (optional)
# ASSIZE_BUDGET_USD  as in --budget-usd (optional)
# ASSIZE_ARGS        more arguments of `assize eval`, one per line (optional)
# ASSIZE_FAIL_ON     what fails the comparison with the baseline, as in `assize compare --fail-on` (optional)
# ASSIZE_MAX_DROP    as in `assize compare --max-drop` (optional)
# ASSIZE_FOLDER      folder for `base`, `change` and the reports
#
# Writes the outputs `exit-code`, `complete`, `run`, `report`, `junit` and `comment`, and ends with the exit code of the gate: that of the
# comparison where there is a baseline and every case was graded, else that of the evals.
set -euo pipefail

folder=${ASSIZE_FOLDER:?the folder is not set}
mkdir -p "$folder"
base=$folder/base
change=$folder/change
rm -rf "$change"

# Reads the lines of a text into the array `lines`, leaving out empty ones.
read_lines() {
  lines=()
  while IFS= read -r line; do
    if [ -n "$line" ]; then lines+=("$line"); fi
  done <<< "$1"
}

read_lines "${ASSIZE_EVALS:-evals}"
evaluate=(eval "${lines[@]}" --run-dir "$change")
if [ -n "${ASSIZE_JUDGE:-}" ]; then evaluate+=(--judge "$ASSIZE_JUDGE"); fi
if [ -n "${ASSIZE_BUDGET_USD:-}" ]; then evaluate+=(--budget-usd "$ASSIZE_BUDGET_USD"); fi
read_lines "${ASSIZE_ARGS:-}"
evaluate+=(${lines[@]+"${lines[@]}"})

code=0
assize "${evaluate[@]}" || code=$?

# Without a run there is nothing to compare or to report: an invalid file, or an argument that does not exist.
if [ ! -e "$change/run.json" ]; then
  if [ "$code" -eq 0 ]; then code=2; fi
  if [ -n "${GITHUB_OUTPUT:-}" ]; then echo "exit-code=$code" >> "$GITHUB_OUTPUT"; fi
  exit "$code"
fi

# A run that a judge or the budget cut short is no baseline.
complete=false
if [ "$code" -le 1 ]; then complete=true; fi

reported=()
if [ -e "$base/run.json" ]; then
  reported=(--baseline "$base")

  # 1 says that a case failed. Which failures are new is for the comparison to say; 2 and more are not.
  if [ "$complete" = true ]; then
    compare=(compare "$base" "$change" --fail-on "${ASSIZE_FAIL_ON:-worse}")
    if [ -n "${ASSIZE_MAX_DROP:-}" ]; then compare+=(--max-drop "$ASSIZE_MAX_DROP"); fi
    code=0
    assize "${compare[@]}" || code=$?
  fi
fi

assize report "$change" ${reported[@]+"${reported[@]}"} \
  -o "$folder/report.html" -o "$folder/comment.md" -o "$folder/junit.xml"
assize report "$change" --format github

if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
  cat "$folder/comment.md" >> "$GITHUB_STEP_SUMMARY"
fi
if [ -n "${GITHUB_OUTPUT:-}" ]; then
  {
    echo "exit-code=$code"
    echo "complete=$complete"
    echo "run=$change"
    echo "report=$folder/report.html"
    echo "junit=$folder/junit.xml"
    echo "comment=$folder/comment.md"
  } >> "$GITHUB_OUTPUT"
fi

exit "$code"
