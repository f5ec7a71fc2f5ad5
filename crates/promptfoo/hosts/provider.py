# Asks a provider that is a function of Python: prints its answer as JSON. What it prints itself goes to stderr.
import asyncio
import inspect
import json
import os
import sys

path, function, options, messages_file, vars_file = sys.argv[1:6]
out = os.dup(1)
os.dup2(2, 1)

with open(messages_file, encoding="utf-8") as file:
    messages = json.load(file)
with open(vars_file, encoding="utf-8") as file:
    variables = json.load(file)

# Functions parse a prompt of several messages as JSON.
is_text = len(messages) == 1 and messages[0]["role"] == "user"
prompt = messages[0]["content"] if is_text else json.dumps(messages, ensure_ascii=False, indent=2)

module = load_file(os.path.abspath(path))


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
    is_json=not isinstance(output, str),
    token_usage=dict(input=usage.get("prompt"), output=usage.get("completion")),
    cost_usd=answer.get("cost"),
    guardrails=answer.get("guardrails"),
    trace=answer.get("trace"),
)
with os.fdopen(out, "w", encoding="utf-8") as stream:
    json.dump(reply, stream, ensure_ascii=False)
