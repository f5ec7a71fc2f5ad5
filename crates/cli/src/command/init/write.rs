//! Writes new files into a folder that may contain some already.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use assize_files::MAX_FILE_BYTES;

use super::files::ProjectFile;
use crate::failure::CommandFailure;

/// Treatment of an existing file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExistingFilePolicy {
    /// Keeps it.
    Keep,
    /// Asks the user.
    Ask,
    /// Overwrites it.
    Overwrite,
}

/// Result of writing a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WriteOutcome {
    /// Written or extended.
    Written,
    /// Kept, although its content differs.
    Kept,
    /// Already up to date.
    Current,
}

impl WriteOutcome {
    /// The word for output, padded to equal width.
    pub(super) const fn padded_label(self) -> &'static str {
        match self {
            Self::Written => "wrote",
            Self::Kept => "kept ",
            Self::Current => "same ",
        }
    }
}

/// Writes a file below `folder`. Does not prompt if the file is already identical.
pub(super) fn write_file(
    folder: &Path,
    file: &ProjectFile,
    existing: ExistingFilePolicy,
    ask: &mut dyn FnMut(&str) -> Result<bool, CommandFailure>,
) -> Result<WriteOutcome, CommandFailure> {
    let path = folder.join(&file.path);
    match assize_files::read_bytes(&path, MAX_FILE_BYTES) {
        Ok(present) if present == file.text.as_bytes() => return Ok(WriteOutcome::Current),
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return write_text(&path, &file.text),
        Err(error) => return Err(format!("can't read `{}`: {error}", path.display()).into()),
    }

    let overwrite = match existing {
        ExistingFilePolicy::Keep => false,
        ExistingFilePolicy::Ask => ask(&file.path)?,
        ExistingFilePolicy::Overwrite => true,
    };
    if overwrite { write_text(&path, &file.text) } else { Ok(WriteOutcome::Kept) }
}

/// Adds missing lines to `.gitignore`; existing ones stay.
pub(super) fn update_gitignore(folder: &Path, lines: &[&str]) -> Result<WriteOutcome, CommandFailure> {
    let path = folder.join(".gitignore");
    let present = match assize_files::read_text(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        Err(error) => return Err(format!("can't read `{}`: {error}", path.display()).into()),
    };

    let plain = |line: &str| line.trim().trim_start_matches('/').trim_end_matches('/').to_owned();
    let known: Vec<String> = present.lines().map(plain).collect();
    let lacking: Vec<&str> = lines.iter().copied().filter(|line| !known.contains(&plain(line))).collect();
    if lacking.is_empty() {
        return Ok(WriteOutcome::Current);
    }

    let joint = if present.is_empty() || present.ends_with('\n') { "" } else { "\n" };
    write_text(&path, &format!("{present}{joint}{}\n", lacking.join("\n")))
}

fn write_text(path: &Path, text: &str) -> Result<WriteOutcome, CommandFailure> {
    let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
    folder
        .and_then(|()| fs::write(path, text))
        .map_err(|error| format!("can't write `{}`: {error}", path.display()))?;
    Ok(WriteOutcome::Written)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> ProjectFile {
        ProjectFile { path: "a/b.yaml".to_owned(), text: text.to_owned() }
    }

    #[test]
    fn a_file_is_overwritten_only_when_somebody_wants_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let read = || fs::read_to_string(folder.path().join("a/b.yaml")).expect("there");
        let mut never = |_: &str| -> Result<bool, CommandFailure> { panic!("asked") };
        assert_eq!(
            write_file(folder.path(), &file("one"), ExistingFilePolicy::Keep, &mut never),
            Ok(WriteOutcome::Written)
        );
        assert_eq!(
            write_file(folder.path(), &file("one"), ExistingFilePolicy::Ask, &mut never),
            Ok(WriteOutcome::Current)
        );
        assert_eq!(
            write_file(folder.path(), &file("two"), ExistingFilePolicy::Keep, &mut never),
            Ok(WriteOutcome::Kept)
        );
        assert_eq!(
            write_file(folder.path(), &file("two"), ExistingFilePolicy::Ask, &mut |_| Ok(false)),
            Ok(WriteOutcome::Kept)
        );
        assert_eq!(read(), "one");
        assert_eq!(
            write_file(folder.path(), &file("two"), ExistingFilePolicy::Ask, &mut |_| Ok(true)),
            Ok(WriteOutcome::Written)
        );
        assert_eq!(
            write_file(folder.path(), &file("three"), ExistingFilePolicy::Overwrite, &mut never),
            Ok(WriteOutcome::Written)
        );
        assert_eq!(read(), "three");
    }

    #[test]
    fn only_lines_that_are_missing_are_added_to_gitignore() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(".gitignore");
        fs::write(&path, "target\n/.assize/runs/").expect("written");
        assert_eq!(update_gitignore(folder.path(), &[".assize/runs/", ".env"]), Ok(WriteOutcome::Written));
        assert_eq!(fs::read_to_string(&path).expect("there"), "target\n/.assize/runs/\n.env\n");
        assert_eq!(update_gitignore(folder.path(), &[".assize/runs/", ".env"]), Ok(WriteOutcome::Current));
    }
}
