const words = (text) =>
  ` ${text.toLowerCase().replace(/\s+/g, ' ').trim()} `
    .replace(/([\s([{<])"(?=\S)/g, '$1 `` ')
    .replace(/"/g, " '' ")
    .replace(/\.{3}/g, ' ... ')
    .replace(/[:,](?!\d)/g, ' $& ')
    .replace(/[;@#$%&]/g, ' $& ')
    .replace(/([^.])(?<!\b[a-z]\.[a-z])(\.)([\])}>'\s]*)$/, '$1 $2$3 ')
    .replace(/[?!(){}<>[\]]/g, ' $& ')
    .replace(/--/g, ' -- ')
    .replace(/([^'])' /g, "$1 ' ")
    .replace(/'([smd]) /g, " '$1 ")
    .replace(/('ll|'re|'ve|n't) /g, ' $1 ')
    .replace(/\b(can(?=not\b)|d(?='ye\b)|gim(?=me\b)|gon(?=na\b)|got(?=ta\b)|lem(?=me\b)|more(?='n\b)|wan(?=na ))/g, '$1 ')
    .replace(/(^|\s)('t)(is|was)\b/g, '$1$2 $3')
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
