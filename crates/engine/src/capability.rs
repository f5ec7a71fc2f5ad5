//! Requests of files that need the user's consent.

use std::collections::BTreeSet;

use assize_model::{FilePosition, NamedProgram};
use serde_json::{Value, json};

/// A variable of the environment whose value leaves this process for an address that a file chose.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SentVariable {
    /// Position of the value that names it.
    pub place: FilePosition,
    /// Name of the variable.
    pub variable: String,
    /// The address, or the servers of the run.
    pub to: String,
}

/// A file outside of the folders that may be read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct OutsideFile {
    /// Position in the file that names it.
    pub place: FilePosition,
    /// Its path.
    pub path: String,
}

/// Everything that the files of an operation ask for and that needs consent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CapabilityList {
    /// Programs that are started.
    pub programs: BTreeSet<NamedProgram>,
    /// Values of the environment that are sent.
    pub variables: BTreeSet<SentVariable>,
    /// Files that are read.
    pub files: BTreeSet<OutsideFile>,
}

impl CapabilityList {
    /// True if nothing needs consent.
    pub fn is_empty(&self) -> bool {
        self.programs.is_empty() && self.variables.is_empty() && self.files.is_empty()
    }

    /// Adds all of another list.
    pub fn extend(&mut self, other: Self) {
        self.programs.extend(other.programs);
        self.variables.extend(other.variables);
        self.files.extend(other.files);
    }

    /// One line for each item, in the order of the files.
    pub fn lines(&self) -> Vec<String> {
        let programs =
            self.programs.iter().map(|program| format!("{}: runs {}", program.place, program.what));
        let variables = self.variables.iter().map(line_of_variable);
        let files = self.files.iter().map(|file| format!("{}: reads {}", file.place, file.path));
        programs.chain(variables).chain(files).collect()
    }

    /// The list in the form of `--json`.
    pub fn to_json(&self) -> Value {
        let at = |place: &FilePosition| (place.path().display().to_string(), place.line, place.column);
        let programs = self.programs.iter().map(|program| {
            let (file, line, column) = at(&program.place);
            json!({"file": file, "line": line, "column": column, "program": program.what})
        });
        let variables = self.variables.iter().map(|sent| {
            let (file, line, column) = at(&sent.place);
            json!({"file": file, "line": line, "column": column, "variable": sent.variable, "to": sent.to})
        });
        let files = self.files.iter().map(|outside| {
            let (file, line, column) = at(&outside.place);
            json!({"file": file, "line": line, "column": column, "path": outside.path})
        });
        json!({
            "programs": programs.collect::<Vec<_>>(),
            "variables": variables.collect::<Vec<_>>(),
            "files": files.collect::<Vec<_>>(),
        })
    }
}

/// Describes a sent variable.
pub(crate) fn line_of_variable(sent: &SentVariable) -> String {
    format!("{}: sends {} to {}", sent.place, sent.variable, sent.to)
}
