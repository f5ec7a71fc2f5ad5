//! A script: its text and its form.

use std::sync::Arc;

use crate::function_body::function_body;

/// JavaScript that can be called as a function. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    text: Arc<str>,
    form: ScriptForm,
}

/// Form of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ScriptForm {
    /// The body of a function.
    Body,
    /// A file that exports a function, possibly with a name.
    Module(Option<Arc<str>>),
}

impl Script {
    /// Creates a script from code in an eval file: a single line is an expression, several lines are the body
    /// of a function.
    pub fn from_code(code: &str) -> Self {
        Self { text: function_body(code).into(), form: ScriptForm::Body }
    }

    /// Creates a script from a file that exports a function: as `module.exports`, with `export default`, or
    /// with the name `export`.
    pub fn from_file(text: &str, export: Option<&str>) -> Self {
        Self { text: text.into(), form: ScriptForm::Module(export.map(Arc::from)) }
    }

    /// Returns the text that is run.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns true if the script is a file that exports a function.
    pub const fn is_file(&self) -> bool {
        matches!(self.form, ScriptForm::Module(_))
    }

    /// Returns the name of the exported function, if one is named.
    pub fn export(&self) -> Option<&str> {
        match &self.form {
            ScriptForm::Body => None,
            ScriptForm::Module(export) => export.as_deref(),
        }
    }
}
