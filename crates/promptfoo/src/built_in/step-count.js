const value = typeof context.config.value === 'object' ? context.config.value : { max: context.config.value };
const pattern = value.pattern === undefined ? undefined : { pattern: value.pattern };
const count = toolCalls(context).filter((call) => !pattern || matchesName(call.name, pattern)).length;
const fits = count >= (value.min ?? 0) && (value.max == null || count <= value.max);
return verdict(fits, `${count} calls of tools`);
