#!/usr/bin/env python3
"""Makes crates/llm/data/prices.json of LiteLLM's table.

    python3 tools/prices.py model_prices_and_context_window.json VERSION DATE

The table is in LiteLLM's repository, and in its package as `litellm/model_prices_and_context_window_backup.json`. What is
kept is the part that `crates/llm/src/price_list.rs` reads: the models of providers with list prices, with the fields that it
knows. Models that the documentation names as examples are listed in `crates/llm/data/example-models.txt`; those that
retire are printed.
"""

import json
import re
import sys

PROVIDERS = ["openai", "anthropic", "gemini", "mistral", "groq", "deepseek", "xai", "bedrock", "bedrock_converse", "voyage"]
FIELDS = re.compile(
    r"(input_cost_per_token|output_cost_per_token|cache_read_input_token_cost|cache_creation_input_token_cost)"
    r"(_above_(128|200|256|272)k_tokens)?|input_cost_per_token_batches|litellm_provider|max_input_tokens|mode"
)
MODES = ["chat", "responses", "completion", "embedding"]


def main():
    path, version, date = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        table = json.load(file)
    models = {}
    for name, row in sorted(table.items()):
        known = row.get("litellm_provider") in PROVIDERS and row.get("mode") in MODES
        # Names with a region or an image size belong to other price lists.
        if known and row.get("input_cost_per_token") and not re.search(r"(^|/)\d|bedrock/|ft:|/\w+-(east|west|\w+)-\d/", name):
            models[name] = {key: value for key, value in row.items() if FIELDS.fullmatch(key)}
    head = {"as_of": date, "source": f"LiteLLM {version}, model_prices_and_context_window.json"}
    lines = [f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in models.items()]
    text = json.dumps(head, indent=1)[:-2] + ',\n "models": {\n' + ",\n".join(lines) + "\n }\n}\n"
    with open("crates/llm/data/prices.json", "w", encoding="utf-8") as file:
        file.write(text)

    with open("crates/llm/data/example-models.txt", encoding="utf-8") as file:
        examples = file.read().split()
    for example in examples:
        rows = [row for name, row in table.items() if name.rsplit("/", 1)[-1] == example]
        if retires := [row["deprecation_date"] for row in rows if row.get("deprecation_date")]:
            print(f"{example} is an example in the documentation, and retires on {min(retires)}")


main()
