//! Capabilities of the terminal, and the tones of text.

/// Layout options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReportStyle {
    /// True if colours (SGR sequences) may be used.
    pub color: bool,
    /// Available columns. Text is never wider than 100 columns, because longer lines are hard to read, and
    /// never narrower than 40.
    pub width: usize,
    /// True if the program's own text may contain non-ASCII signs.
    pub unicode: bool,
}

impl Default for ReportStyle {
    /// Plain text for 80 columns.
    fn default() -> Self {
        Self { color: false, width: 80, unicode: true }
    }
}

impl ReportStyle {
    /// Returns the number of columns to use.
    pub(crate) fn columns(self) -> usize {
        self.width.clamp(40, 100)
    }
}

/// Semantic tone of a piece of text, which determines its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReportTone {
    Plain,
    /// Names to find at a glance.
    Strong,
    /// Context that may be skipped.
    Dim,
    Good,
    Middling,
    Bad,
    /// Unknown or undecided.
    Open,
    /// A passage to see within a text.
    Marked,
}

impl ReportTone {
    /// Returns the SGR parameters of the tone; `None` for plain text.
    pub(crate) const fn sgr(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Strong => Some("1"),
            Self::Dim => Some("2"),
            Self::Good => Some("32"),
            Self::Middling => Some("33"),
            Self::Bad => Some("31"),
            Self::Open => Some("35"),
            Self::Marked => Some("1;4"),
        }
    }
}
