const { problem, top } = readXml(String(output).trim(), true);
if (problem !== null) return verdict(false, problem);
const missing = missingElements(top.children, context.config.value);
return verdict(missing.length === 0, missing.length === 0 ? 'the elements are balanced' : `without ${firstThree(missing)}`);
