//! Keys, independent of the terminal.

/// A pressed key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewKey {
    /// A character.
    Char(char),
    /// Return.
    Enter,
    /// Escape.
    Escape,
    /// Backspace.
    Backspace,
    /// One line up.
    Up,
    /// One line down.
    Down,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// Home: to the beginning.
    Home,
    /// End: to the end.
    End,
    /// Ctrl-C: quit at once, even if a dialog is open.
    Interrupt,
}
