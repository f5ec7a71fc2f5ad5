//! Line-based review: from a file, a pipe, or a terminal with a screen reader.

use std::io::BufRead as _;
use std::path::Path;

use assize_report::safe;
use assize_review::{Line, Session, Step, parse_line, plain_item, plain_judge};

use super::Writer;
use crate::context::Context;
use crate::output;

/// Effect of an input line.
enum Taken {
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
pub(super) fn from_file(path: &Path, session: &mut Session, writer: &mut Writer) -> Result<(), String> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("{}: can't be read: {error}", path.display()))?;
    let at = |line: usize, why: &str| safe(&format!("{}:{}: {why}", path.display(), line + 1));
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
        match take(line, session, writer) {
            Ok(Taken::Decided) => session.next(),
            Ok(Taken::Same | Taken::Moved) => {}
            Ok(Taken::Left) => break,
            Err(why) => {
                let decided = session.left().decided;
                return Err(format!("{}; {decided} decisions before it are recorded", at(index, &why)));
            }
        }
    }
    Ok(())
}

/// Shows the items one by one and reads a line for each.
pub(super) fn from_stdin(
    session: &mut Session,
    writer: &mut Writer,
    context: &Context,
) -> Result<(), String> {
    let mut input = std::io::stdin().lock();
    let mut show = true;
    loop {
        if show {
            let Some(item) = session.item() else { return Ok(()) };
            output::print(&plain_item(item, session.place(), session.left().all, context.stdout.width));
        }
        let mut line = String::new();
        let read = input.read_line(&mut line).map_err(|error| format!("stdin can't be read: {error}"))?;
        if read == 0 {
            return Ok(());
        }
        show = match parse_line(&line).and_then(|line| take(line, session, writer)) {
            Ok(Taken::Same) => false,
            Ok(Taken::Moved) => true,
            Ok(Taken::Left) => return Ok(()),
            Ok(Taken::Decided) => {
                if let Some(judge) = session.item().and_then(|item| item.judge.as_ref()) {
                    output::print(&plain_judge(judge));
                }
                session.next();
                true
            }
            Err(why) => {
                output::say(&format!("{}\n", safe(&why)));
                false
            }
        };
    }
}

fn take(line: Line, session: &mut Session, writer: &mut Writer) -> Result<Taken, String> {
    match line {
        Line::Nothing => Ok(Taken::Same),
        Line::Quit => Ok(Taken::Left),
        Line::Skip => {
            session.next();
            Ok(Taken::Moved)
        }
        Line::Undo => {
            session.undo();
            Ok(Taken::Moved)
        }
        Line::Decide { of, said, severity, note } => {
            if let Some((case, criterion)) = of
                && !session.go_to(&case, &criterion)
            {
                return Err(format!("`{criterion}` on case `{case}` is not among what is left to decide"));
            }
            if let Step::Record(decision) = session.decide(said, severity, note)? {
                writer.record(session, &decision)?;
            }
            Ok(Taken::Decided)
        }
    }
}
