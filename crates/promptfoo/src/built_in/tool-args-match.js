const value = context.config.value;
const expected = value.args ?? value.arguments ?? {};
const exact = value.mode === 'exact';
const candidates = toolCalls(context).filter((call) => matchesName(call.name, value));
const found = candidates.some((call) => contains(call.arguments ?? {}, expected, exact));
return verdict(found, found ? 'called with these arguments' : `${candidates.length} calls, none with these arguments`);
