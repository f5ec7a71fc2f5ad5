"""The program `assize`: `python -m assize`, or the path of the executable."""

from ._find_assize import find_assize_bin

__all__ = ["find_assize_bin"]
