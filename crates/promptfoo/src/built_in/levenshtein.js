const [from, to] = [[...String(output)], [...String(context.config.value)]];
let row = to.map((_, at) => at + 1);
let distance = from.length === 0 ? to.length : 0;
for (let line = 0; line < from.length; line += 1) {
  let diagonal = line;
  let left = line + 1;
  for (let at = 0; at < to.length; at += 1) {
    const above = row[at];
    left = Math.min(above + 1, left + 1, diagonal + (from[line] === to[at] ? 0 : 1));
    diagonal = above;
    row[at] = left;
  }
  distance = to.length === 0 ? line + 1 : left;
}
const most = context.config.threshold ?? 5;
return verdict(distance <= most, `${distance} edits, at most ${most}`);
