const value = context.config.value;
const list = typeof value === 'string' ? value.split(',') : [].concat(value);
const expected = new Set(list.map((one) => (typeof one === 'string' ? one.trim() : one.name)));
const callsOfText = () => {
  let value = output;
  if (typeof value === 'string') {
    try {
      value = JSON.parse(value);
    } catch {
      return [];
    }
  }
  const calls = [].concat(value?.tool_calls ?? value).map((one) => one?.function ?? one?.functionCall ?? one);
  return calls.every((call) => typeof call?.name === 'string') ? calls : [];
};
// Targets that are programs give calls in the answer.
const inText = context.toolCalls?.length > 0 ? [] : callsOfText();
const calls = inText.length > 0 ? inText : toolCalls(context);
const actual = new Set(calls.map((call) => call.name));
const common = [...actual].filter((name) => expected.has(name)).length;
const score = expected.size + actual.size === 0 ? 1 : (2 * common) / (expected.size + actual.size);
return { pass: score >= (context.config.threshold ?? 1), score, reason: `F1 is ${score.toFixed(2)}` };
