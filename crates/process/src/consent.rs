//! Permission to start programs.

/// The user's consent to start the programs that files name.
///
/// No command starts without one. It does not name the programs: the code that creates it has already checked that the
/// user allows the programs of the loaded files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProgramConsent(());

impl ProgramConsent {
    /// Creates the consent. Outside tests, only the code that reads the user's choice may call this; a check of the
    /// repository enforces that.
    pub const fn of_user() -> Self {
        Self(())
    }
}
