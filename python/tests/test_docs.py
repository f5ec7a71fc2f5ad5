"""The examples of the pages and of `examples/python` run, with the offline judge."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import assize
import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_the_examples_of_the_page_run(folder: Path) -> None:
    pytest.importorskip("polars")
    (folder / "a.eval.yaml").write_text("tests: [{id: a, criteria: x, input: q, output: five, assertions: [Says five]}]\n")
    subprocess.run([assize.find_assize_bin(), "eval", "a.eval.yaml"], capture_output=True, check=True)

    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) > 5
    # Later examples use the names of earlier ones.
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)


def test_an_example_prints_its_rewards() -> None:
    script = ROOT / "examples" / "python" / "returns.py"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert [line.split()[:2] for line in done.stdout.splitlines()] == [["good", "pass"], ["vague", "fail"], ["rude", "fail"]]
    assert "reward 0.00" in done.stdout


def test_the_versions_of_both_wheels_are_that_of_the_workspace() -> None:
    from assize_native import VERSION

    for project in ("python", "python/native"):
        text = (ROOT / project / "pyproject.toml").read_text(encoding="utf-8")
        assert re.findall(r'"assize(?:-native)?==([^"]+)"', text) == [VERSION], project
