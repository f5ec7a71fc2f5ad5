#!/usr/bin/env python3
"""Runs configurations of promptfoo by promptfoo and by Assize against one mock server, and compares the verdicts.

    npm install --prefix /tmp/pf promptfoo@0.123.1
    python3 compare.py --examples FOLDER --promptfoo /tmp/pf/node_modules/.bin/promptfoo --assize ../../../target/debug/assize

FOLDER is the folder `examples` of promptfoo's repository. Each configuration is copied before it is run. The mock
answers from the text of the prompt alone, so that the same prompt gets the same answer from both sides; judges say the
same about every answer of a configuration; embeddings count letters. Nothing leaves this machine. `--allow-code` lets
both run the code of the examples.

A configuration is left out when promptfoo reports an error in one of its results, or when Assize refuses it; both are
listed. The exit code is 1 if a verdict differs that `expected.json` does not explain.
"""

import argparse
import hashlib
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
ANSWERS = [
    None,  # the prompt itself
    '{"name": "Ann", "age": 31, "color": "green", "items": ["bread", "milk"], "location": "Boston", "unit": "celsius"}',
    "Paris is the capital of France. Bonjour le monde! Hola mundo, hello world.",
    "Sorry, as an AI language model, I am unable to do that.",
    "SELECT name FROM users WHERE age > 30;\n\nThis selects the names.\nIt is a short answer of three lines.",
]
QUESTION = "What is the capital of France?"


class Mock(http.server.BaseHTTPRequestHandler):
    """OpenAI's chat completions and embeddings. The path begins with what judges say and who asks: /pass/NAME/v1."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        _, says, asker, *_ = self.path.split("/")
        met = says == "pass"
        if self.path.endswith("/embeddings"):
            self.reply(embeddings(asked))
            return
        texts = [text_of(message.get("content")) for message in messages_of(asked)]
        content = judge(asked, texts, met)
        if content is None and asked.get("model") != "mock":
            # Both ask for answers by this name, so it is a judge that was given a prompt of its own.
            says = {"reason": "mock", "pass": met, "score": 1 if met else 0, "category": "C" if met else "D"}
            content = json.dumps(says)
        if content is None:
            self.server.prompts.setdefault(asker, set()).add("\n".join(texts).strip())
            content = answer("\n".join(texts))
        usage = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}
        message = {"role": "assistant", "content": content}
        self.reply({
            "id": "mock", "object": "chat.completion", "created": 1, "model": asked.get("model"),
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}], "usage": usage,
        })

    def reply(self, value):
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def messages_of(asked):
    given = asked.get("messages") or asked.get("input") or []
    given = given if isinstance(given, list) else [given]
    return [message if isinstance(message, dict) else {"content": str(message)} for message in given]


def text_of(content):
    if isinstance(content, list):
        return "\n".join(part.get("text", "") for part in content if isinstance(part, dict))
    return content or ""


def answer(text):
    number = int(hashlib.sha256(text.strip().encode()).hexdigest(), 16)
    return ANSWERS[number % len(ANSWERS)] or text


def judge(asked, texts, met):
    """The reply of a judge; None where an answer is wanted."""
    schema = asked.get("response_format", {}).get("json_schema", {}).get("schema")
    whole = "\n".join(texts)
    if schema and asked.get("model") == "mock-judge":
        if "questions" in schema.get("properties", {}):
            return json.dumps({"questions": [QUESTION] * 3})
        return json.dumps(instance(schema, schema, met))
    if (found := about_context(whole, met)) is not None:
        return found
    if "<Rubric>" in whole or "grading output according to" in whole:
        return json.dumps({"reason": "mock", "pass": met, "score": 1 if met else 0})
    if "{{criteria}}" in whole or "evaluation steps" in whole.lower() and '"steps"' in whole:
        return json.dumps({"steps": ["look at it"]})
    if '"score"' in whole and "Evaluation Steps" in whole:
        return json.dumps({"score": 10 if met else 0, "reason": "mock"})
    if "factual content of the submitted answer" in whole:
        return json.dumps({"category": "C" if met else "D", "reason": "mock"})
    if "[Criterion]" in whole and "[Submission]" in whole:
        return "Y" if met else "N"
    return None


def about_context(whole, met):
    """The reply to promptfoo's prompts about a context, which asks for one of all of its parts or for none."""
    if "Generate question for the given answer" in whole:
        return QUESTION
    if "classify if the sentence can be attributed" in whole:
        return "1. A sentence. So [Attributed]" if met else "1. A sentence. So [Not Attributed]"
    if "extract relevant sentences from the provided context" in whole:
        context = whole.rsplit("\ncontext: ", 1)[-1].rsplit("\ncandidate sentences:", 1)[0]
        return context if met else "Insufficient Information"
    if "create one or more statements from each sentence" in whole:
        return "A statement."
    if "Natural language inference" in whole:
        return f"Final verdict for each statement in order: {'Yes' if met else 'No'}."
    if "'verdict'" in whole and "relevant" in whole:
        return json.dumps({"verdict": "yes"} if met else {"verdict": "no", "reason": "mock"})
    return None


def instance(schema, root, met):
    """A value that fits the schema of a judge's reply: the first outcome for a judge that is pleased, else the second."""
    if "$ref" in schema:
        found = root
        for key in schema["$ref"].lstrip("#/").split("/"):
            found = found[key]
        return instance(found, root, met)
    if "enum" in schema:
        words = schema["enum"]
        if all(isinstance(word, int) for word in words):
            return max(words) if met else min(words)
        return next((word for word in words if word == ("met" if met else "unmet")), words[0])
    for either in ("anyOf", "oneOf"):
        if either in schema:
            return instance(schema[either][0], root, met)
    kind = schema.get("type", "object")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind in ("integer", "number"):
        return schema.get("maximum", 1) if met else schema.get("minimum", 0)
    if kind == "array":
        return [instance(schema["items"], root, met) for _ in range(schema.get("minItems", 0))]
    if kind == "object":
        return {key: instance(part, root, met) for key, part in schema.get("properties", {}).items()}
    return {"string": "mock", "boolean": met, "null": None}.get(kind)


def embeddings(asked):
    given = asked["input"] if isinstance(asked["input"], list) else [asked["input"]]
    data = []
    for index, text in enumerate(given):
        counts = [0.0] * 27
        for letter in text.lower():
            counts[ord(letter) - 96 if "a" <= letter <= "z" else 0] += 1.0
        data.append({"object": "embedding", "index": index, "embedding": counts})
    usage = {"prompt_tokens": 3, "total_tokens": 3}
    return {"object": "list", "model": asked.get("model"), "data": data, "usage": usage}


def environment(base, home):
    keep = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return keep | {
        "HOME": str(home), "NO_COLOR": "1", "OPENAI_API_KEY": "sk-mock", "OPENAI_BASE_URL": base,
        "OPENAI_API_BASE_URL": base, "PROMPTFOO_CONFIG_DIR": str(home / "promptfoo"), "PROMPTFOO_CACHE_ENABLED": "false",
        "PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1", "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
        "PROMPTFOO_SELF_HOSTED": "1",
    }


def run(command, folder, env, seconds=90):
    try:
        done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=seconds, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return None
    return done


def by_promptfoo(options, folder, name, env):
    out = folder / "promptfoo-verdicts.json"
    command = [options.promptfoo, "eval", "-c", name, "-r", "openai:chat:mock", "-o", str(out), "--no-cache", "--no-table",
               "--no-progress-bar", "--no-write"]
    done = run(command, folder, env)
    if done is None or not out.exists():
        said = "took too long" if done is None else (done.stderr.strip() or done.stdout.strip())
        return None, said[-300:]
    rows = json.loads(out.read_text())["results"]["results"]
    rows.sort(key=lambda row: (row["testIdx"], row["promptIdx"]))
    for row in rows:
        if row.get("error") and not row.get("gradingResult"):
            return None, row["error"][:300]
    return [{
        "passed": row["success"],
        "score": row["score"],
        "answer": str((row.get("response") or {}).get("output", "")),
        "prompt": row["prompt"]["raw"],
        "parts": [part["pass"] for part in (row.get("gradingResult") or {}).get("componentResults") or []],
        "reasons": [str(part.get("reason"))[:160] for part in (row.get("gradingResult") or {}).get("componentResults") or []],
        "weights": [(part.get("assertion") or {}).get("weight", 1) for part in (row.get("gradingResult") or {}).get("componentResults") or []],
        "types": [((part.get("assertion") or {}).get("type")) for part in (row.get("gradingResult") or {}).get("componentResults") or []],
    } for row in rows], ""


def by_assize(options, folder, name, env):
    out = folder / "assize-run"
    command = [options.assize, "eval", name, "--target", "openai:mock", "--judge", "openai:mock-judge", "--run-dir", str(out),
               "--quiet", "--judging", "per-criterion", "--root", str(folder), "--show", "none"]
    if options.allow_code:
        command.append("--allow-code")
    done = run(command, folder, env)
    if done is None or not (out / "results.jsonl").exists():
        said = "took too long" if done is None else done.stderr.strip()
        lines = [line for line in said.splitlines() if line.startswith("error") or "E0" in line] or said.splitlines()
        return None, " | ".join(lines)[:300]
    rows = [json.loads(line) for line in (out / "results.jsonl").read_text().split("\n") if line]
    rows.sort(key=lambda row: row["place"])
    return [{
        "passed": row["verdict"] == "pass",
        "verdict": row["verdict"],
        "score": row["score"],
        "answer": row.get("answer") or "",
        "error": row.get("error"),
        "case": row["case_id"],
        "parts": [grader["verdict"] == "pass" for grader in row["graders"] if grader["name"] != "answered"],
        "names": [grader["name"] for grader in row["graders"] if grader["name"] != "answered"],
        "reasons": [" / ".join(str(part["reason"]) for part in grader["criteria"])[:160] or str(grader["error"])
                    for grader in row["graders"] if grader["name"] != "answered"],
    } for row in rows], ""


def compare(name, theirs, ours, prompts):
    """The differences of two lists of verdicts, and of the prompts that were sent."""
    found = []
    if prompts[0] != prompts[1]:
        only = [sorted(one - other)[:1] for one, other in (prompts, prompts[::-1])]
        return [f"{name}: the prompts differ: only there {only[0]}, only here {only[1]}"]
    if len(theirs) != len(ours):
        return [f"{name}: {len(theirs)} results there, {len(ours)} here"]
    if in_another_order(theirs, ours):
        return []
    for number, (their, our) in enumerate(zip(theirs, ours), 1):
        if their["passed"] != our["passed"]:
            found.append(f"{name} #{number} ({our['case']}): {'pass' if their['passed'] else 'fail'} there, {our['verdict']} here")
        if len(their["parts"]) == len(our["parts"]):
            for at, (one, other) in enumerate(zip(their["parts"], our["parts"])):
                # A weight of 0 makes a metric, of which promptfoo says that it passed.
                if one != other and their["weights"][at] != 0:
                    found.append(
                        f"{name} #{number} {our['names'][at]}: {'pass' if one else 'fail'} there ({their['reasons'][at]}), "
                        f"{'pass' if other else 'no pass'} here ({our['reasons'][at]})"
                    )
    return found


def in_another_order(theirs, ours):
    """True if both have the same answers with the same verdicts: files of a pattern are read in different orders."""
    def verdicts(rows):
        return sorted((row["answer"].strip(), row["passed"], row["parts"]) for row in rows)

    return verdicts(theirs) == verdicts(ours)


def configurations(folder):
    for path in sorted(folder.rglob("*.y*ml")):
        keys = set(re.findall(r"^(\w+):", path.read_text(errors="replace"), re.M))
        if keys & {"prompts", "providers"} and not keys & {"redteam", "extensions"}:
            yield path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=pathlib.Path, required=True)
    parser.add_argument("--promptfoo", required=True)
    parser.add_argument("--assize", required=True)
    parser.add_argument("--allow-code", action="store_true")
    parser.add_argument("--only", default="", help="text that the path of a configuration has")
    parser.add_argument("--names", type=pathlib.Path, help="file with the configurations to take, one a line")
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--limit", type=int, default=10_000, help="configurations that are compared at most")
    parser.add_argument("--out", type=pathlib.Path, help="file for everything that was found, as JSON")
    options = parser.parse_args()
    options.assize = str(pathlib.Path(options.assize).resolve())
    options.promptfoo = str(pathlib.Path(options.promptfoo).resolve())

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Mock)
    server.prompts = {}
    threading.Thread(target=server.serve_forever, daemon=True).start()
    expected = json.loads((HERE / "expected.json").read_text())
    lock, done = threading.Lock(), {}

    def one(path):
        name = str(path.relative_to(options.examples))
        with lock:
            if sum("differences" in row for row in done.values()) >= options.limit:
                return
        says = "pass" if hashlib.sha256(name.encode()).digest()[0] % 2 else "fail"
        with tempfile.TemporaryDirectory(prefix="compare-") as temporary:
            home = pathlib.Path(temporary)
            folder = home / "example"
            shutil.copytree(path.parent, folder, symlinks=True, ignore=shutil.ignore_patterns("node_modules"))
            base = f"http://127.0.0.1:{server.server_port}/{says}"
            asker = hashlib.sha256(name.encode()).hexdigest()
            # What Assize refuses costs promptfoo no time.
            ours, refused = by_assize(options, folder, path.name, environment(f"{base}/ours-{asker}/v1", home))
            theirs, broken = None, ""
            if ours is not None:
                theirs, broken = by_promptfoo(options, folder, path.name, environment(f"{base}/theirs-{asker}/v1", home))
            prompts = [server.prompts.get(f"{who}-{asker}", set()) for who in ("theirs", "ours")]
        row = {"theirs": theirs, "ours": ours}
        if ours is None:
            row["refused"] = refused
        elif theirs is None:
            row["broken"] = broken
        else:
            row["differences"] = compare(name, theirs, ours, prompts)
        with lock:
            done[name] = row
            print(f"{len(done)}/{len(paths)} {name}", file=sys.stderr, flush=True)
            if options.out:
                options.out.write_text(json.dumps(done, indent=1))

    names = options.names.read_text().split("\n") if options.names else None
    paths = [
        path for path in configurations(options.examples)
        if options.only in str(path) and (names is None or str(path.relative_to(options.examples)) in names)
    ]
    with ThreadPoolExecutor(options.at_once) as pool:
        list(pool.map(one, paths))

    compared = {name: row for name, row in sorted(done.items()) if "differences" in row}
    tests = sum(len(row["theirs"]) for row in compared.values())
    parts = sum(len(their["parts"]) for row in compared.values() for their in row["theirs"])
    differing = {name: row["differences"] for name, row in compared.items() if row["differences"]}
    unexplained = {name: found for name, found in differing.items() if name not in expected}
    for name, row in sorted(done.items()):
        if "refused" in row:
            print(f"refused here: {name}: {row['refused']}")
        if "broken" in row:
            print(f"broken there: {name}: {row['broken']}")
    for name, found in differing.items():
        print(f"{name}: {expected.get(name, 'DIFFERS')}")
        for line in found:
            print(f"  {line}")
    print(f"{len(compared)} configurations compared, {tests} tests, {parts} assertions; {len(compared) - len(differing)} agree, "
          f"{len(differing) - len(unexplained)} differ for a known reason, {len(unexplained)} for none")
    sys.exit(1 if unexplained else 0)


if __name__ == "__main__":
    main()
