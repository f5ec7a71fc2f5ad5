# Calls a function of an author: reads {code, file, function, calls} from stdin, where each call is a list of arguments, and
# prints what it returned each time. What the function itself prints goes to stderr.
import asyncio
import inspect
import json
import os
import sys
import traceback

BROKEN = (NameError, ImportError, SyntaxError, MemoryError, RecursionError)


def find(given):
    if given["file"]:
        found = load_file(given["file"])
        for part in given["function"].split("."):
            if not hasattr(found, part):
                raise NameError(f"the file has no function '{given['function']}'")
            found = getattr(found, part)
        return found

    code = given["code"]
    lines = code.split("\n")
    if len(lines) == 1:
        one = code.strip()
        lines = [one if one.startswith("return ") else "return " + one]
    indent = next((line[: len(line) - len(line.lstrip())] for line in lines if line[:1] in " \t" and line.strip()), "    ")
    scope = {}
    exec("import json\ndef main(output, context):\n" + "\n".join(indent + line for line in lines), scope)
    return scope["main"]


def describe(error, given):
    text = f"{type(error).__name__}: {error}"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if given["file"] and frame.filename == given["file"]]
    return f"{text} (line {lines[-1]})" if lines else text


def call(function, arguments, given):
    try:
        value = function(*arguments)
        if inspect.isawaitable(value):
            async def wait():
                return await value
            value = asyncio.run(wait())
    except BROKEN as error:
        return {"broken": describe(error, given)}
    except Exception as error:
        return {"threw": describe(error, given)}

    try:
        return {"value": json.loads(json.dumps(value, default=plain, allow_nan=False))}
    except (TypeError, ValueError, RecursionError) as error:
        return {"broken": f"the returned value is no JSON: {error}"}


def call_all(given):
    try:
        function = find(given)
    except Exception as error:
        return {"broken": describe(error, given)}

    return {"results": [call(function, arguments, given) for arguments in given["calls"]]}


given = json.load(sys.stdin)
out = os.dup(1)
os.dup2(2, 1)
reply = json.dumps(call_all(given))
sys.stdout.flush()
with os.fdopen(out, "w") as stream:
    stream.write(reply)
