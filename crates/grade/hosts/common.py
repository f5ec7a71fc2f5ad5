# The part that the hosts of Python in this folder begin with: loads a file of functions, and turns what they return into JSON.
import importlib.util
import os
import sys
import tokenize

# Cached bytecode is told from a changed file by its time and size only, and would be left beside the author's files.
sys.dont_write_bytecode = True


def load_file(path):
    folder = os.path.dirname(path)
    sys.path.insert(0, folder)
    name = os.path.basename(path).rsplit(".", 1)[0]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    with tokenize.open(path) as file:
        exec(compile(file.read(), path, "exec"), module.__dict__)
    return module


def plain(value):
    for convert in ("item", "tolist", "_asdict"):
        if hasattr(value, convert):
            return getattr(value, convert)()
    if hasattr(value, "__dict__"):
        return vars(value)
    raise TypeError(f"a value of type {type(value).__name__} can't be returned")
