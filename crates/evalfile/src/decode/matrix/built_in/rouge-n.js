const words = (text) =>
  ` ${text} `
    .replace(/\.{3}/g, ' ... ')
    .replace(/([\s([{<])"/g, '$1 `` ')
    .replace(/"/g, " '' ")
    .replace(/[;@#$%&?!()<>{}[\]]/g, ' $& ')
    .replace(/[:,](?!\d)/g, ' $& ')
    .replace(/--/g, ' -- ')
    .replace(/(?<![.\s]|\b[A-Z]|\b(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|e\.g|i\.e))\.(?=[\s')}\]>]*(?:$|\s[A-Z`]))/g, ' .')
    .replace(/([^'\s])'(?=\s)/g, "$1 '")
    .replace(/'(?=[sSmMdD]\s)/g, " '")
    .replace(/('ll|'re|'ve|n't)(?=\s)/gi, ' $1')
    .replace(/(\bcan)(not\b)/gi, '$1 $2')
    .split(/\s+/)
    .filter((word) => word !== '');
const [answer, reference] = [words(output), words(context.config.value)];
const counts = new Map();
for (const word of reference) counts.set(word, (counts.get(word) ?? 0) + 1);
let common = 0;
for (const word of answer) {
  if ((counts.get(word) ?? 0) > 0) {
    counts.set(word, counts.get(word) - 1);
    common += 1;
  }
}
const score = common === 0 ? 0 : (2 * common) / (answer.length + reference.length);
const line = context.config.threshold ?? 0.75;
return { pass: score >= line, score, reason: `ROUGE-1 is ${score.toFixed(2)}, at least ${line}` };
