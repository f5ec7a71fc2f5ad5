//! Why a file can't be changed at a place.

/// Why a value could not be put into a file. The text is then as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The file can't be read as YAML or JSON.
    #[error("the file can't be read any more; it was changed meanwhile")]
    Unreadable,
    /// The case is not where it was.
    #[error(
        "the case is not found in its file; it was changed meanwhile, or it takes its `id` from elsewhere"
    )]
    NoCase,
    /// The case, or the list in it, is an alias: changing it would change every place it is used at.
    #[error("it is written as an alias (`*name`), so that a change here would change other places too")]
    Alias,
    /// The key is there already.
    #[error("it has `{0}` already")]
    Exists(String),
    /// There is no such list.
    #[error("it has no list `{0}`")]
    NoList(String),
    /// No way of writing it left the rest of the file with the same meaning.
    #[error("no place was found where it could be written without changing the meaning of something else")]
    NoPlace,
}
