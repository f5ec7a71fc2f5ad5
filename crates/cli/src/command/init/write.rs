//! Writing of new files into a folder that may have some already.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use super::files::File;

/// Treatment of an existing file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Existing {
    /// Keeps it.
    Keep,
    /// Asks the user.
    Ask,
    /// Overwrites it.
    Overwrite,
}

/// Result of writing a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Done {
    /// Written or extended.
    Written,
    /// Kept, although its content differs.
    Kept,
    /// Already up to date.
    Current,
}

impl Done {
    /// The word for output, padded to equal width.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Written => "wrote",
            Self::Kept => "kept ",
            Self::Current => "same ",
        }
    }
}

/// Writes a file below `folder`. An identical one is kept without a question.
pub(super) fn put(
    folder: &Path,
    file: &File,
    existing: Existing,
    ask: &mut dyn FnMut(&str) -> Result<bool, String>,
) -> Result<Done, String> {
    let path = folder.join(&file.path);
    match fs::read(&path) {
        Ok(present) if present == file.text.as_bytes() => return Ok(Done::Current),
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return write(&path, &file.text),
        Err(error) => return Err(format!("can't read `{}`: {error}", path.display())),
    }
    let overwrite = match existing {
        Existing::Keep => false,
        Existing::Ask => ask(&file.path)?,
        Existing::Overwrite => true,
    };
    if overwrite { write(&path, &file.text) } else { Ok(Done::Kept) }
}

/// Adds missing lines to `.gitignore`; existing ones stay.
pub(super) fn ignore(folder: &Path, lines: &[&str]) -> Result<Done, String> {
    let path = folder.join(".gitignore");
    let present = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        Err(error) => return Err(format!("can't read `{}`: {error}", path.display())),
    };
    let plain = |line: &str| line.trim().trim_start_matches('/').trim_end_matches('/').to_owned();
    let known: Vec<String> = present.lines().map(plain).collect();
    let lacking: Vec<&str> = lines.iter().copied().filter(|line| !known.contains(&plain(line))).collect();
    if lacking.is_empty() {
        return Ok(Done::Current);
    }
    let joint = if present.is_empty() || present.ends_with('\n') { "" } else { "\n" };
    write(&path, &format!("{present}{joint}{}\n", lacking.join("\n")))
}

fn write(path: &Path, text: &str) -> Result<Done, String> {
    let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
    folder
        .and_then(|()| fs::write(path, text))
        .map_err(|error| format!("can't write `{}`: {error}", path.display()))?;
    Ok(Done::Written)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> File {
        File { path: "a/b.yaml".to_owned(), text: text.to_owned() }
    }

    #[test]
    fn a_file_is_overwritten_only_when_somebody_wants_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let read = || fs::read_to_string(folder.path().join("a/b.yaml")).expect("there");
        let mut never = |_: &str| -> Result<bool, String> { panic!("asked") };
        assert_eq!(put(folder.path(), &file("one"), Existing::Keep, &mut never), Ok(Done::Written));
        assert_eq!(put(folder.path(), &file("one"), Existing::Ask, &mut never), Ok(Done::Current));
        assert_eq!(put(folder.path(), &file("two"), Existing::Keep, &mut never), Ok(Done::Kept));
        assert_eq!(put(folder.path(), &file("two"), Existing::Ask, &mut |_| Ok(false)), Ok(Done::Kept));
        assert_eq!(read(), "one");
        assert_eq!(put(folder.path(), &file("two"), Existing::Ask, &mut |_| Ok(true)), Ok(Done::Written));
        assert_eq!(put(folder.path(), &file("three"), Existing::Overwrite, &mut never), Ok(Done::Written));
        assert_eq!(read(), "three");
    }

    #[test]
    fn only_lines_that_are_missing_are_added_to_gitignore() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(".gitignore");
        fs::write(&path, "target\n/.assize/runs/").expect("written");
        assert_eq!(ignore(folder.path(), &[".assize/runs/", ".env"]), Ok(Done::Written));
        assert_eq!(fs::read_to_string(&path).expect("there"), "target\n/.assize/runs/\n.env\n");
        assert_eq!(ignore(folder.path(), &[".assize/runs/", ".env"]), Ok(Done::Current));
    }
}
