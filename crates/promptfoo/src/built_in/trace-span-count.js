const { pattern, min, max } = context.config.value;
const found = matchingSpans(context, pattern);
const fits = found.length >= (min ?? 0) && (max == null || found.length <= max);
const names = firstThree([...new Set(found.map((span) => span.name))]);
return verdict(fits, `${found.length} spans match "${pattern}"${names ? `: ${names}` : ''}`);
