# Calls a function of Python around the use of a workspace. Its context is on stdin; what it prints goes to stderr.
import asyncio
import importlib.util
import inspect
import json
import os
import sys
import tokenize

# Cached bytecode is told from a changed file by its time and size only.
sys.dont_write_bytecode = True

path, function, hook, folder = sys.argv[1:5]
os.dup2(2, 1)
context = json.load(sys.stdin)
context.update(hook_name=hook, eval_dir=folder)

name = os.path.basename(path).rsplit(".", 1)[0]
sys.path.insert(0, os.path.dirname(path))
spec = importlib.util.spec_from_file_location(name, path)
module = importlib.util.module_from_spec(spec)
sys.modules[name] = module
with tokenize.open(path) as file:
    exec(compile(file.read(), path, "exec"), module.__dict__)


async def call():
    found = getattr(module, function)
    value = found(context, dict(hookName=hook)) if function == hook else found(hook, context)
    return await value if inspect.isawaitable(value) else value


asyncio.run(call())
