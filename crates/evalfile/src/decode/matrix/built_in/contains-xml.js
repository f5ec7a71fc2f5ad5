const text = String(output);
const openings = [...text.matchAll(/<([A-Za-z_][\w.:-]*)[^<>]*>/g)];
for (const opening of openings) {
  const close = text.lastIndexOf(`</${opening[1]}>`);
  const end = close < 0 ? opening.index + opening[0].length : close + opening[1].length + 3;
  if (xmlProblem(text.slice(opening.index, end)) === null) return verdict(true, `found <${opening[1]}>`);
}
return verdict(false, 'no XML in the answer');
