# Before each case: whatever the project needs to be worked on.
test -f "$1/src/calc.sh"
