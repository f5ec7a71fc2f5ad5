const count = String(output).trim().split(/\s+/).filter((word) => word !== '').length;
const value = context.config.value;
const limits = value !== null && typeof value === 'object' ? value : { min: Number(value), max: Number(value) };
const fits = count >= (limits.min ?? 0) && (limits.max == null || count <= limits.max);
return verdict(fits, `${count} words`);
