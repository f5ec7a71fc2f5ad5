const { pattern = '*', max, percentile } = context.config.value;
const timed = matchingSpans(context, pattern)
  .filter((span) => span.startTime != null && span.endTime != null)
  .map((span) => ({ name: span.name, time: span.endTime - span.startTime }))
  .sort((one, other) => one.time - other.time);
if (timed.length === 0) return verdict(true, `no span with its times matches "${pattern}"`);
const at = percentile == null ? timed.length - 1 : Math.max(0, Math.ceil((percentile / 100) * timed.length) - 1);
const what = percentile == null ? 'the longest span' : `percentile ${percentile} of ${timed.length} spans`;
const slow = timed.filter((span) => span.time > max).reverse().map((span) => `${span.name} (${span.time} ms)`);
const fits = timed[at].time <= max;
return verdict(fits, `${what} takes ${timed[at].time} ms, at most ${max} ms${fits ? '' : `: ${firstThree(slow)}`}`);
