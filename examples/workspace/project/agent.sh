# Stands for a coding agent: adds the function that the prompt names.
name=$(printf '%s' "$1" | sed -n 's/.*function `\([a-z]*\)`.*/\1/p')
case $name in
  subtract) sign=- ;;
  multiply) sign='*' ;;
  *) echo "I know no function $name." >&2; exit 1 ;;
esac
printf '%s() { echo $(($1 %s $2)); }\n' "$name" "$sign" >> src/calc.sh
echo "Changed src/calc.sh: it has $name now."
