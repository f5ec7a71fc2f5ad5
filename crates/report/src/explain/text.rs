//! Explanation as text and as JSON.

use assize_rubric::{Confidence, GateState, JudgeIdentity, OutcomeKind, Verdict};
use assize_store::{CaseRecord, TurnRow};
use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use super::build::explanation;
use super::equations::words;
use super::model::{CriterionPart, Equation, Explanation, Figures, GraderPart, PanelPart, WholePart};
use crate::case_block::heading;
use crate::clean;
use crate::criterion::CriterionLine;
use crate::mark::Mark;
use crate::number::{self, plain};
use crate::page::{Page, Piece};
use crate::style::{Style, Tone};
use crate::table::{Column, table};

/// Renders the calculation of a case, line by line, recomputed from its stored decisions. Differences from
/// the stored row come first.
pub fn explain(record: &CaseRecord, style: Style) -> String {
    let mut page = Page::new(style);
    let it = explanation(record);
    heading(&mut page, &record.result);
    if let Some(lines) = it.lines {
        let borderline = match lines.borderline() {
            Some(line) => format!(", borderline from {}", plain(line.get())),
            None => String::new(),
        };
        let text = format!("pass from {}{borderline}, fail below", plain(lines.pass().get()));
        page.text(&[Piece::new(Tone::Dim, "lines  ")], &[Piece::new(Tone::Dim, text)]);
    }
    if let Some(changes) = &it.file_changes {
        page.text(&[Piece::new(Tone::Dim, "files  ")], &[Piece::new(Tone::Dim, changed(changes))]);
    }
    disagreements(&mut page, &it);
    if let Some(error) = &it.error {
        page.blank();
        let lead = format!("{} failed ({})  ", error.stage.name(), error.kind.name());
        page.text(
            &[],
            &[Piece::new(Tone::Bad, lead), Piece::said(Tone::Plain, &error.message, clean::REASON)],
        );
    }
    turns(&mut page, &it.turns);
    for part in &it.graders {
        page.blank();
        grader(&mut page, part);
    }
    page.blank();
    case(&mut page, &it);
    page.finish()
}

/// Converts the explanation to JSON. Numbers are unrounded.
pub fn explain_json(record: &CaseRecord) -> Value {
    // Every key is a string and every float finite or null, so this does not fail.
    serde_json::to_value(explanation(record)).unwrap_or(Value::Null)
}

/// Summarises the size of a diff.
fn changed(diff: &str) -> String {
    match diff.lines().filter(|line| line.starts_with("diff --git ")).count() {
        0 if diff.is_empty() => "no file changed".to_owned(),
        1 => format!("1 file changed, {} lines of diff", diff.lines().count()),
        count => format!("{count} files changed, {} lines of diff", diff.lines().count()),
    }
}

fn disagreements(page: &mut Page, it: &Explanation) {
    if it.disagreements.is_empty() {
        return;
    }
    page.blank();
    let text = "⚠ THE STORED RESULT DOES NOT FOLLOW FROM THE STORED DECISIONS. The run folder was changed or damaged; \
                what follows is worked out from the decisions.";
    page.text(&[], &[Piece::new(Tone::Bad, text)]);
    for line in &it.disagreements {
        page.text(&[Piece::plain("  - ")], &[Piece::new(Tone::Bad, line)]);
    }
}

/// Renders the answers turn by turn, cut to a limit.
fn turns(page: &mut Page, turns: &[TurnRow]) {
    if turns.is_empty() {
        return;
    }
    page.blank();
    page.rule("Turns");
    for turn in turns {
        let said = match (&turn.answer, &turn.error) {
            (Some(answer), _) if answer.trim().is_empty() => Piece::new(Tone::Dim, "an empty answer"),
            (Some(answer), _) => Piece::said(Tone::Plain, answer, clean::REASON),
            (None, Some(error)) => {
                Piece::said(Tone::Bad, &format!("no answer: {}", error.message), clean::REASON)
            }
            (None, None) => Piece::new(Tone::Bad, "no answer"),
        };
        fact(page, &format!("turn {}", turn.turn), vec![said]);
    }
}

fn fact(page: &mut Page, label: &str, body: Vec<Piece>) {
    page.text(&[Piece::new(Tone::Dim, format!("  {label:<10}"))], &body);
}

fn grader(page: &mut Page, part: &GraderPart) {
    page.rule(&format!("Grader {}", clean::name(&part.name)));
    if let Some(problem) = &part.problem {
        page.text(&[Piece::plain("  ")], &[Piece::said(Tone::Bad, problem, clean::REASON)]);
    }
    if let Some(whole) = &part.whole {
        decided_whole(page, whole);
    }
    let judges =
        part.criteria.first().filter(|first| part.criteria.iter().all(|one| one.judge == first.judge));
    let mut sure = part.criteria.iter().filter_map(|one| one.confidence);
    let confidence = sure.next().filter(|first| sure.all(|one| one == *first));
    if let Some(one) = judges {
        let sure =
            confidence.map(|confidence| format!(", confidence {}", word(confidence))).unwrap_or_default();
        let by = Piece::new(Tone::Dim, format!("judged by {}{sure}", judge(&one.judge)));
        page.text(&[Piece::plain("  ")], &[by]);
    }
    let said_above = judges.is_some() && confidence.is_some();
    for criterion in &part.criteria {
        decision(page, criterion, judges.is_none(), !said_above);
    }
    if !part.criteria.is_empty() {
        page.blank();
        arithmetic(page, part);
    }
    if let Some(formula) = part.formula {
        fact(page, "formula", vec![Piece::plain(words(formula))]);
    }
    for equation in &part.equations {
        calculation(page, equation);
    }
    if part.formula.is_some() {
        score(page, part.rubric);
    }
    if part.weight_unit != 1.0 {
        fact(
            page,
            "units",
            vec![Piece::plain(format!("weights are divided by {} first", plain(part.weight_unit)))],
        );
    }
    gates(page, part);
    for line in &part.standing {
        fact(page, "standing", vec![Piece::plain(line)]);
    }
    if part.figures != part.rubric || part.formula.is_none() {
        if let Some(equation) = contribution(part.figures) {
            calculation(page, &equation);
        }
        score(page, part.figures);
    }
    let tone = part.verdict.map_or(Tone::Dim, |verdict| Mark::verdict(verdict).tone);
    fact(page, "verdict", sentence(part.verdict, tone, &part.because));
    for member in &part.members {
        page.blank();
        grader(page, member);
    }
}

/// Renders the decision of a grader other than a rubric: its notes, or its aggregation.
fn decided_whole(page: &mut Page, whole: &WholePart) {
    if let Some(aggregator) = &whole.aggregator {
        fact(page, "combines", vec![Piece::plain(aggregator)]);
    }
    let calls = if whole.attempts > 1 { format!(", {} judge calls", whole.attempts) } else { String::new() };
    let by = format!("decided by {}{calls}", judge(&whole.judge));
    page.text(&[Piece::plain("  ")], &[Piece::new(Tone::Dim, by)]);
    if !whole.reason.trim().is_empty() {
        page.text(&[Piece::plain("  ")], &[Piece::said(Tone::Plain, &whole.reason, clean::REASON)]);
    }
    for quote in &whole.evidence {
        page.text(&[Piece::plain("  ")], &crate::criterion::quote(quote));
    }
    let shown = whole.truncated.as_ref().map(crate::truncation::figures);
    for line in whole.panel.iter().flat_map(panel_lines).chain(shown) {
        page.text(&[Piece::plain("  ")], &[Piece::said(Tone::Dim, &line, clean::REASON)]);
    }
    for note in &whole.notes {
        let outcome = match note.passed {
            Some(true) => Some(OutcomeKind::Met),
            Some(false) => Some(OutcomeKind::Unmet),
            None => None,
        };
        let decision = CriterionLine {
            id: "",
            text: Some(&note.text),
            outcome,
            points: None,
            weight: note.weight.unwrap_or(1.0),
            gate: None,
            gate_failed: false,
            reason: &note.reason,
            evidence: &[],
            notes: &[],
        };
        decision.put(page, 2);
    }
}

fn decision(page: &mut Page, part: &CriterionPart, name_judge: bool, confidence: bool) {
    let mut notes = Vec::new();
    if let Some(band) = &part.band {
        notes.push(format!("in the band {band}"));
    }
    notes.extend(name_judge.then(|| format!("judged by {}", judge(&part.judge))));
    notes.extend(part.confidence.filter(|_| confidence).map(|level| format!("confidence {}", word(level))));
    notes.extend(part.probability.as_ref().map(crate::panel::probability));
    notes.extend(part.panel.iter().flat_map(panel_lines));
    notes.extend(part.truncated.as_ref().map(crate::truncation::figures));
    if part.attempts > 1 {
        notes.push(format!("{} judge calls", part.attempts));
    }
    // For an ungraded criterion the reason already says what happened.
    let failure = part.ungraded.as_ref().map(|ungraded| ungraded.message.as_str());
    let reason = if part.reason.trim().is_empty() { failure.unwrap_or_default() } else { &part.reason };
    let decision = CriterionLine {
        id: &part.id,
        text: Some(&part.text),
        outcome: Some(part.outcome),
        points: part.of_ten,
        weight: part.weight,
        gate: part.gate.as_ref().map(|gate| gate.rule.as_str()),
        gate_failed: part.gate.as_ref().is_some_and(|gate| gate.state == GateState::Failed),
        reason,
        evidence: &part.evidence,
        notes: &notes,
    };
    decision.put(page, 2);
}

/// Renders the votes, a line each, then their result.
fn panel_lines(part: &PanelPart) -> Vec<String> {
    let votes = part.votes_in_full.iter().map(|vote| {
        let said = match (vote.of_ten, vote.score) {
            (Some(points), _) => crate::mark::of_ten(points),
            (None, Some(score)) => number::score(score),
            (None, None) => vote.outcome.name().to_owned(),
        };
        let times = if part.panel.votes.iter().any(|vote| vote.repeat > 1) && !vote.escalated {
            format!(" #{}", vote.repeat)
        } else {
            String::new()
        };
        let weight =
            if vote.weight == 1.0 { String::new() } else { format!(", weight {}", plain(vote.weight)) };
        let role = if vote.escalated { "asked as well" } else { "vote" };
        let probability =
            vote.probability.as_ref().map(|found| format!(" ({})", crate::panel::probability(found)));
        let shown = vote.truncated.map(|found| format!(" ({})", crate::truncation::brief(found.mode)));
        let reason = clean::said(&vote.reason, clean::REASON);
        format!(
            "{role} {}{times}{weight}: {said}{}{}{}{reason}",
            clean::name(&vote.judge.name),
            probability.unwrap_or_default(),
            shown.unwrap_or_default(),
            if reason.trim().is_empty() { "" } else { ": " },
        )
    });
    votes.chain(std::iter::once(crate::panel::figures(&part.panel))).collect()
}

const fn word(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Low => "low",
        Confidence::Medium => "medium",
        Confidence::High => "high",
    }
}

fn judge(identity: &JudgeIdentity) -> String {
    let JudgeIdentity { name, model, version, .. } = identity;
    let model = model.iter().filter(|model| !name.ends_with(&***model)).map(|model| clean::name(model));
    let about: Vec<String> = model.chain(version.iter().map(|version| clean::name(version))).collect();
    if about.is_empty() { clean::name(name) } else { format!("{} ({})", clean::name(name), about.join(", ")) }
}

fn arithmetic(page: &mut Page, part: &GraderPart) {
    let columns = [
        Column::shrinking("criterion"),
        Column::left("outcome"),
        Column::right("weight"),
        Column::sign(),
        Column::right("value"),
        Column::sign(),
        Column::right("points"),
    ];
    let rows: Vec<Vec<Piece>> = part
        .criteria
        .iter()
        .map(|criterion| {
            let mark = Mark::outcome(criterion.outcome, criterion.of_ten, criterion.weight);
            let (times, equals, value, points) = match (criterion.value, criterion.points) {
                (Some(value), Some(points)) => ("×", "=", plain(value), plain(points)),
                _ if criterion.outcome == OutcomeKind::NotApplicable => {
                    ("", "", "–".to_owned(), "left out".to_owned())
                }
                _ => {
                    let weight = plain(criterion.weight);
                    let range = if criterion.weight < 0.0 {
                        format!("{weight} to 0")
                    } else {
                        format!("0 to {weight}")
                    };
                    ("×", "=", "?".to_owned(), range)
                }
            };
            vec![
                Piece::name(Tone::Strong, &criterion.id),
                Piece::new(mark.tone, mark.word),
                Piece::plain(plain(criterion.weight)),
                Piece::new(Tone::Dim, times),
                Piece::plain(value),
                Piece::new(Tone::Dim, equals),
                Piece::plain(points),
            ]
        })
        .collect();
    table(page, 2, &columns, &rows);
    page.blank();
}

/// Returns the contribution of a grader where it differs from the score of its criteria.
fn contribution(figures: Figures) -> Option<Equation> {
    let text = match (figures.score, figures.bounds()) {
        (Some(score), _) => plain(score),
        (None, Some((low, high))) => format!("{} to {}", plain(low), plain(high)),
        (None, None) => return None,
    };
    Some(Equation { of: "counts as", when: String::new(), text })
}

fn calculation(page: &mut Page, equation: &Equation) {
    let mut body = Vec::new();
    if !equation.when.is_empty() {
        body.push(Piece::new(Tone::Dim, format!("{}:  ", equation.when)));
    }
    body.push(Piece::plain(&equation.text));
    fact(page, equation.of, body);
}

/// Renders what the calculations do not show: the unrounded score, the bounds, and the coverage.
fn score(page: &mut Page, figures: Figures) {
    match (figures.score, figures.bounds()) {
        (Some(score), _) if plain(score) == score.to_string() => {}
        (Some(score), _) => fact(page, "unrounded", vec![Piece::plain(unrounded(score))]),
        (None, Some((low, high))) => {
            let range = format!("{} to {}", unrounded(low), unrounded(high));
            fact(page, "bounds", vec![Piece::plain(range)]);
        }
        (None, None) => fact(page, "score", vec![Piece::plain("none: nothing that counts applies")]),
    }
    if let Some(coverage) = figures.coverage.filter(|coverage| *coverage < 1.0) {
        fact(page, "coverage", vec![Piece::plain(format!("{} of the weight was judged", plain(coverage)))]);
    }
}

fn unrounded(value: f64) -> String {
    let (long, short) = (number::exact(value), number::score(value));
    // 0.5 and 0.50 are the same number; 0.6666666666666666 and 0.667 are not.
    if long.len() <= short.len() { long } else { format!("{long} (shown as {short})") }
}

fn gates(page: &mut Page, part: &GraderPart) {
    let gated = part.criteria.iter().filter(|criterion| criterion.gate.is_some());
    let widest = gated.map(|criterion| clean::name(&criterion.id).width()).max().unwrap_or(0).min(24);
    for criterion in &part.criteria {
        if let Some(gate) = &criterion.gate {
            let tone = match gate.state {
                GateState::Failed => Tone::Bad,
                GateState::Open => Tone::Open,
                GateState::Passed | GateState::NotApplicable => Tone::Plain,
            };
            fact(
                page,
                "gate",
                vec![
                    Piece::name(Tone::Strong, &criterion.id),
                    Piece::plain(" ".repeat(widest.saturating_sub(clean::name(&criterion.id).width()))),
                    Piece::new(Tone::Dim, format!("  {}:  ", gate.rule)),
                    Piece::new(tone, &gate.comparison),
                ],
            );
        }
    }
}

fn case(page: &mut Page, it: &Explanation) {
    page.rule("Case");
    if it.recomputed {
        shares(page, it);
        for equation in &it.equations {
            calculation(page, equation);
        }
        score(page, it.figures);
        for gate in &it.gates_failed {
            let of = gate.criterion.as_ref().unwrap_or(&gate.grader);
            fact(
                page,
                "gate",
                vec![
                    Piece::name(Tone::Strong, of),
                    Piece::new(Tone::Dim, format!("  {}:  ", gate.rule)),
                    Piece::new(Tone::Bad, "failed"),
                ],
            );
        }
    }
    fact(page, "verdict", sentence(Some(it.verdict), Mark::verdict(it.verdict).tone, &it.because));
}

/// Renders the graders with their weights; a single grader needs no table.
fn shares(page: &mut Page, it: &Explanation) {
    if it.graders.len() < 2 {
        return;
    }
    let columns = [
        Column::shrinking("grader"),
        Column::left("verdict"),
        Column::right("weight"),
        Column::sign(),
        Column::right("score"),
    ];
    let rows: Vec<Vec<Piece>> = it
        .graders
        .iter()
        .map(|part| {
            let figure = match (part.figures.score, part.figures.bounds()) {
                (Some(score), _) => plain(score),
                (None, Some((low, high))) => format!("{} to {}", plain(low), plain(high)),
                (None, None) => "left out".to_owned(),
            };
            let tone = part.verdict.map_or(Tone::Dim, |verdict| Mark::verdict(verdict).tone);
            vec![
                Piece::name(Tone::Strong, &part.name),
                Piece::new(tone, part.verdict.map_or("does not apply", Verdict::name)),
                Piece::plain(plain(part.weight)),
                Piece::new(Tone::Dim, if part.figures.bounds().is_some() { "×" } else { "" }),
                Piece::plain(figure),
            ]
        })
        .collect();
    table(page, 2, &columns, &rows);
    page.blank();
}

/// Formats a sentence that begins with the verdict, in the tone of the verdict.
fn sentence(verdict: Option<Verdict>, tone: Tone, text: &str) -> Vec<Piece> {
    match verdict.and_then(|verdict| text.strip_prefix(verdict.name()).map(|rest| (verdict, rest))) {
        Some((verdict, rest)) => vec![Piece::new(tone, verdict.name()), Piece::plain(rest)],
        None => vec![Piece::plain(text)],
    }
}
