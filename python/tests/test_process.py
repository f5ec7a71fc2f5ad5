"""The process around a grader: signals, forks, threads, its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap

import assize
import pytest

posix = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")

HANGING_JUDGE = """
import os, sys, threading
import assize

@assize.judge
def hanging(question):
    # Not `print`: its thread would hold the lock of stdout for a moment, which an interpreter that ends can't wait for.
    os.write(1, b"asked\\n")
    threading.Event().wait()

"""


def start(code: str) -> subprocess.Popen[str]:
    script = HANGING_JUDGE + textwrap.dedent(code)
    return subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.skipif(os.name == "nt", reason="Windows sends Ctrl-C to a group")
@pytest.mark.parametrize(
    "call",
    [
        'assize.grade(["a"], ["x"], judge=hanging)',
        'for result in assize.stream(["a"], ["x"], judge=hanging): pass',
        'import asyncio; asyncio.run(assize.agrade(["a"], ["x"], judge=hanging))',
    ],
)
def test_ctrl_c_ends_a_call(call: str) -> None:
    process = start(call)
    assert process.stdout is not None and process.stdout.readline() == "asked\n"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode != 0
    assert errors.strip().splitlines()[-1] == "KeyboardInterrupt"


def test_an_interpreter_ends_although_a_judge_hangs() -> None:
    process = start(
        """
        stream = iter(assize.stream(["a"], ["x"], judge=hanging))
        threading.Thread(target=next, args=(stream, None), daemon=True).start()
        while not sys.stdin.readline(): pass
        """
    )
    process.kill()
    process.communicate(timeout=30)


@posix
def test_a_grader_says_that_it_does_not_survive_a_fork() -> None:
    script = textwrap.dedent(
        """
        import os, assize
        grader = assize.Grader("offline")
        assert grader.grade(["a b c"], ["a b c"]).rewards == [1.0]
        assert assize.grade(["a b c"], ["a b c"], judge="offline").rewards == [1.0]
        child = os.fork()
        if child == 0:
            for call in (lambda: grader.grade(["a"], ["x"]), lambda: assize.grade(["a"], ["x"], judge="offline")):
                try:
                    call()
                except assize.ForkError as error:
                    assert "make a new `assize.Grader` in the child" in str(error)
                else:
                    raise SystemExit(3)
            # A grader of its own works, with threads of its own.
            assert assize.Grader("offline").grade(["a b c"], ["a b c"]).rewards == [1.0]
            raise SystemExit(0)
        _, status = os.waitpid(child, 0)
        assert grader.grade(["a b c"], ["a b c"]).rewards == [1.0]
        raise SystemExit(os.waitstatus_to_exitcode(status))
        """
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True, timeout=60)


def test_the_gil_is_free_while_a_call_waits() -> None:
    # The judge answers only when another thread of Python has run.
    script = HANGING_JUDGE + textwrap.dedent(
        """
        done = threading.Event()
        @assize.judge
        def patient(question):
            return [done.wait(30)]
        threading.Timer(0, done.set).start()
        assert assize.grade(["a"], ["x"], judge=patient).rewards == [1.0]
        """
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


def test_nothing_is_imported_before_it_is_used() -> None:
    script = textwrap.dedent(
        """
        import sys
        before = set(sys.modules)
        import assize, assize.pytest_plugin
        loaded = {name for name in set(sys.modules) - before if not name.startswith("assize")}
        assert not loaded & {"typing", "asyncio", "json", "dataclasses", "logging", "sysconfig"}, loaded
        assert "assize_native" not in sys.modules
        assize.grade
        assert "assize_native" in sys.modules
        assert not set(sys.modules) & {"asyncio", "dataclasses", "logging", "numpy", "pyarrow", "torch"}
        """
    )
    # Without the packages of the environment, whose start may import anything.
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


def test_every_name_is_there_and_no_other() -> None:
    for name in assize.__all__:
        assert getattr(assize, name) is not None, name
    with pytest.raises(AttributeError, match="no attribute 'gradde'"):
        assize.gradde


def test_without_the_compiled_part_the_message_says_how_to_install_it() -> None:
    script = textwrap.dedent(
        """
        import sys
        sys.modules["assize_native"] = None
        import assize
        try:
            assize.grade
        except ImportError as error:
            assert "pip install 'assize[library]'" in str(error), error
        else:
            raise SystemExit(1)
        """
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
