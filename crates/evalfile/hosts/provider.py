# Asks a provider that is a function of Python: prints its output. What it prints itself goes to stderr.
import asyncio
import importlib.util
import inspect
import json
import os
import sys

path, function, options, prompt = sys.argv[1:5]
out = os.dup(1)
os.dup2(2, 1)

path = os.path.abspath(path)
name = os.path.basename(path).rsplit(".", 1)[0]
sys.path.insert(0, os.path.dirname(path))
spec = importlib.util.spec_from_file_location(name, path)
module = importlib.util.module_from_spec(spec)
sys.modules[name] = module
spec.loader.exec_module(module)


async def ask():
    answer = getattr(module, function)(prompt, json.loads(options), dict(vars=dict()))
    return await answer if inspect.isawaitable(answer) else answer


answer = asyncio.run(ask())
if isinstance(answer, dict):
    if answer.get("error"):
        sys.exit(str(answer["error"]))
    answer = answer.get("output")
if answer is None:
    sys.exit("the provider returned no output")
text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
with os.fdopen(out, "w", encoding="utf-8") as stream:
    stream.write(text)
