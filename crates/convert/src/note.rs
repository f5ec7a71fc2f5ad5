//! Notes about a conversion.

use std::fmt;
use std::path::{Path, PathBuf};

use assize_model::{Case, Grader};

/// A note about a part of a file that was lost or changed its meaning, or a remark.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConversionNote {
    /// Source file.
    pub path: PathBuf,
    /// Line in the source, from 1; `None` if the note is about the whole file.
    pub line: Option<usize>,
    /// Subject of the note: a key, a case, a criterion.
    pub item: String,
    /// Effect of the conversion on it.
    pub what: String,
    /// True if meaning was lost. Otherwise the note is a remark.
    pub lost: bool,
}

impl fmt::Display for ConversionNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}: {}", self.item, self.what)
    }
}

/// Collects the notes about one file.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConversionNotes {
    path: PathBuf,
    list: Vec<ConversionNote>,
}

impl ConversionNotes {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, list: Vec::new() }
    }

    /// Adds a loss.
    pub(crate) fn add_loss(
        &mut self,
        line: impl Into<Option<usize>>,
        item: impl fmt::Display,
        what: impl fmt::Display,
    ) {
        self.add(line.into(), item, what, true);
    }

    /// Adds a loss of a case.
    pub(crate) fn add_case_loss(&mut self, case: &Case, what: impl fmt::Display) {
        self.add_loss(case.place.line, format!("case `{}`", case.id), what);
    }

    /// Adds a loss of a grader of a case.
    pub(crate) fn add_grader_loss(&mut self, grader: &Grader, case: &Case, what: impl fmt::Display) {
        self.add_loss(grader.place.line, format!("grader `{}` of `{}`", grader.name, case.id), what);
    }

    /// Adds a remark.
    pub(crate) fn add_remark(
        &mut self,
        line: impl Into<Option<usize>>,
        item: impl fmt::Display,
        what: impl fmt::Display,
    ) {
        self.add(line.into(), item, what, false);
    }

    /// Adds a loss in a file that the converted file refers to.
    pub(crate) fn add_loss_in(
        &mut self,
        path: &Path,
        line: usize,
        item: impl fmt::Display,
        what: impl fmt::Display,
    ) {
        let own = std::mem::replace(&mut self.path, path.to_path_buf());
        self.add(Some(line), item, what, true);
        self.path = own;
    }

    fn add(&mut self, line: Option<usize>, item: impl fmt::Display, what: impl fmt::Display, lost: bool) {
        let clean = |text: String| text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let note = ConversionNote {
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

    pub(crate) fn into_list(self) -> Vec<ConversionNote> {
        self.list
    }
}

/// Returns the names of the parts that are lost.
pub(crate) fn lost_names<const N: usize>(parts: [(&'static str, bool); N]) -> Vec<&'static str> {
    parts.into_iter().filter(|(_, is_lost)| *is_lost).map(|(name, _)| name).collect()
}
