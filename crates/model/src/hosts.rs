//! Source text of the programs that load an author's file and call a function in it.

/// Common beginning of the Python hosts. It defines `load_file(path)`, which loads a file of functions.
pub const PYTHON_LOADER: &str = include_str!("../hosts/load.py");
