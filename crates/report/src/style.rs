//! What the reader's terminal can show, and the few tones text is set in.

/// How text is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether colours (SGR sequences) may be used.
    pub color: bool,
    /// Columns available. Text is never set wider than 100 columns, because longer lines are hard
    /// to read, and never narrower than 40.
    pub width: usize,
    /// Whether signs beyond ASCII may be used for what the program says itself.
    pub unicode: bool,
}

impl Default for Style {
    /// Plain text for 80 columns.
    fn default() -> Self {
        Self { color: false, width: 80, unicode: true }
    }
}

impl Style {
    /// Columns that are used.
    pub(crate) fn columns(self) -> usize {
        self.width.clamp(40, 100)
    }
}

/// What a piece of text means to the reader, from which its colour follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    /// Names that the eye looks for.
    Strong,
    /// Context that may be skipped.
    Dim,
    Good,
    Middling,
    Bad,
    /// Not known, not decided.
    Open,
}

impl Tone {
    /// The SGR parameters that switch it on; `None` for plain text.
    pub(crate) const fn sgr(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Strong => Some("1"),
            Self::Dim => Some("2"),
            Self::Good => Some("32"),
            Self::Middling => Some("33"),
            Self::Bad => Some("31"),
            Self::Open => Some("35"),
        }
    }
}
