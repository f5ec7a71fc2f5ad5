// Asks a provider that is a module of JavaScript: prints its answer as JSON. What it prints itself goes to stderr.
import { readFileSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [path, name, options, messagesFile, varsFile] = process.argv.slice(1);
process.stdout.write = process.stderr.write.bind(process.stderr);

const loaded = await import(pathToFileURL(resolve(path)));
const found = name ? loaded[name] ?? loaded.default?.[name] : loaded.default?.default ?? loaded.default;
if (typeof found !== 'function') throw new Error('the file exports no provider');

// Functions parse a prompt of several messages as JSON.
const messages = JSON.parse(readFileSync(messagesFile, 'utf8'));
const isText = messages.length === 1 && messages[0].role === 'user';
const prompt = isText ? messages[0].content : JSON.stringify(messages, null, 2);
const context = { vars: JSON.parse(readFileSync(varsFile, 'utf8')), prompt: { raw: prompt } };
const settings = JSON.parse(options);
const answer = found.prototype?.callApi
  ? await new found(settings).callApi(prompt, context, {})
  : await found(prompt, settings, context);
const given = typeof answer === 'object' && answer !== null && !Array.isArray(answer) ? answer : { output: answer };
if (given.error) throw new Error(String(given.error));
if (given.output === undefined || given.output === null) throw new Error('the provider returned no output');

const { prompt: input, completion: output } = given.tokenUsage ?? {};
const reply = {
  text: typeof given.output === 'string' ? given.output : JSON.stringify(given.output),
  is_json: typeof given.output !== 'string',
  token_usage: { input, output },
  cost_usd: given.cost,
  guardrails: given.guardrails,
  trace: given.trace,
};
const bytes = Buffer.from(JSON.stringify(reply));
for (let sent = 0; sent < bytes.length; ) sent += writeSync(1, bytes, sent);
process.exit(0);
