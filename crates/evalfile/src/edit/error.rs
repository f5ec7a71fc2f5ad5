//! Errors of editing a file.

/// Failure to put a value into a file. The text is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The file is not valid YAML or JSON.
    #[error("the file can't be read any more; it was changed meanwhile")]
    Unreadable,
    /// The case is no longer at its location.
    #[error(
        "the case is not found in its file; it was changed meanwhile, or it takes its `id` from elsewhere"
    )]
    NoCase,
    /// The case, or the list in it, is an alias: changing it would change every place where it is used.
    #[error("it is written as an alias (`*name`), so that a change here would change other places too")]
    Alias,
    /// The key exists already.
    #[error("it has `{0}` already")]
    Exists(String),
    /// There is no such list.
    #[error("it has no list `{0}`")]
    NoList(String),
    /// Every candidate edit would have changed the meaning of the rest of the file.
    #[error("no place was found where it could be written without changing the meaning of something else")]
    NoSafeEdit,
}
