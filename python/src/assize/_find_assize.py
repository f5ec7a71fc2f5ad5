"""Finds the executable that was installed with this package."""

from __future__ import annotations

import os
import sys
import sysconfig

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def find_assize_bin() -> str:
    """Returns the path of the executable.

    Raises FileNotFoundError, with the folders that were looked in, if there is none.
    """
    name = "assize" + (sysconfig.get_config_var("EXE") or "")
    folders = list(dict.fromkeys(_folders()))
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path

    looked = "".join(f"\n  {folder}" for folder in folders)
    raise FileNotFoundError(f"the package assize is installed without its program {name}; looked in:{looked}")


def _folders() -> Iterator[str]:
    """Yields the folders in which installers put executables, the most likely one first."""
    # This environment.
    yield sysconfig.get_path("scripts")

    # The environment of the base interpreter, where a virtual environment sees its packages.
    yield sysconfig.get_path("scripts", vars={"base": sys.base_prefix})

    # Beside the package: `pip install --target` and `--prefix`.
    package = os.path.dirname(os.path.abspath(__file__))
    packages = os.path.dirname(package)
    yield os.path.join(packages, "bin")
    yield os.path.join(packages, "Scripts")
    for up in ("..", os.path.join("..", "..", "..")):
        prefix = os.path.abspath(os.path.join(packages, up))
        yield os.path.join(prefix, "Scripts" if os.name == "nt" else "bin")

    # `pip install --user`.
    scheme = sysconfig.get_preferred_scheme("user") if sys.version_info >= (3, 10) else _user_scheme()
    yield sysconfig.get_path("scripts", scheme=scheme)


def _user_scheme() -> str:
    """Returns the name of the user scheme where `sysconfig` can't tell."""
    if os.name == "nt":
        return "nt_user"
    if sys.platform == "darwin" and getattr(sys, "_framework", None):
        return "osx_framework_user"
    return "posix_user"
