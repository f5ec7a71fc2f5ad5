"""Writes a stored run in the forms that other viewers read. Arguments: the run folder, and the folder to write to.

The log of Inspect is a zip of JSON members, as its own library writes it; the export of promptfoo is the JSON that
`promptfoo import` takes. Both hold the question, the answer and each decision with its reason.
"""

import json
import sys
import zipfile
from pathlib import Path


def rows(path):
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def cases(run):
    questions = {row["case_hash"]: row.get("question") or "" for row in rows(run / "questions.jsonl")}
    for row in rows(run / "results.jsonl"):
        criteria = [criterion for grader in row["graders"] for criterion in grader["criteria"]]
        yield row, questions.get(row["case_hash"], ""), criteria


def inspect_score(criterion):
    return {
        "value": criterion["value"],
        "answer": criterion["outcome"],
        "explanation": criterion["reason"],
        "metadata": {"evidence": [quote["quote"] for quote in criterion["evidence"]]},
    }


def inspect_log(run, out):
    spec = {
        "eval_id": "bench", "run_id": "bench", "created": "2026-01-01T00:00:00+00:00", "task": "bench",
        "task_id": "bench", "task_version": 0, "model": "none/none", "config": {},
        "dataset": {"name": "bench", "samples": 0},
    }
    plan = {"name": "plan", "steps": [], "config": {}}
    usage = {"started_at": "2026-01-01T00:00:00+00:00", "completed_at": "2026-01-01T00:10:00+00:00", "model_usage": {}}
    summaries, names = [], []
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as log:
        log.writestr("_journal/start.json", json.dumps({"version": 2, "eval": spec, "plan": plan}))
        for row, question, criteria in cases(run):
            scores = {criterion["id"]: inspect_score(criterion) for criterion in criteria}
            names = list(scores)
            sample = {
                "id": row["case_id"], "epoch": 1, "input": question, "target": "", "scores": scores, "metadata": {},
                "messages": [
                    {"role": "user", "content": question}, {"role": "assistant", "content": row["answer"]},
                ],
                "output": {
                    "model": "none/none", "completion": row["answer"],
                    "choices": [{"message": {"role": "assistant", "content": row["answer"]}, "stop_reason": "stop"}],
                },
                "store": {}, "events": [], "model_usage": {}, "attachments": {},
            }
            log.writestr(f"samples/{row['case_id']}_epoch_1.json", json.dumps(sample))
            short = {name: {"value": score["value"]} for name, score in scores.items()}
            summaries.append({
                "id": row["case_id"], "epoch": 1, "input": question[:200], "target": "", "metadata": {},
                "scores": short, "model_usage": {}, "completed": True,
            })
        spec["dataset"]["samples"] = len(summaries)
        metrics = [{"name": name, "scorer": name, "params": {}, "metrics": {}} for name in names]
        results = {"total_samples": len(summaries), "completed_samples": len(summaries), "scores": metrics}
        log.writestr("summaries.json", json.dumps(summaries))
        log.writestr("header.json", json.dumps({
            "version": 2, "status": "success", "eval": spec, "plan": plan, "results": results, "stats": usage,
        }))


def promptfoo_export(run, out):
    prompt = {"raw": "{{input}}", "label": "{{input}}", "provider": "none", "id": "none", "metrics": {
        "score": 0, "testPassCount": 0, "testFailCount": 0, "testErrorCount": 0, "assertPassCount": 0,
        "assertFailCount": 0, "totalLatencyMs": 0, "tokenUsage": {}, "namedScores": {}, "cost": 0}}
    with open(out, "w", encoding="utf-8") as file:
        file.write('{"evalId": "eval-bench-2026-01-01T00:00:00", "metadata": {}, "shareableUrl": null, "config": ')
        json.dump({"description": "bench", "prompts": ["{{input}}"], "providers": ["none"], "tests": []}, file)
        file.write(', "results": {"version": 3, "timestamp": "2026-01-01T00:00:00.000Z", "prompts": ')
        file.write(json.dumps([prompt]))
        file.write(', "stats": {"successes": 0, "failures": 0, "errors": 0, "tokenUsage": {}}, "results": [')
        for at, (row, question, criteria) in enumerate(cases(run)):
            passed = row["verdict"] == "pass"
            parts = [{
                "pass": criterion["value"] == 1, "score": criterion["value"] or 0, "reason": criterion["reason"],
                "assertion": {"type": "llm-rubric", "value": criterion["id"], "metric": criterion["id"]},
            } for criterion in criteria]
            score = row["score"] or 0
            file.write("," if at else "")
            json.dump({
                "id": f"{at:012d}", "promptIdx": 0, "testIdx": at, "promptId": "none",
                "prompt": {"raw": question, "label": "{{input}}"}, "provider": {"id": "none", "label": "none"},
                "response": {"output": row["answer"]}, "vars": {"input": question}, "success": passed, "score": score,
                "latencyMs": row["duration_ms"], "cost": 0, "failureReason": 0 if passed else 1,
                "namedScores": {}, "metadata": {},
                "testCase": {"vars": {"input": question}, "description": row["case_id"]},
                "gradingResult": {"pass": passed, "score": score, "reason": "", "componentResults": parts},
            }, file)
        file.write("]}}")


if __name__ == "__main__":
    run, out = Path(sys.argv[1]), Path(sys.argv[2])
    (out / "logs").mkdir(parents=True, exist_ok=True)
    inspect_log(run, out / "logs" / "2026-01-01T00-00-00+00-00_bench_bench.eval")
    promptfoo_export(run, out / "promptfoo.json")
