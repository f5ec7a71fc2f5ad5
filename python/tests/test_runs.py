"""Stored runs, and eval files as tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import assize
import pytest

SUITE = """
tests:
  - id: days
    criteria: names the days
    input: How long do refunds take?
    output: Refunds take 5 days.
    assertions: [Says that refunds take 5 days]
  - id: lost[1]
    criteria: names the days
    input: How long do refunds take?
    output: No idea.
    assertions: [Says that refunds take 5 days, {type: contains, value: idea}]
"""


def pytest_run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_a_stored_run_has_a_result_for_each_case(folder: Path) -> None:
    (folder / "a.eval.yaml").write_text(SUITE)
    subprocess.run([assize.find_assize_bin(), "eval", "a.eval.yaml", "--run-dir", "run"], capture_output=True)

    run = assize.load_run(folder / "run")
    assert (run.exit_code, run.folder) == (1, folder / "run")
    assert [result.id for result in run.results] == ["days", "lost[1]"]
    lost = run.results[1]
    assert (lost.status, lost.verdict, lost.answer, lost.suite, lost.repeat) == ("graded", "fail", "No idea.", "a", 1)
    assert lost.decisions[0].grader == "rubrics"
    assert [grader["type"] for grader in lost.to_dict()["graders"]] == ["rubrics", "contains"]
    assert run.info()["summary"]["counts"]["fail"] == 1

    with pytest.raises(assize.UsageError, match="no run `nowhere`"):
        assize.load_run("nowhere")
    with pytest.raises(assize.UsageError, match="no runs in"):
        assize.load_run()


def test_each_case_is_a_test_with_its_criteria_in_the_report(folder: Path) -> None:
    (folder / "a.eval.yaml").write_text(SUITE)
    done = pytest_run("--assize", "-v", "-rP", "--junitxml=report.xml")

    assert done.returncode == 1, done.stdout + done.stderr
    assert "a.eval.yaml::days PASSED" in done.stdout
    assert "a.eval.yaml::lost[1] FAILED" in done.stdout
    assert "fail, score 0." in done.stdout
    assert "  - rubric-1: None of its words found" in done.stdout
    assert "  + check-1: found" in done.stdout
    assert "  + rubric-1: Found all words" in done.stdout
    assert "Traceback" not in done.stdout
    report = (folder / "report.xml").read_text()
    assert 'name="assize_verdict" value="fail"' in report
    assert len(list((folder / ".assize" / "runs").iterdir())) == 1, "the cases of a file are run together"


def test_only_the_selected_cases_are_run(folder: Path) -> None:
    (folder / "a.eval.yaml").write_text(SUITE)
    done = pytest_run("--assize", "-k", "lost", "a.eval.yaml")
    assert "1 failed, 1 deselected" in done.stdout
    assert [result.id for result in assize.load_run().results] == ["lost[1]"]


def test_a_case_that_could_not_be_graded_is_an_error_and_not_a_failure(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    (folder / "a.eval.yaml").write_text(SUITE)
    done = pytest_run("--assize", "--assize-judge", "openai:judge-1", "--assize-args=--cache-only")
    assert "2 errors" in done.stdout, done.stdout + done.stderr
    assert "? rubric-1: not in the cache" in done.stdout and "def setup" not in done.stdout
    (folder / "a.eval.yaml").write_text("tests: [{id: a, criterai: x}]")
    done = pytest_run("--assize")
    assert "criterai" in done.stdout and done.returncode != 0


def test_runs_that_do_not_use_the_plugin_do_not_see_it(folder: Path) -> None:
    (folder / "a.eval.yaml").write_text(SUITE)
    (folder / "test_plain.py").write_text(
        "import sys\ndef test_it():\n    assert 'assize_native' not in sys.modules\n    assert 'assize._pytest_cases' not in sys.modules\n"
    )
    done = pytest_run()
    assert "1 passed" in done.stdout, done.stdout
