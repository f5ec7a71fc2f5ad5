const value = context.config.value;
const list = typeof value === 'string' ? value.split(',') : [].concat(value);
const expected = new Set(list.map((one) => (typeof one === 'string' ? one.trim() : one.name)));
const actual = new Set(toolCalls(context).map((call) => call.name));
const common = [...actual].filter((name) => expected.has(name)).length;
const score = expected.size + actual.size === 0 ? 1 : (2 * common) / (expected.size + actual.size);
return { pass: score >= (context.config.threshold ?? 1), score, reason: `F1 is ${score.toFixed(2)}` };
