// Asks a provider that is a module of JavaScript: prints its output. What it prints itself goes to stderr.
import { writeSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [path, name, options, prompt] = process.argv.slice(1);
process.stdout.write = process.stderr.write.bind(process.stderr);

const loaded = await import(pathToFileURL(resolve(path)));
const found = name ? loaded[name] ?? loaded.default?.[name] : loaded.default?.default ?? loaded.default;
if (typeof found !== 'function') throw new Error('the file exports no provider');

const context = { vars: {}, prompt: { raw: prompt } };
const settings = JSON.parse(options);
const answer = found.prototype?.callApi
  ? await new found(settings).callApi(prompt, context, {})
  : await found(prompt, settings, context);
if (answer?.error) throw new Error(String(answer.error));
const output = typeof answer === 'object' && answer !== null ? answer.output : answer;
if (output === undefined || output === null) throw new Error('the provider returned no output');

const bytes = Buffer.from(typeof output === 'string' ? output : JSON.stringify(output));
for (let sent = 0; sent < bytes.length; ) sent += writeSync(1, bytes, sent);
process.exit(0);
