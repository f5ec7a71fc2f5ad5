//! Temporary files for the prompt and the answer of a command.

use std::io;
use std::path::{Path, PathBuf};

use assize_process::{private_folder, readable_name};
use tempfile::TempDir;

use crate::TargetInput;

/// Folder for one run of a command, removed with its contents on drop.
#[derive(Debug)]
pub(crate) struct ScratchFolder {
    folder: TempDir,
}

impl ScratchFolder {
    /// Creates the folder inside `root`.
    pub(crate) fn new(root: &Path, input: &TargetInput) -> io::Result<Self> {
        let prefix = format!("assize-{}-{}-", safe_name(&input.case_id), input.attempt);
        Ok(Self { folder: private_folder(&prefix, root)? })
    }

    /// Returns the path of the prompt file.
    pub(crate) fn prompt_file(&self) -> PathBuf {
        self.folder.path().join("prompt.txt")
    }

    /// Returns the path of the messages file.
    pub(crate) fn messages_file(&self) -> PathBuf {
        self.folder.path().join("messages.json")
    }

    /// Returns the path of the variables file.
    pub(crate) fn vars_file(&self) -> PathBuf {
        self.folder.path().join("vars.json")
    }

    /// Path of the answer file. It does not exist until the command writes it.
    pub(crate) fn output_file(&self) -> PathBuf {
        self.folder.path().join("answer.txt")
    }
}

/// Converts a case id to a part of a file name: letters, digits, `-` and `_` only, of bounded length, and
/// with a hash so that different ids stay different.
fn safe_name(id: &str) -> String {
    let hash = blake3::hash(id.as_bytes()).to_hex();
    format!("{}-{}", readable_name(id), &hash[..8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_id_becomes_one_safe_part_of_a_path() {
        let ids = ["a/b", "a b", "a.b", "..", "", "/etc/passwd", "é\n\0", &"x".repeat(5000)];
        let names: Vec<String> = ids.iter().map(|id| safe_name(id)).collect();
        for name in &names {
            assert!(name.len() <= 40 + 9, "{name}");
            assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_'), "{name}");
        }
        assert!(names[0].starts_with("a-b-") && names[0] != names[1] && names[1] != names[2]);
    }

    #[test]
    fn the_folder_goes_away_with_its_owner() {
        let root = tempfile::tempdir().unwrap();
        let scratch = ScratchFolder::new(root.path(), &TargetInput::new("a/../b c", vec![])).unwrap();
        std::fs::write(scratch.prompt_file(), "x").unwrap();
        assert!(!scratch.output_file().exists());
        drop(scratch);
        assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 0);
    }
}
