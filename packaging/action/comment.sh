#!/usr/bin/env bash
# Writes the report into one comment of the pull request: edits the comment that an earlier run wrote, or adds one.
# `gh` and GH_TOKEN are there.
#
# ASSIZE_COMMENT      file with the text; its first line is a marker that names the suites
# ASSIZE_PULL         number of the pull request
# GITHUB_REPOSITORY   OWNER/REPOSITORY
set -euo pipefail

file=${ASSIZE_COMMENT:?the file is not set}
pull=${ASSIZE_PULL:?the number of the pull request is not set}
repository=${GITHUB_REPOSITORY:?the repository is not set}
marker=$(head -n 1 "$file")
case $marker in
  '<!-- assize: '*' -->') ;;
  *)
    echo "$file does not begin with the marker of a report" >&2
    exit 2
    ;;
esac

# The marker is text of the eval files, so it is handed over as data, not written into the query.
export MARKER=$marker
id=$(gh api --paginate "repos/$repository/issues/$pull/comments" \
  --jq '.[] | select(.body | startswith(env.MARKER)) | .id' | head -n 1)
if [ -n "$id" ]; then
  gh api --method PATCH "repos/$repository/issues/comments/$id" --field "body=@$file" --silent
else
  gh api --method POST "repos/$repository/issues/$pull/comments" --field "body=@$file" --silent
fi
