// Calls the functions of one file for a whole run. Each line of stdin is a call, {id, function, arguments, context}; the answer
// is a line of stdout, {id, value} or {id, threw}. A call without arguments only looks for the function. `context` is the index of the argument that the function may change, null if
// nothing is made of it. What the file itself prints goes to stderr.
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const path = process.argv[1];
process.stdout.write = process.stderr.write.bind(process.stderr);
const describe = (error) => (error instanceof Error ? `${error.name}: ${error.message}` : String(error));

const pick = (loaded, name) => {
  const named = name ? [loaded[name], loaded.default?.[name]] : [];
  return [...named, loaded.default, loaded.default?.default, loaded].find((place) => typeof place === 'function');
};

let module;
const find = async (name) => {
  module ??= import(pathToFileURL(path));
  const found = pick(await module, name);
  if (!found) throw new Error(`the file exports no function${name ? ` '${name}'` : ''}`);
  return found;
};

const call = async ({ function: name, arguments: given, context }) => {
  const found = await find(name);
  if (!given) return true;
  const value = await found(...given);
  if (context === null) return null;
  // What a function changes in place counts as returned.
  return value ? value : given[context];
};

const send = (answer) => {
  let text;
  try {
    text = JSON.stringify(answer);
  } catch (error) {
    text = JSON.stringify({ id: answer.id, threw: `what it returned is no JSON: ${describe(error)}` });
  }
  const bytes = Buffer.from(`${text}\n`);
  for (let sent = 0; sent < bytes.length; ) {
    try {
      sent += writeSync(1, bytes, sent);
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
    }
  }
};

const lines = createInterface({ input: process.stdin, crlfDelay: Infinity });
lines.on('line', (line) => {
  const asked = JSON.parse(line);
  call(asked).then(
    (value) => send({ id: asked.id, value: value ?? null }),
    (error) => send({ id: asked.id, threw: describe(error) }),
  );
});
lines.on('close', () => process.exit(0));
