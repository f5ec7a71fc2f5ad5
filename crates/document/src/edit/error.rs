//! Errors of editing a file.

/// Failure to put a value into a file. The text is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The file is not valid YAML or JSON.
    #[error("the file can't be read any more; it changed meanwhile")]
    Unreadable,
    /// The case is no longer at its location.
    #[error("the case was not found in its file; the file changed, or the `id` comes from elsewhere")]
    NoCase,
    /// The case, or the list in it, is an alias: changing it would change every place where it is used.
    #[error("it is an alias (`*name`), so changing it would change other places as well")]
    Alias,
    /// The key exists already.
    #[error("it already has `{0}`")]
    Exists(String),
    /// There is no such list.
    #[error("it has no list `{0}`")]
    NoList(String),
    /// Every candidate edit would have changed the meaning of the rest of the file.
    #[error("no place was found where it could be added safely")]
    NoSafeEdit,
}
