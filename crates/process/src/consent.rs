//! Permission to start programs.

/// The user's consent to start the programs that files name.
///
/// No command starts without one. It says nothing about which programs; whoever creates it has compared the files
/// that name them with what the user allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProgramConsent(());

impl ProgramConsent {
    /// Creates the consent. Outside tests, only the one place that reads the user's choice may call this; a check
    /// of the repository holds that.
    pub const fn of_user() -> Self {
        Self(())
    }
}
