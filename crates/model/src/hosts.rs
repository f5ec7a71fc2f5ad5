//! Programs that load a file of an author and call a function of it.

/// Beginning of each host in Python: `load_file(path)`, which loads a file of functions.
pub const PYTHON_LOADER: &str = include_str!("../hosts/load.py");
