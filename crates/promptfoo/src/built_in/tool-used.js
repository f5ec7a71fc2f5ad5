const calls = toolCalls(context);
const wanted = [].concat(context.config.value).map((one) => (typeof one === 'string' ? { name: one } : one));
if (context.config.any) {
  const used = wanted.filter((one) => calls.some((call) => matchesName(call.name, one)));
  return verdict(used.length > 0, used.length > 0 ? `called ${firstThree(used.map((one) => one.name))}` : 'none was called');
}
const failures = [];
for (const one of wanted) {
  const found = calls.filter((call) => matchesName(call.name, one)).length;
  const min = one.min ?? (one.max === undefined ? 1 : 0);
  if (found < min || (one.max !== undefined && found > one.max)) {
    failures.push(`${one.name ?? one.pattern}: ${found} calls`);
  }
}
return verdict(failures.length === 0, failures.join('; ') || 'called as expected');
