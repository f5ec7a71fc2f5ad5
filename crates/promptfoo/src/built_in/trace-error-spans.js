const given = context.config.value;
const { pattern = '*', ...limits } = typeof given === 'number' ? { max_count: given } : given ?? {};
const most = limits.max_count ?? (limits.max_percentage == null ? 0 : Infinity);
const share = limits.max_percentage ?? 100;
const isError = ({ statusCode, statusMessage, attributes = {} }) => {
  if (statusCode === 2 || statusCode >= 400 || Number(attributes['http.status_code']) >= 400) return true;
  const says = (value) => value === true || value === 'true' || (typeof value === 'object' && value !== null);
  if (['error', 'exception', 'failed', 'failure'].some((key) => says(attributes[key]))) return true;
  if (attributes['otel.status_code'] === 'ERROR' || attributes['status.code'] === 'ERROR') return true;
  return /error|failed|failure|exception|timeout|abort/i.test(statusMessage ?? '');
};
const found = matchingSpans(context, pattern);
if (found.length === 0) return verdict(true, `no span matches "${pattern}"`);
const failed = found.filter(isError).map((span) => span.name + (span.statusMessage ? ` (${span.statusMessage})` : ''));
const percent = (100 * failed.length) / found.length;
const names = failed.length > 0 ? `: ${firstThree(failed)}` : '';
return verdict(failed.length <= most && percent <= share, `${failed.length} of ${found.length} spans failed${names}`);
