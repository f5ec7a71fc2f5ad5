const calls = toolCalls(context);
const value = Array.isArray(context.config.value) ? { steps: context.config.value } : context.config.value;
const steps = value.steps.map((one) => (typeof one === 'string' ? { name: one } : one));
const mode = value.mode ?? 'in_order';
const names = calls.map((call) => call.name).join(', ') || 'no calls';
if (mode === 'exact') {
  const same = calls.length === steps.length && steps.every((step, at) => matchesName(calls[at].name, step));
  return verdict(same, `called: ${names}`);
}
let at = 0;
for (const call of calls) {
  if (at < steps.length && matchesName(call.name, steps[at])) at += 1;
}
return verdict(at === steps.length, `${at} of ${steps.length} steps in order; called: ${names}`);
