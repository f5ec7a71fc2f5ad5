"""For pre-commit alone, which installs this folder: the hooks need the wheel of the same version, and nothing else."""

import pathlib
import re

from setuptools import setup

manifest = (pathlib.Path(__file__).parent / "Cargo.toml").read_text(encoding="utf-8")
version = re.search(r'^version = "(.*)"$', manifest, re.MULTILINE).group(1)

setup(
    name="assize-pre-commit",
    version=version,
    packages=[],
    py_modules=[],
    install_requires=[f"assize=={version}"],
)
