//! Output that fits on a screen.

/// Number of lines that commands print by default. Necessary messages may exceed it.
pub const SCREEN_LINES: usize = 40;

/// Renders with one level of detail after another, the fullest first, until the text fits on a screen. If none fits,
/// returns the text of the last level.
pub fn fit_screen<L>(levels: impl IntoIterator<Item = L>, render: impl Fn(L) -> String) -> String {
    let mut text = String::new();
    for level in levels {
        text = render(level);
        if text.lines().count() <= SCREEN_LINES {
            break;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fullest_text_that_fits_is_taken_and_otherwise_the_last() {
        let lines = |lines| fit_screen(lines, |count| "x\n".repeat(count)).lines().count();
        assert_eq!(lines(vec![90, 40, 10]), 40);
        assert_eq!(lines(vec![90, 80]), 80);
        assert_eq!(lines(vec![]), 0);
    }
}
