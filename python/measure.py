"""Measures the library of the environment that runs it: `python python/measure.py`. Use an optimized wheel on a quiet machine."""

from __future__ import annotations

import asyncio
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import assize

SAMPLES = 5_000
RUNS = 5


def best(call: Callable[[], float]) -> float:
    """The best of several runs: what is added is noise of others."""
    return min(call() for _ in range(RUNS))


def import_ms() -> float:
    """Processor time of `import assize` with the first use of a function, in a process of its own."""
    code = "import time; t = time.process_time(); import assize; assize.grade; print(time.process_time() - t)"
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(9)]
    return statistics.median(float(run.stdout) for run in runs) * 1e3


def plugin_ms() -> float:
    """Processor time that the plugin adds to a run of pytest that does not use it: its import."""
    code = "import time; t = time.process_time(); import assize.pytest_plugin; print(time.process_time() - t)"
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(9)]
    return statistics.median(float(run.stdout) for run in runs) * 1e3


def crossing_us() -> tuple[float, float]:
    """Time of a sample on the way in and out of the engine, and of its whole grading by the offline judge."""
    samples = [{"id": str(n), "input": "How long?", "output": f"Refunds take {n} days."} for n in range(SAMPLES)]
    rubric = ["Says that refunds take 5 days"]
    grader = assize.Grader("offline", cache="off")
    inside, whole = [], []
    for _ in range(RUNS):
        begun, own = time.perf_counter(), time.thread_time()
        job = grader._start(samples, rubric, "score", None, None, None, False)
        while not job.wait(0.1):
            pass
        rewards = grader._results(job).rewards
        assert len(rewards) == SAMPLES
        # What the thread of Python does; the engine works on others.
        inside.append(time.thread_time() - own)
        whole.append(time.perf_counter() - begun)
    return min(inside) / SAMPLES * 1e6, min(whole) / SAMPLES * 1e6


def await_us() -> float:
    """Time of a sample of a batch that is awaited."""
    samples = [f"Refunds take {n} days." for n in range(SAMPLES)]
    grader = assize.Grader("offline", cache="off")

    async def run() -> float:
        begun = time.perf_counter()
        await grader.agrade(samples, ["Says that refunds take 5 days"])
        return time.perf_counter() - begun

    return best(lambda: asyncio.run(run())) / SAMPLES * 1e6


def interrupt_ms() -> float:
    """Time from Ctrl-C to the end of a process whose judge hangs."""
    code = (
        "import assize, threading\n"
        "def hang(question):\n    print('asked', flush=True)\n    threading.Event().wait()\n"
        "assize.grade(['a'], ['x'], judge=assize.judge(hang))\n"
    )

    def run() -> float:
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert process.stdout is not None
        process.stdout.readline()
        begun = time.perf_counter()
        process.send_signal(signal.SIGINT)
        process.wait()
        return time.perf_counter() - begun

    return max(run() for _ in range(RUNS)) * 1e3


def main() -> None:
    print(f"import assize and use it: {import_ms():.1f} ms (median of 9)")
    print(f"import of the plugin for pytest: {plugin_ms():.1f} ms (median of 9)")
    crossing, whole = crossing_us()
    print(f"a sample in and out of the engine: {crossing:.1f} us; graded by the offline judge: {whole:.1f} us")
    print(f"a sample of an awaited batch: {await_us():.1f} us")
    print(f"Ctrl-C to the end of the process: {interrupt_ms():.0f} ms (worst of {RUNS})")


if __name__ == "__main__":
    main()
