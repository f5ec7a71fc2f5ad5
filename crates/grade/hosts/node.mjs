// Calls a function of an author: reads {file, function, calls} from stdin, where each call is a list of arguments, and prints
// what it returned each time. What the function itself prints goes to stderr. With `takes_value`, the file may export the
// value itself.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const given = JSON.parse(readFileSync(0, 'utf8'));
const print = process.stdout.write.bind(process.stdout);
process.stdout.write = process.stderr.write.bind(process.stderr);

const address = pathToFileURL(given.file).href;
const pick = (loaded) => {
  const places = given.function
    ? [loaded[given.function], loaded.default?.[given.function]]
    : [loaded.default, loaded.default?.default, loaded.default?.[given.usual], loaded[given.usual]];
  const found = places.find((place) => typeof place === 'function');
  const value = places.find((place) => place !== undefined && place !== null);
  return found ?? (given.takes_value && value !== undefined ? () => value : undefined);
};
const describe = (error) => {
  if (!(error instanceof Error)) return String(error);
  const [, line] = String(error.stack).split(/\n\s+at /).join(' ').split(`${address}:`);
  const place = line ?? String(error.stack).split(`${given.file}:`)[1];
  return `${error.name}: ${error.message}${place ? ` (line ${Number.parseInt(place, 10)})` : ''}`;
};
const isBroken = (error) =>
  error instanceof ReferenceError || error instanceof SyntaxError || /MODULE_NOT_FOUND|ERR_(MODULE|PACKAGE|UNKNOWN)/.test(error?.code ?? '');

const call = async (found, values) => {
  try {
    const value = await found(...values);
    if (typeof value === 'number' && !Number.isFinite(value)) return { broken: `it returned ${value}` };
    return { value: value === undefined || typeof value === 'function' ? null : value };
  } catch (error) {
    return isBroken(error) && !(error instanceof SyntaxError) ? { broken: describe(error) } : { threw: describe(error) };
  }
};

const callAll = async () => {
  let found;
  try {
    found = pick(await import(address));
  } catch (error) {
    return { broken: describe(error) };
  }
  if (!found) return { broken: `the file exports no function${given.function ? ` '${given.function}'` : ''}` };

  const results = [];
  for (const values of given.calls) results.push(await call(found, values));
  return { results };
};

const reply = JSON.stringify(await callAll());
print(reply, () => process.exit(0));
