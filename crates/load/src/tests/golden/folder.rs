//! A temporary copy of a case. Files that can't be stored in the repository are created in it.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A file with this extension has escapes: `\xHH` is a byte, `\r`, `\t` and `\\` have their usual meaning, and
/// `\*COUNT{TEXT}*` repeats a text, with `\#` for the number of the repetition, from 1.
const ESCAPED: &str = "escaped";
/// A file with this extension holds the target of a symbolic link.
const LINK: &str = "link";

/// The copy, gone at the end of the case.
pub(crate) struct Folder {
    path: PathBuf,
    _temporary: TempDir,
}

impl Folder {
    /// Copies a case. A single file becomes `suite.yaml` in a separate folder.
    pub(crate) fn copy_of(input: &Path) -> Self {
        let temporary = tempfile::tempdir().expect("a folder");
        let path = temporary.path().canonicalize().expect("there");
        let folder = Self { path, _temporary: temporary };
        if input.is_dir() {
            copy(input, &folder.path);
        } else {
            fs::copy(input, folder.path.join("suite.yaml")).expect("copied");
        }
        folder
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The text with paths as if the folder were the root of all.
    pub(crate) fn normalise(&self, text: &str) -> String {
        let shown = self.path.display().to_string();
        text.replace(&format!("{shown}/"), "").replace(&shown, ".")
    }
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("readable") {
        let path = entry.expect("readable").path();
        let name = path.file_name().expect("an entry");
        let target = to.join(name);
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if path.is_dir() {
            fs::create_dir_all(&target).expect("made");
            copy(&path, &target);
        } else if ending == ESCAPED {
            let text = fs::read_to_string(&path).expect("text");
            fs::write(target.with_extension(""), unescape(&text)).expect("written");
        } else if ending == LINK {
            let text = fs::read_to_string(&path).expect("text");
            link(text.trim(), &target.with_extension(""));
        } else if name != ".keep" {
            fs::copy(&path, &target).expect("copied");
        }
    }
}

#[cfg(unix)]
fn link(to: &str, at: &Path) {
    std::os::unix::fs::symlink(to, at).expect("linked");
}

#[cfg(not(unix))]
fn link(to: &str, at: &Path) {
    let target = at.parent().expect("inside").join(to);
    std::os::windows::fs::symlink_file(target, at).expect("linked");
}

fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        bytes.extend(&rest.as_bytes()[..at]);
        rest = &rest[at + 1..];
        let kind = rest.chars().next().expect("something after the backslash");
        rest = &rest[1..];
        match kind {
            'r' => bytes.push(b'\r'),
            't' => bytes.push(b'\t'),
            '\\' => bytes.push(b'\\'),
            'x' => {
                bytes.push(u8::from_str_radix(&rest[..2], 16).expect("two digits"));
                rest = &rest[2..];
            }
            '*' => {
                let (count, after) = rest.split_once('{').expect("a text to repeat");
                let end = after.find("}*").expect("the end of a text to repeat");
                let count: usize = count.parse().expect("a number");
                let part = &after[..end];
                if part.contains("\\#") {
                    for number in 1..=count {
                        bytes.extend(part.replace("\\#", &number.to_string()).into_bytes());
                    }
                } else {
                    bytes.extend(part.repeat(count).into_bytes());
                }
                rest = &after[end + 2..];
            }
            other => panic!("unknown escape \\{other}"),
        }
    }
    bytes.extend(rest.as_bytes());
    bytes
}

#[test]
fn escapes_are_undone() {
    assert_eq!(unescape("a\\xE9\\r\n\\\\"), b"a\xe9\r\n\\");
    assert_eq!(unescape("<\\*3{x}*>"), b"<xxx>");
    assert_eq!(unescape("\\*2{{n: \\#}\n}*"), b"{n: 1}\n{n: 2}\n");
}
