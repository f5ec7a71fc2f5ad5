// Calls a function of JavaScript around the use of a workspace. Its context is on stdin; what it prints goes to stderr.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [path, name, hook, folder] = process.argv.slice(1);
process.stdout.write = process.stderr.write.bind(process.stderr);

const context = Object.assign(JSON.parse(readFileSync(0, 'utf8')), { hook_name: hook, eval_dir: folder });
const loaded = await import(pathToFileURL(path));
const found = [loaded[name], loaded.default?.[name], loaded.default].find((place) => typeof place === 'function');
if (!found) throw new Error(`the file exports no function '${name}'`);
await (name === hook ? found(context, { hookName: hook }) : found(hook, context));
process.exit(0);
