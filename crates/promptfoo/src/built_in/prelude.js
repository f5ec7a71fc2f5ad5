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
  const escaped = (wanted.pattern ?? wanted.name ?? wanted.tool).replace(/[.+^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace(/\*/g, '.*').replace(/\?/g, '.')}$`, 'is').test(name);
};
const contains = (actual, expected, exact) => {
  if (expected === null || typeof expected !== 'object') return actual === expected;
  if (actual === null || typeof actual !== 'object') return false;
  const keys = Object.keys(expected);
  if (Array.isArray(expected) !== Array.isArray(actual)) return false;
  if ((exact || Array.isArray(expected)) && keys.length !== Object.keys(actual).length) return false;
  return keys.every((key) => contains(actual[key], expected[key], exact));
};
const readXml = (text, isWhole) => {
  const top = { children: [], attributes: [], text: false, isComplete: false };
  const elements = [];
  const result = (problem) => ({ problem, top, elements });
  let open = top;
  const parts = /<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<!\[CDATA\[[\s\S]*?\]\]>|<!DOCTYPE[^>]*>|<(\/?)([A-Za-z_][\w.:-]*)((?:\s+[\w.:-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>|[^<]+|</g;
  for (const [part, close, name, attributes, empty] of text.matchAll(parts)) {
    if (part === '<') {
      if (isWhole) return result('a "<" begins no element');
    } else if (name === undefined) {
      const isText = part.trim() !== '' && (!part.startsWith('<') || part.startsWith('<![CDATA['));
      if (isText && open === top && isWhole) return result('text outside of the elements');
      open.text = open.text || isText;
    } else if (close) {
      const isPair = open !== top && open.name === name;
      if (!isPair && isWhole) return result(`</${name}> closes no element`);
      open.isComplete = isPair;
      open = isPair ? open.parent : top;
    } else {
      if (isWhole && open === top && top.children.length > 0) return result('more than one outer element');
      const names = [...attributes.matchAll(/([\w.:-]+)\s*=\s*(?:"[^"]*"|'[^']*')/g)].map((found) => found[1]);
      const element = { name, children: [], attributes: names, text: false, isComplete: Boolean(empty), parent: open };
      open.children.push(element);
      elements.push(element);
      if (!empty) open = element;
    }
  }
  if (open !== top && isWhole) return result(`<${open.name}> is not closed`);
  return result(elements.length === 0 ? 'no elements' : null);
};
const missingElements = (nodes, paths) => {
  const valueOf = (node) => (node.children.length > 0 || node.attributes.length > 0 ? node : 'text');
  const step = (value, key) => {
    if (Array.isArray(value)) return /^(0|[1-9]\d*)$/.test(key) ? value[key] : undefined;
    if (typeof value !== 'object') return undefined;
    if (key === '#text') return value.text ? 'text' : undefined;
    if (key.startsWith('@_')) return value.attributes.includes(key.slice(2)) ? 'text' : undefined;
    const found = value.children.filter((child) => child.name === key).map(valueOf);
    return found.length > 1 ? found : found[0];
  };
  const top = { children: nodes, attributes: [], text: false };
  return (paths ?? []).filter((path) => path.split('.').reduce(step, top) === undefined);
};
