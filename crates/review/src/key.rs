//! Keys, whatever terminal they come from.

/// A key that was pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
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
    /// One screen up.
    PageUp,
    /// One screen down.
    PageDown,
    /// To the beginning.
    Home,
    /// To the end.
    End,
    /// Leave at once, whatever is open (Ctrl-C).
    Interrupt,
}
