const words = (text) => String(text).toLowerCase().split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
const [answer, reference] = [words(output), words(context.config.value)];
const counts = new Map();
for (const word of answer) counts.set(word, (counts.get(word) ?? 0) + 1);
let common = 0;
for (const word of reference) {
  if ((counts.get(word) ?? 0) > 0) {
    counts.set(word, counts.get(word) - 1);
    common += 1;
  }
}
const score = reference.length === 0 ? 0 : common / reference.length;
const line = context.config.threshold ?? 0.75;
return { pass: score >= line, score, reason: `ROUGE-1 recall is ${score.toFixed(2)}, at least ${line}` };
