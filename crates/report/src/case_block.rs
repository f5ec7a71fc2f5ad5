//! One case as text: its verdict and the decision on each criterion.
//!
//! A case may have hundreds of criteria, and a run thousands of cases, so there are three levels of detail. A full case
//! shows everything that is stored. A compact one shows the criteria that the reader has to act on: they count against
//! the answer or are ungraded, and each has a short reason and one quote. The first few criteria in favour of the
//! answer are named, and the rest are counted. A brief case is one line with its main reason.
//!
//! The tone of [`VerdictMark`] decides which criteria are good, not the outcome alone: an unmet penalty is good, and a
//! negated grader inverts its criteria. A criterion with a failed gate is always shown.

use std::collections::HashMap;
use std::sync::Arc;

use assize_rubric::{CaseDecision, CriterionScale, OutcomeKind, Verdict};
use assize_store::{CriterionRow, GateRow, GraderRow, ResultRow, criterion_texts};

use crate::criterion::{CriterionLine, WORD_WIDTH};
use crate::mark::{VerdictMark, format_raw_score};
use crate::number;
use crate::page::{ReportPage, ReportPiece};
use crate::sanitize;
use crate::style::{ReportStyle, ReportTone};

/// Maximum length of a reason in a compact case, in characters.
const MAX_COMPACT_REASON: usize = 240;

/// Level of detail of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseDetailLevel {
    /// Every criterion with its reason and evidence.
    Full,
    /// One line for a case that passed; for others, the criteria that count against the answer.
    Compact,
    /// One line.
    Brief,
}

/// Renders a case as text, with a newline after each line.
///
/// `texts` returns the text of a criterion by grader name and criterion id; [`stored_texts`] reads them from
/// a run. Without a text only the id is shown.
pub fn render_case(
    row: &ResultRow,
    texts: &dyn Fn(&str, &str) -> Option<String>,
    show: CaseDetailLevel,
    style: ReportStyle,
) -> String {
    let mut page = ReportPage::new(style);
    match show {
        CaseDetailLevel::Brief => render_brief(&mut page, row),
        CaseDetailLevel::Compact => render_compact(&mut page, row, texts),
        CaseDetailLevel::Full => render_full(&mut page, row, texts),
    }

    page.finish()
}

/// Returns a lookup of stored criterion texts by grader name and criterion id, for [`render_case`]. A
/// score-range criterion without a text is shown by its id and the text of the band that its score fell into.
pub fn stored_texts(decisions: &[CaseDecision]) -> impl Fn(&str, &str) -> Option<String> + '_ {
    let mut texts: HashMap<(&str, Arc<str>), String> = HashMap::new();
    for row in decisions {
        if row.is_vote() {
            continue;
        }
        if row.criterion().is_none() {
            texts.extend(criterion_texts(row).into_iter().map(|(id, text)| ((&*row.grader, id), text)));
        } else if let Some(words) = criterion_text(row) {
            texts.entry((&*row.grader, row.shown_criterion())).or_insert(words);
        }
    }

    move |grader, criterion| texts.get(&(grader, criterion.into())).cloned()
}

fn criterion_text(row: &CaseDecision) -> Option<String> {
    let criterion = row.criterion()?;
    if !criterion.text.trim().is_empty() {
        return Some(criterion.text.clone());
    }

    match (&criterion.scale, row.decision.outcome().raw_score()) {
        (CriterionScale::Bands(bands), Some(raw)) => {
            Some(format!("{}: {}", criterion.id, bands.band_for(raw).text))
        }
        _ => None,
    }
}

/// Renders `✗ fail    0.583  case-id  → target  gate failed: correctness`.
pub(crate) fn render_brief(page: &mut ReportPage, row: &ResultRow) {
    let mark = VerdictMark::for_case(row);
    let figure = number::format_score_or_range(row.score, row.score_low, row.score_high);
    let mut pieces = vec![
        ReportPiece::new(mark.tone, format!("{} {:10}", mark.sign, mark.word)),
        ReportPiece::plain(format!("  {:11}  ", figure.unwrap_or_else(|| "no score".to_owned()))),
        ReportPiece::untrusted_name(ReportTone::Strong, &row.name()),
    ];
    pieces.extend(target_and_trial(row));

    if let Some(why) = main_reason(row) {
        pieces.push(ReportPiece::plain("  "));
        pieces.push(ReportPiece::untrusted(mark.tone, &why, sanitize::MAX_REASON));
    }

    page.add_line(&pieces);
}

/// Formats the names of the gates that a case failed.
pub(crate) fn failed_gates(names: &[String]) -> String {
    let word = if names.len() == 1 { "gate" } else { "gates" };
    format!("{word} failed: {}", names.join(", "))
}

/// Returns the main reason why a case did not pass, in a few words.
pub(crate) fn main_reason(row: &ResultRow) -> Option<String> {
    if let Some(error) = &row.error {
        return Some(format!("{} {}: {}", error.stage.name(), error.kind.name(), error.message));
    }

    if !row.gates_failed.is_empty() {
        let names: Vec<String> = row
            .gates_failed
            .iter()
            .map(|gate| sanitize::sanitize_name(gate.criterion.as_deref().unwrap_or(&gate.grader)))
            .collect();
        return Some(failed_gates(&names));
    }

    if let Some(grader) = row.graders.iter().find(|grader| grader.error.is_some()) {
        return Some(format!("grader {} failed to run", sanitize::sanitize_name(&grader.name)));
    }

    let ungraded = ungraded_reason(row);
    match row.verdict {
        Verdict::Pass => ungraded,
        Verdict::Incomplete => ungraded.or_else(|| criteria_reason(row)),
        Verdict::Borderline | Verdict::Fail => {
            criteria_reason(row).or(ungraded).or_else(|| Some("score below the threshold".to_owned()))
        }
    }
}

/// Names the ungraded criteria.
fn ungraded_reason(row: &ResultRow) -> Option<String> {
    let open = decided_criteria(row).filter(|(_, criterion)| criterion.outcome == OutcomeKind::Ungraded);
    let names: Vec<String> = open.map(|(grader, criterion)| criterion_name(grader, criterion)).collect();
    (!names.is_empty()).then(|| format!("ungraded: {}", list_names(&names)))
}

/// Names the criteria and graders that count against the answer, grouped by outcome.
fn criteria_reason(row: &ResultRow) -> Option<String> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    let mut add = |word: String, name: String| match groups.iter_mut().find(|(other, _)| *other == word) {
        Some((_, names)) => names.push(name),
        None => groups.push((word, vec![name])),
    };

    for (grader, criterion) in decided_criteria(row) {
        let mark = VerdictMark::for_criterion(criterion, grader.negate);
        if mark.tone == ReportTone::Bad {
            add(mark.word, criterion_name(grader, criterion));
        }
    }

    for grader in row.graders.iter().filter(|grader| grader.verdict == Some(Verdict::Fail)) {
        let explained = grader
            .criteria
            .iter()
            .any(|one| VerdictMark::for_criterion(one, grader.negate).tone == ReportTone::Bad);
        if !explained {
            add("failed".to_owned(), sanitize::sanitize_name(&grader.name));
        }
    }

    let texts: Vec<String> =
        groups.iter().map(|(word, names)| format!("{word}: {}", list_names(names))).collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}

fn decided_criteria(row: &ResultRow) -> impl Iterator<Item = (&GraderRow, &CriterionRow)> {
    row.graders.iter().flat_map(|grader| grader.criteria.iter().map(move |criterion| (grader, criterion)))
}

/// Returns the name of a criterion: its id. The ids of a code check's results are only numbers (`check-1`), so the
/// grader's name is used for them.
fn criterion_name(grader: &GraderRow, criterion: &CriterionRow) -> String {
    let is_numbered = criterion.id.strip_prefix("check-").is_some_and(|rest| rest.parse::<u32>().is_ok());
    sanitize::sanitize_name(if is_numbered { &grader.name } else { &criterion.id })
}

/// Joins the first names, without duplicates, and counts the rest.
fn list_names(names: &[String]) -> String {
    const MAX_NAMES: usize = 4;
    let mut shown: Vec<&str> = Vec::new();
    for name in names {
        if !shown.contains(&name.as_str()) {
            shown.push(name);
        }
    }
    let more = shown.len().saturating_sub(MAX_NAMES);
    shown.truncate(MAX_NAMES);

    let text = shown.join(", ");
    if more > 0 { format!("{text} and {more} more") } else { text }
}

/// Returns the target, the fallback target that answered, and the trial if it is not the first.
pub(crate) fn target_and_trial(row: &ResultRow) -> Vec<ReportPiece> {
    let mut pieces = Vec::new();
    if let Some(target) = &row.target {
        pieces.push(ReportPiece::new(ReportTone::Dim, " → "));
        pieces.push(ReportPiece::untrusted_name(ReportTone::Dim, target));
    }
    if let Some(other) = &row.answered_by {
        pieces.push(ReportPiece::new(ReportTone::Dim, ", answered by "));
        pieces.push(ReportPiece::untrusted_name(ReportTone::Dim, other));
    }
    if row.trial > 1 {
        pieces.push(ReportPiece::new(ReportTone::Dim, format!(" (trial {})", row.trial)));
    }

    pieces
}

fn render_full(page: &mut ReportPage, row: &ResultRow, texts: &dyn Fn(&str, &str) -> Option<String>) {
    render_heading(page, row);
    let several = row.graders.len() > 1;
    for grader in &row.graders {
        let named = grader.name != grader.type_name;
        if several || named || grader.error.is_some() {
            render_grader(page, grader);
        }

        for criterion in &grader.criteria {
            render_criterion(page, grader, criterion, row, texts);
        }
    }

    for gate in &row.gates_failed {
        page.add_labelled(
            ReportTone::Bad,
            "  gate failed: ",
            ReportPiece::untrusted(ReportTone::Bad, &gate_sentence(row, gate), sanitize::MAX_REASON),
        );
    }

    render_error_and_coverage(page, row);
}

/// Renders the criteria that count against the answer or are ungraded, and names or counts the rest.
fn render_compact(page: &mut ReportPage, row: &ResultRow, texts: &dyn Fn(&str, &str) -> Option<String>) {
    render_heading(page, row);
    if row.verdict == Verdict::Pass {
        return;
    }

    let several = row.graders.len() > 1;
    let mut others: Vec<String> = Vec::new();
    let mut shown = 0;
    for grader in &row.graders {
        let needs_heading = several && grader.verdict != Some(Verdict::Pass);
        if grader.error.is_some() || needs_heading {
            render_grader(page, grader);
        }

        for criterion in &grader.criteria {
            let mark = VerdictMark::for_criterion(criterion, grader.negate);
            let gate_failed = has_failed_gate(row, &grader.name, &criterion.id);
            if matches!(mark.tone, ReportTone::Good | ReportTone::Dim) && !gate_failed {
                if mark.tone == ReportTone::Good {
                    others.push(criterion_name(grader, criterion));
                }
                continue;
            }

            let text = texts(&grader.name, &criterion.id);
            let mut line =
                CriterionLine::from_row(criterion, text.as_deref(), grader.negate, gate_failed, &[]);
            let reason = sanitize::cut_text(line.reason.trim(), MAX_COMPACT_REASON);
            line.reason = &reason;
            // One quote is enough to show the basis of the decision.
            line.evidence = &line.evidence[..line.evidence.len().min(1)];
            line.put(page, 2);
            shown += 1;
        }
    }

    if !others.is_empty() {
        let word = if shown > 0 { "others" } else { "criteria" };
        page.add_labelled(
            ReportTone::Good,
            format!("  ✓ {word:WORD_WIDTH$}  "),
            ReportPiece::new(ReportTone::Dim, list_names(&others)),
        );
    }

    let gates = row.gates_failed.iter().map(|gate| match &gate.criterion {
        // The criterion's own line shows the rule of its gate.
        Some(id) => sanitize::sanitize_name(id),
        None => gate_sentence(row, gate),
    });
    let gates: Vec<String> = gates.collect();
    if !gates.is_empty() {
        page.add_indented(
            2,
            ReportPiece::untrusted(ReportTone::Bad, &failed_gates(&gates), sanitize::MAX_REASON),
        );
    }

    render_error_and_coverage(page, row);
}

/// Renders the error of a case, and how much of the weight was graded unless all of it was.
fn render_error_and_coverage(page: &mut ReportPage, row: &ResultRow) {
    if let Some(error) = &row.error {
        let lead = format!("  {} failed ({}): ", error.stage.name(), error.kind.name());
        page.add_text(
            &[ReportPiece::plain("  ")],
            &[
                ReportPiece::new(ReportTone::Bad, lead.trim_start()),
                ReportPiece::untrusted(ReportTone::Plain, &error.message, sanitize::MAX_REASON),
            ],
        );
    }

    if let Some(coverage) = row.coverage.filter(|coverage| *coverage < 1.0) {
        let share = number::format_percent((coverage * 1e6).floor() as u64, 1_000_000);
        page.add_indented(
            2,
            ReportPiece::new(
                ReportTone::Open,
                if coverage > 0.0 {
                    format!("only {share} of the weight was graded")
                } else {
                    "no criterion was graded".to_owned()
                },
            ),
        );
    }
}

/// Renders the verdict and the case id, with the score right-aligned.
pub(crate) fn render_heading(page: &mut ReportPage, row: &ResultRow) {
    let mark = VerdictMark::for_case(row);
    let mut left = vec![
        ReportPiece::new(mark.tone, format!("{} {}", mark.sign, mark.word)),
        ReportPiece::plain("  "),
        ReportPiece::untrusted_name(ReportTone::Strong, &row.name()),
    ];
    left.extend(target_and_trial(row));
    left.push(ReportPiece::plain("  "));
    left.push(ReportPiece::untrusted_name(ReportTone::Dim, &row.suite));

    let figure = match number::format_score_or_range(row.score, row.score_low, row.score_high) {
        Some(range) if row.score.is_none() && row.verdict == Verdict::Incomplete => {
            format!("score {range}, incomplete")
        }
        Some(range) if row.score.is_none() => format!("score {range}, partly judged"),
        Some(score) => format!("score {score}"),
        None => "no score".to_owned(),
    };
    page.add_split_line(&left, &[ReportPiece::new(mark.tone, figure)]);
}

fn render_grader(page: &mut ReportPage, grader: &GraderRow) {
    let negated = if grader.negate { ", negated" } else { "" };
    let mut pieces = vec![ReportPiece::untrusted_name(ReportTone::Strong, &grader.name)];
    if grader.name != grader.type_name {
        pieces.push(ReportPiece::plain(" "));
        pieces.push(ReportPiece::new(
            ReportTone::Dim,
            format!("({}{negated})", sanitize::sanitize_name(&grader.type_name)),
        ));
    } else if grader.negate {
        pieces.push(ReportPiece::new(ReportTone::Dim, " (negated)"));
    }

    pieces.push(ReportPiece::plain("  "));
    pieces.push(match (grader.verdict, grader.score) {
        (Some(verdict), score) => {
            let figure = score.map(|score| format!(" {}", number::format_score(score))).unwrap_or_default();
            ReportPiece::new(VerdictMark::for_verdict(verdict).tone, format!("{verdict}{figure}"))
        }
        (None, _) => ReportPiece::new(ReportTone::Dim, "does not apply"),
    });

    if grader.weight != 1.0 {
        pieces.push(ReportPiece::new(
            ReportTone::Dim,
            format!("  weight {}", number::format_plain(grader.weight)),
        ));
    }

    page.add_text(&[ReportPiece::plain("  ")], &pieces);

    if let Some(error) = &grader.error {
        page.add_indented(4, ReportPiece::untrusted(ReportTone::Bad, error, sanitize::MAX_REASON));
    }
}

fn render_criterion(
    page: &mut ReportPage,
    grader: &GraderRow,
    criterion: &CriterionRow,
    row: &ResultRow,
    texts: &dyn Fn(&str, &str) -> Option<String>,
) {
    let text = texts(&grader.name, &criterion.id);
    let gate_failed = has_failed_gate(row, &grader.name, &criterion.id);
    let notes = CriterionLine::notes(criterion);
    let decision = CriterionLine::from_row(criterion, text.as_deref(), grader.negate, gate_failed, &notes);

    decision.put(page, 2);
}

/// Formats `` `correctness` has 5/10, required_min_score 7 ``.
pub(crate) fn gate_sentence(row: &ResultRow, gate: &GateRow) -> String {
    let grader = row.graders.iter().find(|grader| grader.name == gate.grader);
    let Some(id) = &gate.criterion else {
        let name = sanitize::sanitize_name(&gate.grader);
        let score = grader.and_then(|grader| grader.score).map(number::format_score);
        return match (score, gate.rule.rsplit_once("min_score ")) {
            (Some(score), Some((_, least))) => {
                format!("required grader `{name}` scored {score}, but needs {least}")
            }
            (Some(score), None) => format!("grader `{name}` scored {score}, {}", gate.rule),
            (None, _) => format!("grader `{name}`, {}", gate.rule),
        };
    };

    let criterion = grader.and_then(|grader| grader.criteria.iter().find(|criterion| *criterion.id == **id));
    let state = match criterion.map(|criterion| (criterion, criterion.score_out_of_ten())) {
        Some((_, Some(points))) => format!(" has {}", format_raw_score(points)),
        Some((criterion, None)) => {
            let negated = grader.is_some_and(|grader| grader.negate);
            format!(" is {}", VerdictMark::for_criterion(criterion, negated).word)
        }
        None => String::new(),
    };
    format!("`{}`{state}, {}", sanitize::sanitize_name(id), gate.rule)
}

/// Returns true if the gate of a criterion failed.
pub(crate) fn has_failed_gate(row: &ResultRow, grader: &str, criterion: &str) -> bool {
    row.gates_failed.iter().any(|gate| gate.grader == grader && gate.criterion.as_deref() == Some(criterion))
}
