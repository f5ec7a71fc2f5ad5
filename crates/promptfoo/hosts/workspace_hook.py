# Calls a function of Python around the use of a workspace. Its context is on stdin; what it prints goes to stderr.
import asyncio
import inspect
import json
import os
import sys

path, function, hook, folder = sys.argv[1:5]
os.dup2(2, 1)
context = json.load(sys.stdin)
context.update(hook_name=hook, eval_dir=folder)

module = load_file(path)


async def call():
    found = getattr(module, function)
    value = found(context, dict(hookName=hook)) if function == hook else found(hook, context)
    return await value if inspect.isawaitable(value) else value


asyncio.run(call())
