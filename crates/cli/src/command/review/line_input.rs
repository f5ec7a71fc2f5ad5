//! Line-based review: from a file, a pipe, or a terminal with a screen reader.

use std::io::BufRead as _;
use std::path::Path;

use assize_report::escape_unsafe;
use assize_review::{
    ReviewScriptLine, ReviewSession, ReviewStep, parse_line, render_plain_item, render_plain_judge,
};

use super::label_writer::LabelWriter;
use crate::context::CliContext;
use crate::output;

/// Effect of an input line.
enum LineEffect {
    /// The current item stays open.
    Same,
    /// A decision was recorded.
    Decided,
    /// Another item is open, or none.
    Moved,
    /// The reviewer quits.
    Left,
}

/// Records the decisions in a file. All lines are parsed before the first one is recorded.
pub(super) fn record_file(
    path: &Path,
    session: &mut ReviewSession,
    writer: &mut LabelWriter,
) -> Result<(), String> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("{}: can't be read: {error}", path.display()))?;
    let at = |line: usize, why: &str| escape_unsafe(&format!("{}:{}: {why}", path.display(), line + 1));
    let (mut lines, mut problems) = (Vec::new(), Vec::new());
    for (index, line) in text.lines().enumerate() {
        match parse_line(line) {
            Ok(line) => lines.push((index, line)),
            Err(why) => problems.push(at(index, &why)),
        }
    }

    if !problems.is_empty() {
        return Err(format!("nothing was recorded\n{}", problems.join("\n")));
    }

    for (index, line) in lines {
        match apply_line(line, session, writer) {
            Ok(LineEffect::Decided) => session.go_to_next(),
            Ok(LineEffect::Same | LineEffect::Moved) => {}
            Ok(LineEffect::Left) => break,
            Err(why) => {
                let decided = session.progress().decided;
                return Err(format!("{}; {decided} decisions before it are recorded", at(index, &why)));
            }
        }
    }

    Ok(())
}

/// Shows the items one by one and reads a line for each.
pub(super) fn review_stdin(
    session: &mut ReviewSession,
    writer: &mut LabelWriter,
    context: &CliContext,
) -> Result<(), String> {
    let mut input = std::io::stdin().lock();
    let mut show = true;
    loop {
        if show {
            let Some(item) = session.item() else { return Ok(()) };
            output::print(&render_plain_item(
                item,
                session.index(),
                session.progress().all,
                context.stdout.width,
            ));
        }

        let mut line = String::new();
        let read = input.read_line(&mut line).map_err(|error| format!("stdin can't be read: {error}"))?;
        if read == 0 {
            return Ok(());
        }

        show = match parse_line(&line).and_then(|line| apply_line(line, session, writer)) {
            Ok(LineEffect::Same) => false,
            Ok(LineEffect::Moved) => true,
            Ok(LineEffect::Left) => return Ok(()),
            Ok(LineEffect::Decided) => {
                if let Some(judge) = session.item().and_then(|item| item.judge.as_ref()) {
                    output::print(&render_plain_judge(judge));
                }
                session.go_to_next();
                true
            }
            Err(why) => {
                output::print_message(&format!("{}\n", escape_unsafe(&why)));
                false
            }
        };
    }
}

fn apply_line(
    line: ReviewScriptLine,
    session: &mut ReviewSession,
    writer: &mut LabelWriter,
) -> Result<LineEffect, String> {
    match line {
        ReviewScriptLine::Nothing => Ok(LineEffect::Same),
        ReviewScriptLine::Quit => Ok(LineEffect::Left),
        ReviewScriptLine::Skip => {
            session.go_to_next();
            Ok(LineEffect::Moved)
        }
        ReviewScriptLine::Undo => {
            session.undo();
            Ok(LineEffect::Moved)
        }
        ReviewScriptLine::Decide { of, said, severity, note } => {
            if let Some((case, criterion)) = of
                && !session.go_to(&case, &criterion)
            {
                return Err(format!("`{criterion}` on case `{case}` is not among what is left to decide"));
            }

            if let ReviewStep::Record(decision) = session.decide(said, severity, note)? {
                writer.record(session, &decision)?;
            }

            Ok(LineEffect::Decided)
        }
    }
}
