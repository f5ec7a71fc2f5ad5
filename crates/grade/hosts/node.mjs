// Calls a function of an author: reads {file, function, arguments} from stdin and prints what it returned.
// What the function itself prints goes to stderr.
import { readFileSync, writeSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const given = JSON.parse(readFileSync(0, 'utf8'));
process.stdout.write = process.stderr.write.bind(process.stderr);

const pick = (loaded) => {
  const places = given.function
    ? [loaded[given.function], loaded.default?.[given.function]]
    : [loaded.default, loaded.default?.default, loaded.default?.[given.usual], loaded[given.usual]];
  return places.find((place) => typeof place === 'function');
};
const describe = (error) => (error instanceof Error ? `${error.name}: ${error.message}` : String(error));
const isBroken = (error) =>
  error instanceof ReferenceError || error instanceof SyntaxError || /MODULE_NOT_FOUND|ERR_(MODULE|PACKAGE|UNKNOWN)/.test(error?.code ?? '');

const call = async () => {
  let found;
  try {
    found = pick(await import(pathToFileURL(given.file)));
  } catch (error) {
    return { broken: describe(error) };
  }
  if (!found) return { broken: `the file exports no function${given.function ? ` '${given.function}'` : ''}` };

  try {
    const value = await found(...given.arguments);
    if (typeof value === 'number' && !Number.isFinite(value)) return { broken: `it returned ${value}` };
    return { value: value === undefined || typeof value === 'function' ? null : value };
  } catch (error) {
    return isBroken(error) && !(error instanceof SyntaxError) ? { broken: describe(error) } : { threw: describe(error) };
  }
};

const reply = Buffer.from(JSON.stringify(await call()));
for (let sent = 0; sent < reply.length; ) sent += writeSync(1, reply, sent);
process.exit(0);
