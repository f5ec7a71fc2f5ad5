//! Screen of a review, as lines of text for a window of any size.

use assize_rubric::{FailureSeverity, LabelOutcome, NO_FAILURE};
use unicode_width::UnicodeWidthStr;

use crate::session::{ReviewAnswer, ReviewMode, WITHOUT_CODE};
use crate::wrap::{fit_line, wrap_text};
use crate::{FailureChoice, ReviewItem, ReviewQuestion, ReviewSectionKind, ReviewSession};

/// Minimum window size, in columns and lines.
const MIN_WINDOW: (usize, usize) = (30, 8);

/// Minimum width of a window for two columns: material and question side by side.
const TWO_COLUMN_WIDTH: usize = 96;
/// Separator between the two columns.
const GUTTER: &str = " │ ";

/// Appearance of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScreenLook {
    /// Title bar.
    Bar,
    /// Heading.
    Heading,
    /// Normal text.
    Plain,
    /// Less important text.
    Faint,
    /// Marked entry of a list.
    Marked,
    /// Message that needs attention.
    Alert,
}

/// A line of the screen: texts side by side, together no wider than the window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScreenLine {
    /// The texts, sanitised, with their appearance.
    pub spans: Vec<(String, ScreenLook)>,
}

impl ScreenLine {
    /// Returns the line without its appearance.
    pub fn text(&self) -> String {
        self.spans.iter().map(|(text, _)| text.as_str()).collect()
    }

    fn has_look(&self, look: ScreenLook) -> bool {
        self.spans.iter().any(|(_, found)| *found == look)
    }
}

/// A screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewScreen {
    /// The lines of the window.
    pub lines: Vec<ScreenLine>,
}

/// Renders a session, limiting the session's scroll position to the available text.
pub fn render_screen(
    session: &mut ReviewSession,
    reviewer: &str,
    width: usize,
    height: usize,
) -> ReviewScreen {
    if width < MIN_WINDOW.0 || height < MIN_WINDOW.1 {
        let text = fit_line("Make the window larger.", width);
        let mut lines = vec![line(text, ScreenLook::Alert)];
        pad_lines(&mut lines, height);
        return ReviewScreen { lines };
    }

    let left = session.progress();
    let mut lines = Vec::with_capacity(height);
    let Some(item) = session.item().cloned() else {
        lines.push(line(
            fit_line(&format!("{} of {} decided · {reviewer}", left.decided, left.all), width),
            ScreenLook::Bar,
        ));
        lines.push(line(String::new(), ScreenLook::Plain));
        lines.push(line("No items left.".to_owned(), ScreenLook::Plain));
        pad_lines(&mut lines, height - 1);
        lines.push(line(fit_line("Enter leave · z undo", width), ScreenLook::Faint));

        return ReviewScreen { lines };
    };

    let what = if item.criterion.is_empty() { "first failure" } else { &item.criterion };
    let bar = format!(
        "{} · {what} · {} of {}, {} decided · {} · {reviewer}",
        item.case,
        session.index() + 1,
        left.all,
        left.decided,
        if session.may_show_judge() { item.why.describe() } else { item.describe_blindly() }
    );

    lines.push(line(fit_line(&bar, width), ScreenLook::Bar));
    let footer = footer_lines(session, &item, width);
    let room = height - 1 - footer.len();
    let body = if session.help { help_lines(width) } else { body_lines(session, &item, width) };
    let furthest = body.len().saturating_sub(room);
    let from = if session.help {
        0
    } else {
        session.scroll = session.scroll.min(furthest);
        // The marked entry of a list must be visible.
        match body.iter().position(|line| line.has_look(ScreenLook::Marked)) {
            Some(at) => at.saturating_sub(room / 2).min(furthest),
            None => session.scroll,
        }
    };

    lines.extend(body.into_iter().skip(from).take(room));
    pad_lines(&mut lines, height - footer.len());
    lines.extend(footer);

    if furthest > 0 && !session.help {
        let seen = format!(" {}% ", (from * 100).checked_div(furthest).unwrap_or(100));
        let rule = height - footer_len(&lines, height);
        if let Some(drawn) = lines.get_mut(rule) {
            *drawn = line(format!("{seen:─>width$}"), ScreenLook::Faint);
        }
    }

    ReviewScreen { lines }
}

/// Returns the number of footer lines: the footer begins with the only rule.
fn footer_len(lines: &[ScreenLine], height: usize) -> usize {
    let rule =
        lines.iter().rposition(|line| line.has_look(ScreenLook::Faint) && line.text().starts_with('─'));
    rule.map_or(0, |at| height - at)
}

fn line(text: String, look: ScreenLook) -> ScreenLine {
    ScreenLine { spans: vec![(text, look)] }
}

fn pad_lines(lines: &mut Vec<ScreenLine>, height: usize) {
    lines.truncate(height);
    while lines.len() < height {
        lines.push(line(String::new(), ScreenLook::Plain));
    }
}

fn add_section(lines: &mut Vec<ScreenLine>, title: &str, text: &str, width: usize) {
    if !lines.is_empty() {
        lines.push(line(String::new(), ScreenLook::Plain));
    }
    lines.push(line(fit_line(title, width), ScreenLook::Heading));
    lines.extend(wrap_text(text, width).into_iter().map(|text| line(text, ScreenLook::Plain)));
}

fn body_lines(session: &ReviewSession, item: &ReviewItem, width: usize) -> Vec<ScreenLine> {
    if let (ReviewMode::Choosing(at), ReviewQuestion::Primary(choices)) = (&session.mode, &item.question) {
        return choice_lines(choices, *at, width);
    }

    let mut lines = Vec::new();
    if session.may_show_judge() {
        if let Some(decision) = session.decision() {
            let words = decision_words(&decision.answer, decision.severity, decision.note.as_deref());
            add_section(&mut lines, "You", &words, width);
        }

        if let Some(judge) = &item.judge {
            add_section(&mut lines, "The judge", &judge_words(judge), width);
        }

        lines.push(line(String::new(), ScreenLook::Plain));
    }

    let room = width.saturating_sub(GUTTER.width());
    let (left, right) = (room / 2, room - room / 2);
    let section_lines = |about: ReviewSectionKind, width: usize| {
        let mut lines = Vec::new();
        for section in item.sections.iter().filter(|section| section.about == about) {
            add_section(&mut lines, &section.title, &section.text, width);
        }
        lines
    };

    let (material, question) =
        (section_lines(ReviewSectionKind::Material, left), section_lines(ReviewSectionKind::Question, right));
    if width >= TWO_COLUMN_WIDTH && !material.is_empty() && !question.is_empty() {
        lines.extend(side_by_side(material, question, left));
        return lines;
    }

    for section in &item.sections {
        add_section(&mut lines, &section.title, &section.text, width);
    }

    lines
}

/// Lists the failures of a trace, each with its criterion, and the answers without a code.
fn choice_lines(choices: &[FailureChoice], at: usize, width: usize) -> Vec<ScreenLine> {
    const INDENT: &str = "    ";

    let without = WITHOUT_CODE.map(|code| (code, without_code_text(code), ""));
    let entries = choices
        .iter()
        .map(|choice| (choice.code.as_str(), choice.text.as_str(), choice.criterion.as_str()))
        .chain(without);

    let mut lines = Vec::new();
    for (place, (code, text, criterion)) in entries.enumerate() {
        let (mark, look) = if place == at { ("> ", ScreenLook::Marked) } else { ("  ", ScreenLook::Plain) };
        lines.push(line(fit_line(&format!("{mark}{code}  {text}"), width), look));
        let about = wrap_text(criterion, width.saturating_sub(INDENT.len()));
        let about = about.into_iter().filter(|text| !text.trim().is_empty());
        lines.extend(about.map(|text| line(format!("{INDENT}{text}"), ScreenLook::Faint)));
    }

    lines
}

fn without_code_text(code: &str) -> &'static str {
    if code == NO_FAILURE { "the case has no failure" } else { "a failure without a code" }
}

/// Joins two columns, padding the shorter one.
fn side_by_side(left: Vec<ScreenLine>, right: Vec<ScreenLine>, width: usize) -> Vec<ScreenLine> {
    let rows = left.len().max(right.len());
    let (mut left, mut right) = (left.into_iter(), right.into_iter());
    let row = |_| {
        let mut spans = left.next().map(|line| line.spans).unwrap_or_default();
        let used: usize = spans.iter().map(|(text, _)| text.width()).sum();
        spans.push((" ".repeat(width.saturating_sub(used)), ScreenLook::Plain));
        spans.push((GUTTER.to_owned(), ScreenLook::Faint));
        spans.extend(right.next().map(|line| line.spans).unwrap_or_default());

        ScreenLine { spans }
    };
    (0..rows).map(row).collect()
}

/// Describes a decision in one line, as a reviewer reads it.
pub fn decision_words(
    answer: &ReviewAnswer,
    severity: Option<FailureSeverity>,
    note: Option<&str>,
) -> String {
    let mut words = match answer {
        ReviewAnswer::Outcome(outcome) => outcome.words(),
        ReviewAnswer::Primary(code) => code.clone(),
    };
    if let Some(severity) = severity {
        words.push_str(", severity ");
        words.push_str(severity.name());
    }
    if let Some(note) = note {
        words.push_str(": ");
        words.push_str(note);
    }

    words
}

/// Describes the decision of a judge: outcome, confidence and reason.
pub fn judge_words(judge: &crate::JudgeAccount) -> String {
    let outcome = judge.outcome.map_or_else(|| "no decision".to_owned(), LabelOutcome::words);
    let confidence = judge.confidence.map(|word| format!(" (confidence {word})")).unwrap_or_default();
    let reason = if judge.reason.is_empty() { String::new() } else { format!(": {}", judge.reason) };
    format!("{outcome}{confidence}{reason}")
}

fn footer_lines(session: &ReviewSession, item: &ReviewItem, width: usize) -> Vec<ScreenLine> {
    let mut lines = vec![line("─".repeat(width), ScreenLook::Faint)];
    if let Some(message) = &session.message {
        lines.push(line(fit_line(message, width), ScreenLook::Alert));
    }

    // While typing, the end of the text must be visible.
    let typing = |label: &str, text: &str| {
        let room = width.saturating_sub(label.len() + 1);
        let tail: String = text.chars().skip(text.chars().count().saturating_sub(room)).collect();
        line(fit_line(&format!("{label}{tail}_"), width), ScreenLook::Marked)
    };
    let keys = match &session.mode {
        ReviewMode::Note(text) => {
            lines.push(typing("note: ", text));
            "Enter keep  Esc drop"
        }
        ReviewMode::Score(text) => {
            if let ReviewQuestion::Verdict(Some(scale)) = &item.question {
                lines.push(typing(&format!("score ({} to {}): ", scale.min, scale.max), text));
            }
            "Enter decide  Esc back"
        }
        ReviewMode::Choosing(_) => "↑↓ move  Enter decide  Esc back",
        ReviewMode::Decided => "Enter next  z undo  q quit  ↑↓ scroll",
        ReviewMode::Finished => "",
        ReviewMode::Deciding => {
            let severity = session.severity.map_or("none", FailureSeverity::name);
            let note = if session.note.is_empty() { "none" } else { &session.note };
            lines.push(line(
                fit_line(&format!("severity: {severity} · note: {note}"), width),
                ScreenLook::Faint,
            ));

            match &item.question {
                ReviewQuestion::Verdict(None) => {
                    "p pass  f fail  n n/a  u unsure  s severity  e note  x skip  z undo  q quit  ? help"
                }
                ReviewQuestion::Verdict(Some(_)) => {
                    "v score  n n/a  u unsure  s severity  e note  x skip  z undo  q quit  ? help"
                }
                ReviewQuestion::Primary(_) => {
                    "c choose  0 another failure  o no failure  s severity  e note  x skip  z undo  q quit  ? help"
                }
            }
        }
    };

    lines.extend(key_lines(keys, width));
    lines
}

/// Wraps key descriptions, which are separated by two spaces, into lines.
fn key_lines(keys: &str, width: usize) -> Vec<ScreenLine> {
    let mut lines: Vec<String> = Vec::new();
    for key in keys.split("  ") {
        match lines.last_mut() {
            Some(last) if last.width() + 2 + key.width() <= width => {
                last.push_str("  ");
                last.push_str(key);
            }
            _ => lines.push(key.to_owned()),
        }
    }

    lines.into_iter().map(|keys| line(fit_line(&keys, width), ScreenLook::Plain)).collect()
}

fn help_lines(width: usize) -> Vec<ScreenLine> {
    const HELP: [(&str, &str); 15] = [
        ("p f", "pass, fail (criteria without a scale)"),
        ("n u", "not applicable, unsure"),
        ("v", "a score (criteria with a scale)"),
        ("c 0 o", "traces: choose a failure, one without a code, no failure"),
        ("s", "severity: none, low, medium, high"),
        ("e", "write a note"),
        ("x", "skip for now"),
        ("z", "undo the last decision"),
        ("↑ ↓ j k", "a line up or down"),
        ("space b", "ten lines down or up; also Page Up, Page Down"),
        ("Home End", "to the beginning, to the end"),
        ("Enter", "to the next item, once decided"),
        ("q", "quit; labels are kept"),
        ("", "Severity and note come before the decision."),
        ("", "Press any key to close."),
    ];
    let text_lines = |(keys, text): &(&str, &str)| {
        let indent = if keys.is_empty() { 0 } else { 10 };
        let wrapped = wrap_text(text, width.saturating_sub(indent).max(1));
        let first = format!("{keys:<indent$}");
        let heads = std::iter::once(first).chain(std::iter::repeat(" ".repeat(indent)));
        let lines = heads.zip(wrapped).map(|(head, text)| fit_line(&format!("{head}{text}"), width));
        lines.map(|text| line(text, ScreenLook::Plain)).collect::<Vec<_>>()
    };
    HELP.iter().flat_map(text_lines).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::tests::items;
    use crate::{ReviewKey, ReviewStep};

    fn text(screen: &ReviewScreen) -> String {
        screen.lines.iter().map(ScreenLine::text).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn every_window_is_filled_and_never_overrun() {
        for (width, height) in [(80, 24), (200, 60), (30, 8), (10, 3), (40, 9), (0, 0)] {
            let mut session = ReviewSession::new(items(1));
            let drawn = render_screen(&mut session, "ann", width, height);
            assert_eq!(drawn.lines.len(), height, "{width}x{height}");
            assert!(drawn.lines.iter().all(|line| line.text().width() <= width), "{width}x{height}");
        }
    }

    #[test]
    fn the_judge_is_on_no_screen_before_the_decision() {
        let mut session = ReviewSession::new(items(1));
        for key in [
            ReviewKey::End,
            ReviewKey::Char('?'),
            ReviewKey::Char('?'),
            ReviewKey::Char('e'),
            ReviewKey::Escape,
            ReviewKey::Home,
        ] {
            session.handle_key(key);
            let drawn = text(&render_screen(&mut session, "ann", 80, 24));
            assert!(!drawn.contains("SECRET-REASON") && !drawn.contains("The judge\n"), "{drawn}");
        }
        assert!(matches!(session.handle_key(ReviewKey::Char('p')), ReviewStep::Record(_)));
        session.confirm_recorded();
        let drawn = text(&render_screen(&mut session, "ann", 80, 24));
        assert!(drawn.contains("SECRET-REASON") && drawn.contains("You\npass"), "{drawn}");
        session.handle_key(ReviewKey::Char('z'));
        let again = text(&render_screen(&mut session, "ann", 80, 24));
        assert!(!again.contains("SECRET-REASON"), "{again}");
    }

    #[test]
    fn wide_windows_show_what_is_judged_beside_what_is_asked() {
        let mut session = ReviewSession::new(items(1));
        let wide = text(&render_screen(&mut session, "ann", 120, 24));
        let heads = format!("Answer{} │ Criterion", " ".repeat(58 - "Answer".len()));
        assert!(wide.contains(&heads), "{wide}");
        let narrow = text(&render_screen(&mut session, "ann", 80, 24));
        assert!(narrow.contains("\nCriterion\n") && !narrow.contains('│'), "{narrow}");
    }

    #[test]
    fn failures_are_listed_with_their_criteria() {
        let mut all = items(1);
        let choice = |code: &str| FailureChoice {
            code: code.to_owned(),
            text: "Dose".to_owned(),
            criterion: format!("Flag if {code} is wrong."),
            seen: None,
        };
        all[0].question = ReviewQuestion::Primary(vec![choice("A1"), choice("A2")]);
        let mut session = ReviewSession::new(all);
        assert!(text(&render_screen(&mut session, "ann", 100, 24)).contains("o no failure"));
        session.handle_key(ReviewKey::Char('c'));
        session.handle_key(ReviewKey::Char('o'));
        let drawn = text(&render_screen(&mut session, "ann", 60, 24));
        for wanted in ["  A1  Dose", "    Flag if A2 is wrong.", "  NONE_OF_THE_ABOVE", "> NO_FAILURE"] {
            assert!(drawn.contains(wanted), "{wanted}: {drawn}");
        }
    }

    #[test]
    fn narrow_windows_keep_every_key() {
        let mut session = ReviewSession::new(items(1));
        let drawn = text(&render_screen(&mut session, "ann", 34, 16));
        assert!(drawn.contains("? help") && drawn.contains("p pass"), "{drawn}");
    }

    #[test]
    fn scrolling_stops_at_the_end_and_comes_back_at_once() {
        let mut session = ReviewSession::new(items(1));
        session.handle_key(ReviewKey::End);
        let end = render_screen(&mut session, "ann", 80, 24);
        assert!(text(&end).contains("100%"), "{}", text(&end));
        session.handle_key(ReviewKey::Up);
        let above = render_screen(&mut session, "ann", 80, 24);
        assert_ne!(end, above, "one line up is one line up");
        session.handle_key(ReviewKey::Home);
        assert!(text(&render_screen(&mut session, "ann", 80, 24)).contains("The answer is kind."));
    }
}
