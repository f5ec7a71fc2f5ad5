const verdict = (pass, reason) => ({ pass, score: pass ? 1 : 0, reason });
const toolCalls = (context) => {
  if (!context.toolCalls) throw new Error('the target does not report which tools it called');
  return context.toolCalls;
};
const matchingSpans = (context, pattern) => {
  if (!context.trace) throw new Error('the target does not report spans of OpenTelemetry');
  const escaped = pattern.replace(/[.+^${}()|[\]\\]/g, '\\$&').replace(/\*/g, '.*').replace(/\?/g, '.');
  const expression = new RegExp(`^${escaped}$`, 'i');
  return context.trace.spans.filter((span) => expression.test(span.name ?? ''));
};
const firstThree = (texts) => texts.slice(0, 3).join(', ') + (texts.length > 3 ? ` and ${texts.length - 3} more` : '');
const matchesName = (name, wanted) => {
  if (wanted.pattern === undefined) return name === (wanted.name ?? wanted.tool);
  const parts = wanted.pattern.split('*').map((part) => part.replace(/[.+^${}()|[\]\\?]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(name);
};
const contains = (actual, expected, exact) => {
  if (expected === null || typeof expected !== 'object') return actual === expected;
  if (actual === null || typeof actual !== 'object') return false;
  const keys = Object.keys(expected);
  if (exact && keys.length !== Object.keys(actual).length) return false;
  return keys.every((key) => contains(actual[key], expected[key], exact));
};
const xmlProblem = (text) => {
  const open = [];
  let roots = 0;
  const parts = /<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<!\[CDATA\[[\s\S]*?\]\]>|<!DOCTYPE[^>]*>|<(\/?)([A-Za-z_][\w.:-]*)((?:\s+[\w.:-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>|[^<]+|</g;
  for (const [part, close, name, , empty] of text.matchAll(parts)) {
    if (part === '<') return 'a "<" begins no element';
    if (name === undefined) {
      if (open.length === 0 && !part.startsWith('<') && part.trim() !== '') return 'text outside of the elements';
      continue;
    }
    if (close) {
      if (open.pop() !== name) return `</${name}> closes no element`;
    } else {
      if (open.length === 0 && (roots += 1) > 1) return 'more than one outer element';
      if (!empty) open.push(name);
    }
  }
  if (open.length > 0) return `<${open.pop()}> is not closed`;
  return roots === 0 ? 'no elements' : null;
};
