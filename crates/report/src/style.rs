//! Capabilities of the terminal, and the tones of text.

/// Maximum width of text in a window: longer lines are hard to read.
const MAX_TEXT_WIDTH: usize = 100;

/// Layout options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReportStyle {
    /// True if colours (SGR sequences) may be used.
    pub color: bool,
    /// Available columns, or [`ReportStyle::UNLIMITED`]. In a window, text is never wider than 100 columns,
    /// because longer lines are hard to read, and never narrower than 40.
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
    /// Width for output without a window, such as a pipe: text is not wrapped and lines are not cut, so that
    /// paths and commands can be searched for and copied.
    pub const UNLIMITED: usize = usize::MAX;

    /// Returns the width of the window, or the maximum width of text if there is none.
    pub const fn text_width(self) -> usize {
        if self.width == Self::UNLIMITED { MAX_TEXT_WIDTH } else { self.width }
    }

    /// Returns the number of columns for rules and right-aligned text.
    pub(crate) fn columns(self) -> usize {
        self.width.clamp(40, MAX_TEXT_WIDTH)
    }

    /// Returns the number of columns at which text is wrapped, and tables and single lines are cut.
    pub(crate) fn line_columns(self) -> usize {
        if self.width == Self::UNLIMITED { self.width } else { self.columns() }
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
    /// A highlighted passage within a text.
    Marked,
}

impl ReportTone {
    /// Returns the tone of a run with this exit code; `None` if it was killed.
    pub(crate) const fn of_exit_code(code: Option<u8>) -> Self {
        match code {
            Some(0) => Self::Good,
            Some(1 | 2) => Self::Bad,
            _ => Self::Open,
        }
    }

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
