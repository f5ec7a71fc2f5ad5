# Grades what the agent left: runs the project in the workspace.
place=$(sed -n 's/.*"workspace_path":"\([^"]*\)".*/\1/p')
. "$place/src/calc.sh"
if [ "$(add 2 3)" = 5 ] && { [ "$(subtract 5 3 2>/dev/null)" = 2 ] || [ "$(multiply 5 3 2>/dev/null)" = 15 ]; }; then
  echo '{"score": 1, "assertions": [{"text": "the old and the new function work", "passed": true}]}'
else
  echo '{"score": 0, "assertions": [{"text": "the old and the new function work", "passed": false}]}'
fi
