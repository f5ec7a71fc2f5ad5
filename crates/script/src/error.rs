//! Errors of scripts.

/// Error of a script.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScriptError {
    /// The script is not valid JavaScript.
    #[error("{0}")]
    Syntax(String),
    /// The script threw an error.
    #[error("the script threw an error: {0}")]
    Thrown(String),
    /// The file of the script threw an error before its function was called.
    #[error("the file of the script threw an error: {0}")]
    Load(String),
    /// Nothing here can run it.
    #[error(
        "this build of Assize has no JavaScript engine; build it with `--features full`, as released programs are"
    )]
    NoEngine,
    /// The script took more steps than allowed.
    #[error("the script was stopped: it takes too many steps")]
    TooManySteps,
    /// The script took longer than allowed. Contains the limit in seconds.
    #[error("the script was stopped: it takes longer than {0} s")]
    TooSlow(u64),
    /// Other scripts have taken all the time. Contains the limit in seconds.
    #[error("not run: the scripts of this file have taken {0} s together, which is the limit")]
    TimeSpent(u64),
    /// The script needs more memory than allowed. Contains the limit in MiB.
    #[error("the script was stopped: it needs more than {0} MiB of memory")]
    TooMuchMemory(usize),
    /// The script waits for something that will never happen.
    #[error("the script waits for something outside of itself, which does not exist here")]
    Pending,
    /// The result can't be read.
    #[error("the result of the script can't be read: {0}")]
    Result(String),
    /// The result has too many values. Contains the limit of their memory in MiB.
    #[error("the values that the script returned take more than {0} MiB of memory")]
    TooManyValues(usize),
    /// The script is too large. Contains the limit in KiB.
    #[error("the script is larger than {0} KiB")]
    TooLarge(usize),
}

impl ScriptError {
    /// What is wrong with the script, as the title of an error whose details are this one.
    pub fn title(&self) -> &'static str {
        match self {
            Self::Syntax(_) => "this script is not valid JavaScript",
            _ => "this script can't be used",
        }
    }
}
