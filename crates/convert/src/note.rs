//! What a person must know about a conversion.

use std::fmt;
use std::path::PathBuf;

/// Something that was not carried over, or that means something else now.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Note {
    /// The file it stands in.
    pub path: PathBuf,
    /// The line, from 1; none for what concerns the file as a whole.
    pub line: Option<usize>,
    /// What it is: a key, a case, a criterion.
    pub item: String,
    /// What became of it.
    pub what: String,
    /// Whether meaning was lost. The others are only good to know.
    pub lost: bool,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}: {}", self.item, self.what)
    }
}

/// Collects notes about one file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Notes {
    path: PathBuf,
    list: Vec<Note>,
}

impl Notes {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, list: Vec::new() }
    }

    /// Something that is not carried over.
    pub(crate) fn lost(
        &mut self,
        line: impl Into<Option<usize>>,
        item: impl fmt::Display,
        what: impl fmt::Display,
    ) {
        self.add(line.into(), item, what, true);
    }

    /// Something that is good to know.
    pub(crate) fn tell(
        &mut self,
        line: impl Into<Option<usize>>,
        item: impl fmt::Display,
        what: impl fmt::Display,
    ) {
        self.add(line.into(), item, what, false);
    }

    fn add(&mut self, line: Option<usize>, item: impl fmt::Display, what: impl fmt::Display, lost: bool) {
        let clean = |text: String| text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let note = Note {
            path: self.path.clone(),
            line,
            item: clean(item.to_string()),
            what: clean(what.to_string()),
            lost,
        };
        if !self.list.contains(&note) {
            self.list.push(note);
        }
    }

    pub(crate) fn into_list(self) -> Vec<Note> {
        self.list
    }
}
