//! Looks up a program in the folders of `PATH` before it is started.
//!
//! The system's fast way to start a program needs a path. Given a bare name and a custom environment, the
//! standard library forks this whole process first, which takes longer the more memory it uses.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::Environment;

/// Whether a program of this bare name is in a folder of `PATH`.
pub fn has_program(program: &str, env: &Environment) -> bool {
    find_in_path(OsStr::new(program), env).is_some()
}

/// The file for a bare name. `None` leaves the search to the system: for paths, for names that are not found, and if
/// the result depends on the folder in which the program starts.
pub(crate) fn find_in_path(program: &OsStr, env: &Environment) -> Option<PathBuf> {
    if Path::new(program).components().count() != 1 || program.as_encoded_bytes().contains(&b'/') {
        return None;
    }

    for folder in std::env::split_paths(env.get("PATH")?) {
        if !folder.is_absolute() {
            return None;
        }

        let file = folder.join(program);
        if is_runnable(&file) {
            return Some(file);
        }
    }

    None
}

#[cfg(unix)]
fn is_runnable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(file).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_runnable(_file: &Path) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_bare_names_in_fixed_folders_are_looked_up() {
        let env = |path: &str| Environment::from_vars([("PATH", path)]);
        assert_eq!(find_in_path(OsStr::new("sh"), &env("/nowhere:/bin")), Some("/bin/sh".into()));
        for (program, path) in [
            ("./sh", "/bin"),
            ("/bin/sh", "/bin"),
            ("sh", "here:/bin"),
            ("sh", ""),
            ("no-such-program", "/bin"),
            ("..", "/bin"),
        ] {
            assert_eq!(find_in_path(OsStr::new(program), &env(path)), None, "{program} in {path}");
        }
    }
}
