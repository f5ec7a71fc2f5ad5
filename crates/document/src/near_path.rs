//! Finds existing paths whose names are similar to a missing one.

use std::fs;
use std::path::{Path, PathBuf};

/// Maximum number of entries of a folder that are compared with a missing name.
const MAX_LISTED_ENTRIES: usize = 10_000;

/// Returns the entry that shares the first part of the name, such as `a.eval.yaml` for `a.yaml`, if there is
/// exactly one.
fn only_with_stem<'n>(name: &str, names: &'n [String]) -> Option<&'n str> {
    let stem = |name: &'n str| name.split('.').next().filter(|stem| !stem.is_empty());
    let wanted = name.split('.').next()?;
    let mut same = names.iter().map(String::as_str).filter(|other| stem(other) == Some(wanted));
    same.next().filter(|_| same.next().is_none())
}

/// Returns an existing path with a name similar to a missing one's, even if its folder is misspelt.
pub fn near_path(path: &Path) -> Option<PathBuf> {
    let similar = |folder: &Path, name: &str| {
        let folder_to_read = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let entries = fs::read_dir(folder_to_read).ok()?.take(MAX_LISTED_ENTRIES);
        let names: Vec<String> =
            entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
        let near = assize_diagnostic::did_you_mean(name, names.iter().map(String::as_str));
        near.or_else(|| only_with_stem(name, &names)).map(|name| folder.join(name))
    };

    let name = path.file_name()?.to_str()?;
    let folder = path.parent().unwrap_or(Path::new(""));
    if folder.as_os_str().is_empty() || folder.is_dir() {
        return similar(folder, name);
    }

    let near = similar(folder.parent()?, folder.file_name()?.to_str()?)?.join(name);
    if near.exists() { Some(near) } else { similar(near.parent()?, name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_files_and_folders_are_found() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let evals = folder.path().join("evals");
        fs::create_dir(&evals).expect("a new folder");
        let file = evals.join("support.eval.yaml");
        fs::write(&file, "").expect("a new file");

        assert_eq!(near_path(&evals.join("suport.eval.yaml")), Some(file.clone()));
        assert_eq!(near_path(&folder.path().join("evls/support.eval.yaml")), Some(file.clone()));
        assert_eq!(near_path(&folder.path().join("evls/suport.eval.yaml")), Some(file));
        assert_eq!(near_path(&evals.join("support.yaml")), Some(evals.join("support.eval.yaml")));
        assert_eq!(near_path(&folder.path().join("evls")), Some(evals));
        assert_eq!(near_path(&folder.path().join("results/other.csv")), None);
    }
}
