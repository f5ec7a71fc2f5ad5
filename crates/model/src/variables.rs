//! Variables of the environment that files use.

use crate::FilePosition;

/// A variable whose value is part of a text of a file, such as a prompt, a criterion or a value of `vars`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TextVariable {
    /// Position of the text.
    pub place: FilePosition,
    /// Name of the variable.
    pub variable: String,
    /// Use of the text.
    pub part: TextPart,
    /// True if the variable has a value.
    pub is_set: bool,
}

/// The part of a file that a text belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TextPart {
    /// A text that models, judges and servers may receive.
    Case,
    /// A setting of the workspace, which Git and programs receive.
    Workspace,
}
