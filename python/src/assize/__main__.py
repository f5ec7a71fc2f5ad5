"""`python -m assize` runs the program."""

import os
import subprocess
import sys

from ._find_assize import find_assize_bin


def main() -> None:
    try:
        program = find_assize_bin()
    except FileNotFoundError as error:
        sys.exit(f"error: {error}")

    if os.name != "nt":
        # The program takes the place of the interpreter, and so gets its signals.
        os.execv(program, [program, *sys.argv[1:]])

    try:
        sys.exit(subprocess.call([program, *sys.argv[1:]]))
    except KeyboardInterrupt:
        # The program was interrupted too, and has said so.
        sys.exit(130)


if __name__ == "__main__":
    main()
