# The part that all hosts of Python begin with: loads a file of functions.
import importlib.util
import os
import sys
import tokenize

# Cached bytecode is told from a changed file by its time and size only, and would be left beside the author's files.
sys.dont_write_bytecode = True


def load_file(path):
    name = os.path.basename(path).rsplit(".", 1)[0]
    sys.path.insert(0, os.path.dirname(path))
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    with tokenize.open(path) as file:
        exec(compile(file.read(), path, "exec"), module.__dict__)
    return module


