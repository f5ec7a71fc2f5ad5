"""A server of models on this machine, and a working folder of each test."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

Answer = Callable[[str], Any]

MET = {"evidence": [], "reason": "it says so", "outcome": "met"}
UNMET = {"evidence": [], "reason": "it does not say so", "outcome": "unmet"}


class ModelServer:
    """Answers chat requests: `answer` gets the prompt and returns a verdict, a status code, or None to wait for `release`."""

    def __init__(self) -> None:
        self.answer: Answer = lambda prompt: MET
        self.prompts: list[str] = []
        self.in_flight = 0
        self.most_in_flight = 0
        self.release = threading.Event()
        self.asked = threading.Event()
        self._lock = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                prompt = "\n".join(str(message["content"]) for message in body["messages"])
                server.serve(self, prompt)

            def log_message(self, format: str, *args: Any) -> None:
                del format, args

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/v1"
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    def serve(self, request: BaseHTTPRequestHandler, prompt: str) -> None:
        with self._lock:
            self.prompts.append(prompt)
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
        self.asked.set()
        try:
            verdict = self.answer(prompt)
            if verdict is None:
                self.release.wait(60)
                verdict = MET
        finally:
            with self._lock:
                self.in_flight -= 1

        status = verdict if isinstance(verdict, int) else 200
        text = verdict if isinstance(verdict, str) else json.dumps(verdict)
        message = {"role": "assistant", "content": text}
        usage = {"prompt_tokens": 100, "completion_tokens": 10}
        reply = {"model": "judge-1", "choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}
        body = json.dumps(reply if status == 200 else {"error": {"message": "no"}}).encode()
        try:
            request.send_response(status)
            request.send_header("content-type", "application/json")
            request.send_header("content-length", str(len(body)))
            request.end_headers()
            request.wfile.write(body)
        except OSError:
            # The client gave up.
            pass

    def close(self) -> None:
        self.release.set()
        self._http.shutdown()
        self._http.server_close()


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A server whose models are `openai:NAME`."""
    server = ModelServer()
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    yield server
    server.close()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder: the reply cache of one test is not that of another."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ASSIZE_JUDGE", raising=False)
    return tmp_path


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--require-trainers", action="store_true", help="fail where a trainer's own package is not installed"
    )


def _untested_trainers(config: pytest.Config) -> list[Any]:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter is not None else []
    return [report for report in skipped if "test_trainers" in report.nodeid]


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.config.getoption("--require-trainers") and _untested_trainers(session.config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Says which trainers nothing was tested with: a skipped test is easily taken for one that passed."""
    untested = _untested_trainers(config)
    if not untested:
        return
    terminalreporter.section(f"{len(untested)} tests with trainers did NOT run", sep="=", red=True, bold=True)
    for report in untested:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        terminalreporter.write_line(f"{report.nodeid}: {reason}")
    terminalreporter.write_line("install trl, verifiers and verl, and use --require-trainers, to make this a failure")
