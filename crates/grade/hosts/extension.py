# Calls the functions of one file for a whole run. Each line of stdin is a call, {id, function, arguments, context}; the answer is
# a line of stdout, {id, value} or {id, threw}. A call without arguments only looks for the function. `context` is null if nothing
# is made of what is returned. What the file itself prints goes to stderr.
import asyncio
import inspect
import json
import os
import sys

path = sys.argv[1]
out = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)
sys.stdin.reconfigure(encoding="utf-8")
loop = asyncio.new_event_loop()
asyncio.set_event_loop(loop)
module = None


def call(asked):
    global module
    if module is None:
        module = load_file(path)
    function = getattr(module, asked["function"], None)
    if not callable(function):
        raise NameError(f"the file has no function '{asked['function']}'")
    if asked["arguments"] is None:
        return True
    value = function(*asked["arguments"])
    if inspect.isawaitable(value):
        value = loop.run_until_complete(value)
    return None if asked["context"] is None else value or None


for line in sys.stdin:
    asked = json.loads(line)
    try:
        answer = json.dumps({"id": asked["id"], "value": call(asked)}, default=plain, allow_nan=False)
    except Exception as error:
        answer = json.dumps({"id": asked["id"], "threw": f"{type(error).__name__}: {error}"})
    sys.stdout.flush()
    out.write(answer + "\n")
    out.flush()
sys.stdout.flush()
sys.stderr.flush()
os._exit(0)
