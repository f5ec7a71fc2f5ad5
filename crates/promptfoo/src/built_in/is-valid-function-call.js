let calls = context.toolCalls ?? [];
const isText = calls.length === 0;
if (isText) {
  let value = output;
  if (typeof value === 'string') {
    try {
      value = JSON.parse(value);
    } catch {
      return verdict(false, 'the answer is no call of a function');
    }
  }
  calls = [].concat(value).map((one) => one?.function ?? one);
}
const problems = [];
for (const call of calls) {
  let given = call?.arguments ?? call?.args;
  // Any JSON object may have a name; a call of a function has arguments as well.
  if (given === undefined && isText) {
    problems.push('a call has no arguments');
    continue;
  }
  given ??= {};
  if (typeof given === 'string') {
    try {
      given = JSON.parse(given);
    } catch {
      problems.push('the arguments are not JSON');
      continue;
    }
  }
  if (typeof call?.name !== 'string' || call.name === '') problems.push('a call has no name');
  if (given === null || typeof given !== 'object' || Array.isArray(given)) problems.push('the arguments are no object');
}
return verdict(calls.length > 0 && problems.length === 0, problems.join('; ') || `${calls.length} calls`);
