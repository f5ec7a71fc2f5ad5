# The second part of the hosts in this folder, behind the loader of files: turns what functions return into JSON.


def plain(value):
    for convert in ("item", "tolist", "_asdict"):
        if hasattr(value, convert):
            return getattr(value, convert)()
    if hasattr(value, "__dict__"):
        return vars(value)
    raise TypeError(f"a value of type {type(value).__name__} can't be returned")


