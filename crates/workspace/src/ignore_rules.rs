//! Paths of a workspace that its `.gitignore` files exclude.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::folder_handle::{open_file, path_or_dot};

/// The `.gitignore` files of a folder at one point in time. Later changes to them have no effect.
#[derive(Debug, Default)]
pub(crate) struct IgnoreRules {
    files: BTreeMap<PathBuf, Gitignore>,
}

impl IgnoreRules {
    /// Reads the `.gitignore` files below `root`. Lines that are not patterns exclude nothing.
    pub(crate) fn read(root: &Dir) -> Self {
        let mut files = BTreeMap::new();
        let mut open = vec![PathBuf::new()];
        while let Some(folder) = open.pop() {
            let entries = root.read_dir(path_or_dot(&folder));
            for entry in entries.into_iter().flatten().filter_map(Result::ok) {
                let Ok(kind) = entry.file_type() else { continue };
                let name = entry.file_name();
                if kind.is_dir() && name != ".git" {
                    open.push(folder.join(&name));
                } else if kind.is_file()
                    && name == ".gitignore"
                    && let Some(patterns) = read_patterns(root, &folder.join(&name))
                {
                    files.insert(folder.clone(), patterns);
                }
            }
        }

        Self { files }
    }

    /// The outermost excluded folder or file that contains a path or is the path; `None` if it is not excluded.
    pub(crate) fn find_excluded(&self, path: &Path, is_dir: bool) -> Option<PathBuf> {
        if self.files.is_empty() {
            return None;
        }

        let mut whole = PathBuf::new();
        let parts: Vec<_> = path.components().collect();
        for (at, part) in parts.iter().enumerate() {
            whole.push(part);
            if self.excludes(&whole, is_dir || at + 1 < parts.len()) {
                return Some(whole);
            }
        }

        None
    }

    /// Applies the nearest file with a matching pattern.
    fn excludes(&self, path: &Path, is_dir: bool) -> bool {
        for folder in path.ancestors().skip(1) {
            let Some(patterns) = self.files.get(folder) else { continue };
            let Ok(relative) = path.strip_prefix(folder) else { continue };
            match patterns.matched(relative, is_dir) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => {}
            }
        }
        false
    }
}

fn read_patterns(root: &Dir, path: &Path) -> Option<Gitignore> {
    let mut patterns = GitignoreBuilder::new("");
    let lines = BufReader::new(open_file(root, path).ok()?).lines();
    for line in lines.map_while(Result::ok) {
        drop(patterns.add_line(None, line.trim_start_matches('\u{feff}')));
    }

    patterns.build().ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::folder_handle::FolderHandle;

    #[test]
    fn the_nearest_file_decides_and_folders_cover_what_is_in_them() {
        let root = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(root.path().join("app")).expect("a folder");
        fs::write(root.path().join(".gitignore"), "*.log\nnode_modules/\n/top\n").expect("written");
        fs::write(root.path().join("app/.gitignore"), "!keep.log\nlocal\n").expect("written");
        let ignored = IgnoreRules::read(FolderHandle::open(root.path()).expect("opened").dir());
        let covers = |path: &str| ignored.find_excluded(Path::new(path), false);
        assert_eq!(covers("x/a.log"), Some("x/a.log".into()));
        assert_eq!(covers("app/keep.log"), None);
        assert_eq!(covers("app/local/x"), Some("app/local".into()));
        assert_eq!(covers("local"), None);
        assert_eq!(covers("app/node_modules/p/i.js"), Some("app/node_modules".into()));
        assert_eq!((covers("top"), covers("app/top")), (Some("top".into()), None));
        assert_eq!(covers("node_modules"), None, "a file of that name is none of those folders");
    }
}
