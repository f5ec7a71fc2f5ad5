"""Checks requests against the types of the providers' own packages: nothing that they do not know, nothing of another type.

Reads lines `{"path": ..., "body": ...}` from the standard input. Prints a line for each problem, and one with the number of
checked requests of each kind.
"""

import base64
import copy
import importlib
import json
import pkgutil
import sys

import botocore.session
import botocore.validate
import pydantic
import typing_extensions
from google.genai import types as google


def forbid_unknown(package):
    """Makes all typed dictionaries of a package refuse keys that they do not name."""
    root = importlib.import_module(package)
    for found in pkgutil.walk_packages(root.__path__, package + "."):
        for value in list(vars(importlib.import_module(found.name)).values()):
            if typing_extensions.is_typeddict(value):
                value.__pydantic_config__ = pydantic.ConfigDict(extra="forbid", arbitrary_types_allowed=True)


forbid_unknown("openai.types")
forbid_unknown("anthropic.types")

from anthropic.types.message_create_params import MessageCreateParamsNonStreaming as Messages
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming as Chat
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming as Responses

CHAT, RESPONSES, MESSAGES = map(pydantic.TypeAdapter, (Chat, Responses, Messages))
CONVERSE = botocore.session.get_session().get_service_model("bedrock-runtime").operation_model("Converse").input_shape
GOOGLE = {
    "contents": pydantic.TypeAdapter(list[google.Content]),
    "systemInstruction": pydantic.TypeAdapter(google.Content),
    "generationConfig": pydantic.TypeAdapter(google.GenerationConfig),
}


def with_bytes(value):
    """The body as the package takes it: it encodes bytes by itself."""
    if isinstance(value, dict):
        return {key: base64.b64decode(one) if key == "bytes" else with_bytes(one) for key, one in value.items()}
    return [with_bytes(one) for one in value] if isinstance(value, list) else value


def check_converse(body, path):
    model = path.split("/")[-2]
    report = botocore.validate.ParamValidator().validate(with_bytes({**body, "modelId": model}), CONVERSE)
    # Unknown members are sent as they are, so they are no error of the package.
    unknown = set(body) - set(CONVERSE.members)
    if report.has_errors() or unknown:
        raise ValueError(f"{report.generate_report()} {unknown or ''}")


def check_google(body, _):
    for key, value in body.items():
        if key not in GOOGLE:
            raise ValueError(f"unknown: {key}")
        GOOGLE[key].validate_python(value)


# The end of the path, the kind, and the check.
KINDS = [
    ("/chat/completions", "openai", lambda body, _: CHAT.validate_python(body)),
    ("/responses", "openai-responses", lambda body, _: RESPONSES.validate_python(body)),
    ("/messages", "anthropic", lambda body, _: MESSAGES.validate_python(body)),
    (":generateContent", "gemini", check_google),
    ("/converse", "bedrock", check_converse),
]

counts = {}
for line in sys.stdin:
    request = json.loads(line)
    kind, check = next((kind, check) for end, kind, check in KINDS if request["path"].endswith(end))
    counts[kind] = counts.get(kind, 0) + 1
    try:
        check(copy.deepcopy(request["body"]), request["path"])
    except Exception as error:
        print(f"PROBLEM {kind}: {error}")
    # A check that refuses nothing would say nothing.
    try:
        check({**copy.deepcopy(request["body"]), "not_a_setting": 1}, request["path"])
        print(f"PROBLEM {kind}: the check takes a setting that does not exist")
    except Exception:
        pass

print(json.dumps(counts, sort_keys=True))
