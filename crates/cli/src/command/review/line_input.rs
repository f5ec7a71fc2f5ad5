//! Reviews line by line: from a file, a pipe, or a terminal with a screen reader.

use std::io::BufRead as _;
use std::path::Path;
use std::sync::Arc;

use assize_analysis::labels::{LabelLocation, LabelProblem, describe_problems, read_table};
use assize_report::escape_unsafe;
use assize_review::{
    EarlierDecision, LabelRecorder, ReviewDecision, ReviewScriptLine, ReviewSession, ReviewStep,
    not_recorded, parse_decision_fields, parse_line, render_plain_item, render_plain_judge,
};
use assize_table::{TextEncoding, is_table};

use crate::context::CliContext;
use crate::failure::CommandFailure;
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

/// An input line and its number.
type NumberedLine = (u64, ReviewScriptLine);

/// Records the decisions in a file of lines or a table. All of them are parsed and tried before the first one
/// is recorded, so that a mistake in one of them records none.
pub(super) fn record_file(
    path: &Path,
    encoding: Option<TextEncoding>,
    session: &mut ReviewSession,
    writer: &mut LabelRecorder,
) -> Result<(), CommandFailure> {
    let at = problem_in(path);
    let refused =
        |problems: Vec<String>| Err(format!("nothing was recorded\n{}", problems.join("\n")).into());
    let (lines, others) = match read_file(path, encoding, writer.who()) {
        Ok(read) => read,
        Err(problems) => return refused(format_problems(&problems)),
    };
    let is_decision = |(_, line): &NumberedLine| matches!(line, ReviewScriptLine::Decide { .. });
    if others > 0 && !lines.iter().any(is_decision) {
        let who = writer.who();
        return refused(vec![format!(
            "all {others} decisions name another reviewer than `{who}`; name that reviewer with `--who`"
        )]);
    }

    let undecided = lines.iter().filter(|(_, line)| *line == ReviewScriptLine::Undecided).count();
    if undecided > 0 && !lines.iter().any(is_decision) {
        return refused(vec![format!("no row of `{}` has a label", path.display())]);
    }

    let mut trial = session.clone();
    let mut problems = Vec::new();
    for (number, line) in lines.clone() {
        let applied = apply_line(line, &mut trial, &mut |session, _, _| {
            session.confirm_recorded();
            Ok(())
        });
        match applied {
            Ok(LineEffect::Decided) => trial.go_to_next(),
            Ok(LineEffect::Same | LineEffect::Moved) => {}
            Ok(LineEffect::Left) => break,
            Err(why) => problems.push(at(number, why)),
        }
    }

    if !problems.is_empty() {
        return refused(format_problems(&problems));
    }

    for (number, line) in lines {
        match apply_line(line, session, &mut record_in(writer)) {
            Ok(LineEffect::Decided) => session.go_to_next(),
            Ok(LineEffect::Same | LineEffect::Moved) => {}
            Ok(LineEffect::Left) => break,
            Err(why) => {
                let decided = session.progress().decided;
                let problem = escape_unsafe(&at(number, why).to_string());
                return Err(format!("{problem}; {decided} decisions before it are recorded").into());
            }
        }
    }

    if undecided > 0 {
        output::print_message(&format!("rows without a label, skipped: {undecided}\n"));
    }
    if others > 0 {
        output::print_message(&format!(
            "{others} decisions by other reviewers were skipped; record them with their own `--who`\n"
        ));
    }

    Ok(())
}

/// Makes the problem of a line of a file from its number and a message.
fn problem_in(path: &Path) -> impl Fn(u64, String) -> LabelProblem {
    let file: Arc<Path> = Arc::from(path);
    move |line, message| LabelProblem { place: LabelLocation { file: Arc::clone(&file), line }, message }
}

/// Reads the lines of a file or the rows of a table; skips and counts the ones of other reviewers.
fn read_file(
    path: &Path,
    encoding: Option<TextEncoding>,
    who: &str,
) -> Result<(Vec<NumberedLine>, usize), Vec<LabelProblem>> {
    let at = problem_in(path);
    let parsed: Vec<(u64, Result<ReviewScriptLine, String>)> = if is_table(path) {
        let rows = read_table(path, encoding)?;
        rows.into_iter().map(|(line, cells)| (line, parse_decision_fields(&cells))).collect()
    } else {
        let text = assize_files::read_text(path)
            .map_err(|error| vec![at(1, format!("the file can't be read: {error}"))])?;
        (1..).zip(text.lines()).map(|(line, text)| (line, parse_line(text))).collect()
    };

    let (mut lines, mut problems, mut others) = (Vec::new(), Vec::new(), 0);
    for (number, line) in parsed {
        match line {
            Ok(ReviewScriptLine::Decide { who: Some(name), .. }) if name != who => others += 1,
            Ok(line) => lines.push((number, line)),
            Err(why) => problems.push(at(number, why)),
        }
    }

    if problems.is_empty() { Ok((lines, others)) } else { Err(problems) }
}

/// Describes the problems of a file; a problem that it repeats is shown once.
fn format_problems(problems: &[LabelProblem]) -> Vec<String> {
    describe_problems(problems).iter().map(|problem| escape_unsafe(problem)).collect()
}

/// Shows the items one by one and reads a line for each.
pub(super) fn review_stdin(
    session: &mut ReviewSession,
    writer: &mut LabelRecorder,
    context: &CliContext,
) -> Result<(), CommandFailure> {
    let mut input = std::io::stdin().lock();
    let mut show = true;
    loop {
        if show {
            let Some(item) = session.item() else { return Ok(()) };
            output::print(&render_plain_item(
                item,
                session.index(),
                session.progress().all,
                context.stdout.text_width(),
            ));
        }

        let mut line = String::new();
        let read = input.read_line(&mut line).map_err(|error| format!("stdin can't be read: {error}"))?;
        if read == 0 {
            return Ok(());
        }

        let applied = parse_line(&line).and_then(|line| apply_line(line, session, &mut record_in(writer)));
        show = match applied {
            Ok(LineEffect::Same) => false,
            Ok(LineEffect::Moved) => true,
            Ok(LineEffect::Left) => return Ok(()),
            Ok(LineEffect::Decided) => {
                if let Some((item, judge)) =
                    session.item().and_then(|item| Some((item, item.judge.as_ref()?)))
                {
                    output::print(&render_plain_judge(item, judge));
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

fn record_in(
    writer: &mut LabelRecorder,
) -> impl FnMut(&mut ReviewSession, &ReviewDecision, &EarlierDecision) -> Result<(), String> {
    move |session, decision, earlier| {
        writer.record_earlier(session, decision, earlier).map_err(|error| not_recorded(&error))
    }
}

/// Records a decision on the current item.
type RecordDecision<'r> =
    &'r mut dyn FnMut(&mut ReviewSession, &ReviewDecision, &EarlierDecision) -> Result<(), String>;

fn apply_line(
    line: ReviewScriptLine,
    session: &mut ReviewSession,
    record: RecordDecision<'_>,
) -> Result<LineEffect, String> {
    match line {
        ReviewScriptLine::Nothing | ReviewScriptLine::Undecided => Ok(LineEffect::Same),
        ReviewScriptLine::Quit => Ok(LineEffect::Left),
        ReviewScriptLine::Skip => {
            session.skip();
            Ok(LineEffect::Moved)
        }
        ReviewScriptLine::Undo => {
            session.undo();
            Ok(LineEffect::Moved)
        }
        ReviewScriptLine::Decide { of, answer, severity, note, who: _, earlier } => {
            if let Some(named) = of {
                session.go_to(&named)?;
            }

            if let ReviewStep::Record(decision) = session.decide(answer, severity, note)? {
                record(session, &decision, &earlier)?;
            }

            Ok(LineEffect::Decided)
        }
    }
}
