# Asks a provider that is a function of Python: prints its answer as JSON. What it prints itself goes to stderr.
import asyncio
import importlib.util
import inspect
import json
import os
import sys
import tokenize

# Cached bytecode is told from a changed file by its time and size only.
sys.dont_write_bytecode = True

path, function, options, prompt_file, vars_file = sys.argv[1:6]
out = os.dup(1)
os.dup2(2, 1)

with open(prompt_file, encoding="utf-8", newline="") as file:
    prompt = file.read()
with open(vars_file, encoding="utf-8") as file:
    variables = json.load(file)

path = os.path.abspath(path)
name = os.path.basename(path).rsplit(".", 1)[0]
sys.path.insert(0, os.path.dirname(path))
spec = importlib.util.spec_from_file_location(name, path)
module = importlib.util.module_from_spec(spec)
sys.modules[name] = module
with tokenize.open(path) as file:
    exec(compile(file.read(), path, "exec"), module.__dict__)


async def ask():
    context = dict(vars=variables, prompt=dict(raw=prompt))
    answer = getattr(module, function)(prompt, json.loads(options), context)
    return await answer if inspect.isawaitable(answer) else answer


answer = asyncio.run(ask())
if not isinstance(answer, dict):
    answer = dict(output=answer)
if answer.get("error"):
    sys.exit(str(answer["error"]))
output = answer.get("output")
if output is None:
    sys.exit("the provider returned no output")

usage = answer.get("tokenUsage") or {}
reply = dict(
    text=output if isinstance(output, str) else json.dumps(output, ensure_ascii=False),
    token_usage=dict(input=usage.get("prompt"), output=usage.get("completion")),
    cost_usd=answer.get("cost"),
)
with os.fdopen(out, "w", encoding="utf-8") as stream:
    json.dump(reply, stream, ensure_ascii=False)
