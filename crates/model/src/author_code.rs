//! An author's code: JavaScript for the built-in engine, or a program in a language with its own interpreter.

use std::path::PathBuf;
use std::sync::Arc;

use assize_script::Script;

/// Code that inspects an answer or changes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthorCode {
    /// JavaScript, run by the built-in engine without access to anything.
    Script(Script),
    /// A program with all the permissions of a process. It is only run if the user allows code.
    Program(CodeProgram),
}

impl AuthorCode {
    /// Returns the program; `None` for JavaScript of the built-in engine.
    pub const fn program(&self) -> Option<&CodeProgram> {
        match self {
            Self::Script(_) => None,
            Self::Program(program) => Some(program),
        }
    }
}

/// A function that an interpreter calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeProgram {
    /// Language.
    pub language: CodeLanguage,
    /// File of the code, by an absolute path; `None` for code in the eval file.
    pub path: Option<PathBuf>,
    /// The code at the time when the eval file was read.
    pub text: Arc<str>,
    /// Name of the function to call; `None` for the default name.
    pub function: Option<String>,
}

/// Language of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CodeLanguage {
    /// Python, run by `python3`.
    Python,
    /// JavaScript that loads other modules, run by `node`.
    JavaScript,
    /// TypeScript, run by a `node` that removes types.
    TypeScript,
    /// Ruby, run by `ruby`: graders only.
    Ruby,
}

assize_rubric::named_variants!(CodeLanguage {
    Python = "Python", JavaScript = "JavaScript", TypeScript = "TypeScript", Ruby = "Ruby",
});
