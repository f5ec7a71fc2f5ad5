//! Explanation as text and as JSON.

use assize_rubric::{GateState, JudgeIdentity, OutcomeKind, UnitInterval, Verdict};
use assize_store::{CaseRecord, QuestionRow, TurnRow};
use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use super::build::explain_case;
use super::equations::formula_text;
use super::model::{
    CaseExplanation, CriterionPart, GraderPart, PanelPart, ScoreEquation, ScoreRange, WholePart,
};
use crate::case_block::render_heading;
use crate::criterion::CriterionLine;
use crate::mark::VerdictMark;
use crate::number::{self, format_count, format_plain};
use crate::page::{ReportPage, ReportPiece};
use crate::quote_place::QuotePlace;
use crate::sanitize;
use crate::style::{ReportStyle, ReportTone};
use crate::table::{ReportColumn, render_table};

/// Maximum length of a question or an answer, in characters; `--json` has all of it.
const MAX_MATERIAL: usize = 2_000;

/// Renders the calculation of a case, line by line, recomputed from its stored decisions. Differences from
/// the stored row come first. `question` is the stored question of the case, if the run kept it.
pub fn render_explanation(record: &CaseRecord, question: Option<&QuestionRow>, style: ReportStyle) -> String {
    let mut page = ReportPage::new(style);
    let it = explain_case(record, question);

    render_heading(&mut page, &record.result);

    if let Some(thresholds) = it.thresholds {
        let line = thresholds.borderline();
        let borderline = line.map(|line| format!(", borderline threshold {}", format_plain(line.get())));
        let text = if thresholds.pass() == UnitInterval::ZERO {
            "No minimum score: the case passes if no gate fails".to_owned()
        } else {
            let pass = format_plain(thresholds.pass().get());
            format!("Pass threshold {pass}{}", borderline.unwrap_or_default())
        };
        page.add_paragraph(ReportPiece::new(ReportTone::Dim, text));
    }

    // A given answer has a time only if it was recorded with it.
    if it.latency_ms.is_some() || (it.target.is_some() && it.answer.is_some()) {
        let latency = number::format_latency(it.latency_ms);
        page.add_labelled(ReportTone::Dim, "latency  ", ReportPiece::new(ReportTone::Dim, latency));
    }

    if let Some(changes) = &it.file_changes {
        page.add_labelled(
            ReportTone::Dim,
            "files  ",
            ReportPiece::new(ReportTone::Dim, diff_summary(changes)),
        );
    }

    if !it.tool_calls.is_empty() {
        page.add_labelled(
            ReportTone::Dim,
            "tools  ",
            ReportPiece::untrusted(ReportTone::Dim, &tool_summary(&it), sanitize::MAX_REASON),
        );
    }

    render_disagreements(&mut page, &it);

    if let Some(error) = &it.error {
        page.add_blank();
        let lead = format!("{} failed ({})  ", error.stage.name(), error.kind.name());
        page.add_text(
            &[],
            &[
                ReportPiece::new(ReportTone::Bad, lead),
                ReportPiece::untrusted(ReportTone::Plain, &error.message, sanitize::MAX_REASON),
            ],
        );
    }

    render_material(&mut page, &it);
    render_turns(&mut page, &it.turns);

    for part in &it.graders {
        page.add_blank();
        render_grader(&mut page, part);
    }

    page.add_blank();
    render_case_section(&mut page, &it);

    page.finish()
}

/// Converts the explanation to JSON. Numbers are unrounded.
pub fn explanation_json(record: &CaseRecord, question: Option<&QuestionRow>) -> Value {
    // Every key is a string and every float is finite or null, so this can't fail.
    serde_json::to_value(explain_case(record, question)).unwrap_or(Value::Null)
}

/// Summarises the size of a diff.
fn diff_summary(diff: &str) -> String {
    match diff.lines().filter(|line| line.starts_with("diff --git ")).count() {
        0 if diff.is_empty() => "no file changed".to_owned(),
        1 => format!("1 file changed, {} lines of diff", diff.lines().count()),
        count => format!("{count} files changed, {} lines of diff", diff.lines().count()),
    }
}

fn render_disagreements(page: &mut ReportPage, it: &CaseExplanation) {
    if it.disagreements.is_empty() {
        return;
    }

    page.add_blank();
    let text = "⚠ THE STORED RESULT DOES NOT FOLLOW FROM THE STORED DECISIONS. The run folder was changed or damaged; the scores below are computed from the decisions.";
    page.add_paragraph(ReportPiece::new(ReportTone::Bad, text));

    for line in &it.disagreements {
        page.add_labelled(ReportTone::Plain, "  - ", ReportPiece::new(ReportTone::Bad, line));
    }
}

/// Renders the question, the expectations and the answer with the quotes in it marked, cut to a limit. The answers of
/// a conversation are shown by turn.
fn render_material(page: &mut ReportPage, it: &CaseExplanation) {
    let texts: Vec<(&str, &String)> = [
        ("question", it.question.as_ref()),
        ("expected", it.expected_outcome.as_ref()),
        ("reference", it.reference.as_ref()),
        ("answer", it.answer.as_ref().filter(|_| it.turns.is_empty())),
    ]
    .into_iter()
    .filter_map(|(label, text)| Some((label, text?)))
    .collect();

    if texts.is_empty() {
        return;
    }

    page.add_blank();
    for (label, text) in texts {
        let pieces = match label {
            _ if text.trim().is_empty() => vec![ReportPiece::new(ReportTone::Dim, "(empty)")],
            "answer" if page.style().color => marked_text(text, &quoted_ranges(&it.graders)),
            _ => vec![ReportPiece::untrusted(ReportTone::Plain, text, MAX_MATERIAL)],
        };
        render_fact_pieces(page, label, &pieces);
    }
}

/// Returns the quoted ranges of characters of the answer, in ascending order and merged where they overlap.
fn quoted_ranges(graders: &[GraderPart]) -> Vec<(usize, usize)> {
    fn collect(graders: &[GraderPart], found: &mut Vec<(usize, usize)>) {
        for part in graders {
            let of_whole = part.whole.iter().flat_map(|whole| &whole.evidence_places);
            let of_criteria = part.criteria.iter().flat_map(|criterion| &criterion.evidence_places);
            let of_answer = of_whole.chain(of_criteria).flatten().filter(|place| place.turn.is_none());
            found.extend(of_answer.map(|place| (place.start, place.end)));
            collect(&part.members, found);
        }
    }

    let mut found = Vec::new();
    collect(graders, &mut found);
    found.sort_unstable();

    let mut apart: Vec<(usize, usize)> = Vec::new();
    for (start, end) in found {
        match apart.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => apart.push((start, end)),
        }
    }

    apart
}

/// Returns the pieces of a text, cut to the limit, with these ranges marked.
fn marked_text(text: &str, ranges: &[(usize, usize)]) -> Vec<ReportPiece> {
    let characters: Vec<char> = text.chars().collect();
    let shown = characters.len().min(MAX_MATERIAL);
    let mut pieces = Vec::new();
    let mut put = |tone, from: usize, to: usize| {
        let part: String = characters[from..to].iter().collect();
        let space = |is_there: bool| if is_there { " " } else { "" };
        let inner = sanitize::sanitize_text(&part, MAX_MATERIAL);
        let (before, after) = (part.starts_with(char::is_whitespace), part.ends_with(char::is_whitespace));
        let after = after && !inner.is_empty();
        pieces.push(ReportPiece::new(tone, format!("{}{inner}{}", space(before), space(after))));
    };

    let mut done = 0;
    for (start, end) in ranges.iter().map(|(start, end)| (*start.min(&shown), *end.min(&shown))) {
        put(ReportTone::Plain, done, start);
        put(ReportTone::Marked, start, end);
        done = end;
    }

    put(ReportTone::Plain, done, shown);
    if shown < characters.len() {
        let cut = format!("… [cut, {} characters]", number::grouped(characters.len() as u64));
        pieces.push(ReportPiece::new(ReportTone::Dim, cut));
    }

    pieces
}

/// Returns the places to show beside quotes: only for quotes that are not marked in the answer.
fn places_to_name(page: &ReportPage, places: &[Option<QuotePlace>]) -> Vec<Option<QuotePlace>> {
    let is_marked =
        |place: &QuotePlace| page.style().color && place.turn.is_none() && place.end <= MAX_MATERIAL;
    places.iter().map(|place| place.filter(|place| !is_marked(place))).collect()
}

/// Number of tool calls, and the tools in the order of their first call.
fn tool_summary(it: &CaseExplanation) -> String {
    let mut tools: Vec<(&str, usize)> = Vec::new();
    for call in &it.tool_calls {
        match tools.iter_mut().find(|(tool, _)| *tool == call.tool) {
            Some((_, count)) => *count += 1,
            None => tools.push((&call.tool, 1)),
        }
    }

    let failed = it.tool_calls.iter().filter(|call| call.failed == Some(true)).count();
    let failed = if failed > 0 { format!(", {failed} failed") } else { String::new() };
    let named: Vec<String> = tools
        .into_iter()
        .map(|(tool, count)| if count > 1 { format!("{tool} ×{count}") } else { tool.to_owned() })
        .collect();
    let count = format_count((it.tool_calls.len() + it.tool_calls_dropped) as u64, "call", "calls");
    format!("{count}{failed}: {}", named.join(", "))
}

/// Renders the answers turn by turn, cut to a limit.
fn render_turns(page: &mut ReportPage, turns: &[TurnRow]) {
    if turns.is_empty() {
        return;
    }

    page.add_blank();
    page.add_rule("Turns");

    for turn in turns {
        let answer_text = match (&turn.answer, &turn.error) {
            (Some(answer), _) if answer.trim().is_empty() => {
                ReportPiece::new(ReportTone::Dim, "an empty answer")
            }
            (Some(answer), _) => ReportPiece::untrusted(ReportTone::Plain, answer, sanitize::MAX_REASON),
            (None, Some(error)) => ReportPiece::untrusted(
                ReportTone::Bad,
                &format!("no answer: {}", error.message),
                sanitize::MAX_REASON,
            ),
            (None, None) => ReportPiece::new(ReportTone::Bad, "no answer"),
        };
        render_fact(page, &format!("turn {}", turn.turn), answer_text);
    }
}

fn render_fact(page: &mut ReportPage, label: &str, body: ReportPiece) {
    render_fact_pieces(page, label, &[body]);
}

fn render_fact_pieces(page: &mut ReportPage, label: &str, body: &[ReportPiece]) {
    page.add_text(&[ReportPiece::new(ReportTone::Dim, format!("  {label:<10}"))], body);
}

fn render_grader(page: &mut ReportPage, part: &GraderPart) {
    page.add_rule(&format!("Grader {}", sanitize::sanitize_name(&part.name)));

    if let Some(problem) = &part.problem {
        page.add_indented(2, ReportPiece::untrusted(ReportTone::Bad, problem, sanitize::MAX_REASON));
    }

    if let Some(whole) = &part.whole {
        render_whole_decision(page, whole, part.negate);
    }

    let judges =
        part.criteria.first().filter(|first| part.criteria.iter().all(|one| one.judge == first.judge));
    let mut sure = part.criteria.iter().filter_map(|one| one.confidence);
    let confidence = sure.next().filter(|first| sure.all(|one| one == *first));
    if let Some(one) = judges {
        let sure =
            confidence.map(|confidence| format!(", confidence {}", confidence.name())).unwrap_or_default();
        let by = ReportPiece::new(ReportTone::Dim, format!("judged by {}{sure}", judge_name(&one.judge)));
        page.add_indented(2, by);
    }

    let is_confidence_shown = judges.is_some() && confidence.is_some();
    for criterion in &part.criteria {
        render_decision(page, criterion, part.negate, judges.is_none(), !is_confidence_shown);
    }

    if !part.criteria.is_empty() {
        page.add_blank();
        render_arithmetic(page, part);
    }
    if let Some(formula) = part.formula {
        render_fact(page, "formula", ReportPiece::plain(formula_text(formula)));
    }

    for equation in &part.equations {
        render_equation(page, equation);
    }

    if part.formula.is_some() {
        render_score(page, part.rubric);
    }

    if part.weight_unit != 1.0 {
        render_fact(
            page,
            "units",
            ReportPiece::plain(format!("weights are divided by {} first", format_plain(part.weight_unit))),
        );
    }

    render_gates(page, part);

    for line in &part.weighting_effects {
        render_fact(page, "setting", ReportPiece::plain(line));
    }

    if part.figures != part.rubric || part.formula.is_none() {
        if let Some(equation) = contribution_equation(part.figures) {
            render_equation(page, &equation);
        }
        render_score(page, part.figures);
    }

    let tone = part.verdict.map_or(ReportTone::Dim, |verdict| VerdictMark::for_verdict(verdict).tone);
    render_fact_pieces(page, "verdict", &verdict_sentence(part.verdict, tone, &part.because));

    for member in &part.members {
        page.add_blank();
        render_grader(page, member);
    }
}

/// Renders the decision of a grader other than a rubric: its notes, or its aggregation.
fn render_whole_decision(page: &mut ReportPage, whole: &WholePart, negated: bool) {
    if let Some(aggregator) = &whole.aggregator {
        render_fact(page, "combines", ReportPiece::plain(aggregator));
    }

    let calls = if whole.attempts > 1 { format!(", {} judge calls", whole.attempts) } else { String::new() };
    let by = format!("decided by {}{calls}", judge_name(&whole.judge));
    page.add_indented(2, ReportPiece::new(ReportTone::Dim, by));

    if !whole.reason.trim().is_empty() {
        page.add_indented(2, ReportPiece::untrusted(ReportTone::Plain, &whole.reason, sanitize::MAX_REASON));
    }

    let mut places = places_to_name(page, &whole.evidence_places).into_iter();
    for quote in &whole.evidence {
        let place = places.next().flatten();
        page.add_text(&[ReportPiece::plain("  ")], &crate::criterion::quote_pieces(quote, place));
    }

    let shown = whole.truncated.as_ref().map(crate::truncation::truncation_details);
    for line in whole.panel.iter().flat_map(|panel| panel_notes(panel, false)).chain(shown) {
        page.add_indented(2, ReportPiece::untrusted(ReportTone::Dim, &line, sanitize::MAX_REASON));
    }

    for note in &whole.notes {
        let outcome = note.passed.map(|passed| if passed { OutcomeKind::Met } else { OutcomeKind::Unmet });
        let decision = CriterionLine {
            id: "",
            text: Some(&note.text),
            outcome,
            points: None,
            weight: note.weight.unwrap_or(1.0),
            negated,
            gate: None,
            gate_failed: false,
            reason: &note.reason,
            evidence: &[],
            places: &[],
            notes: &[],
        };
        decision.put(page, 2);
    }
}

fn render_decision(
    page: &mut ReportPage,
    part: &CriterionPart,
    negated: bool,
    name_judge: bool,
    confidence: bool,
) {
    let mut notes = Vec::new();
    if let Some(band) = &part.band {
        notes.push(format!("in the score range {band}"));
    }

    notes.extend(name_judge.then(|| format!("judged by {}", judge_name(&part.judge))));
    notes.extend(part.confidence.filter(|_| confidence).map(|level| format!("confidence {}", level.name())));
    notes.extend(part.probability.as_ref().map(crate::panel::format_probability));
    notes.extend(part.panel.iter().flat_map(|panel| panel_notes(panel, part.weight < 0.0)));
    notes.extend(part.truncated.as_ref().map(crate::truncation::truncation_details));

    if part.attempts > 1 {
        notes.push(format!("{} judge calls", part.attempts));
    }
    notes.extend(part.has_slips.then(|| "the reply is not quite JSON, but has only one reading".to_owned()));

    // For an ungraded criterion, the reason already describes the failure.
    let failure = part.ungraded.as_ref().map(|ungraded| ungraded.message.as_str());
    let reason = if part.reason.trim().is_empty() { failure.unwrap_or_default() } else { &part.reason };
    let decision = CriterionLine {
        id: &part.id,
        text: Some(&part.text),
        outcome: Some(part.outcome),
        points: part.of_ten,
        weight: part.weight,
        negated,
        gate: part.gate.as_ref().map(|gate| gate.rule.as_str()),
        gate_failed: part.gate.as_ref().is_some_and(|gate| gate.state == GateState::Failed),
        reason,
        evidence: &part.evidence,
        places: &places_to_name(page, &part.evidence_places),
        notes: &notes,
    };
    decision.put(page, 2);
}

/// Renders the votes, a line each, then their result.
fn panel_notes(part: &PanelPart, penalty: bool) -> Vec<String> {
    let votes = part.votes_in_full.iter().map(|vote| {
        let result = match (vote.of_ten, vote.score) {
            (Some(points), _) => crate::mark::format_raw_score(points),
            (None, Some(score)) => number::format_score(score),
            (None, None) => VerdictMark::for_outcome(vote.outcome, None, penalty, false).word,
        };

        let times = if part.panel.votes.iter().any(|vote| vote.repeat > 1) && !vote.escalated {
            format!(" #{}", vote.repeat)
        } else {
            String::new()
        };

        let weight = if vote.weight == 1.0 {
            String::new()
        } else {
            format!(", weight {}", format_plain(vote.weight))
        };

        let role = if vote.escalated { "also asked" } else { "vote" };
        let probability =
            vote.probability.as_ref().map(|found| format!(" ({})", crate::panel::format_probability(found)));
        let shown =
            vote.truncated.map(|found| format!(" ({})", crate::truncation::truncation_note(found.mode)));
        let reason = sanitize::sanitize_text(&vote.reason, sanitize::MAX_REASON);

        format!(
            "{role} {}{times}{weight}: {result}{}{}{}{reason}",
            sanitize::sanitize_name(&vote.judge.name),
            probability.unwrap_or_default(),
            shown.unwrap_or_default(),
            if reason.trim().is_empty() { "" } else { ": " },
        )
    });
    votes.chain(std::iter::once(crate::panel::format_vote_metrics(&part.panel))).collect()
}

fn judge_name(identity: &JudgeIdentity) -> String {
    let JudgeIdentity { name, model, version, .. } = identity;
    let model =
        model.iter().filter(|model| !name.ends_with(&***model)).map(|model| sanitize::sanitize_name(model));
    let about: Vec<String> =
        model.chain(version.iter().map(|version| sanitize::sanitize_name(version))).collect();
    if about.is_empty() {
        sanitize::sanitize_name(name)
    } else {
        format!("{} ({})", sanitize::sanitize_name(name), about.join(", "))
    }
}

fn render_arithmetic(page: &mut ReportPage, part: &GraderPart) {
    let columns = [
        ReportColumn::shrinking("criterion"),
        ReportColumn::left("outcome"),
        ReportColumn::right("weight"),
        ReportColumn::sign(),
        ReportColumn::right("value"),
        ReportColumn::sign(),
        ReportColumn::right("points"),
    ];

    let rows: Vec<Vec<ReportPiece>> = part
        .criteria
        .iter()
        .map(|criterion| {
            let mark =
                VerdictMark::for_outcome(criterion.outcome, criterion.of_ten, criterion.weight < 0.0, false);
            let (times, equals, value, points) = match (criterion.value, criterion.points) {
                (Some(value), Some(points)) => ("×", "=", format_plain(value), format_plain(points)),
                _ if criterion.outcome == OutcomeKind::NotApplicable => {
                    ("", "", "–".to_owned(), "excluded".to_owned())
                }
                _ => {
                    let weight = format_plain(criterion.weight);
                    let range = if criterion.weight < 0.0 {
                        format!("{weight} to 0")
                    } else {
                        format!("0 to {weight}")
                    };
                    ("×", "=", "?".to_owned(), range)
                }
            };
            vec![
                ReportPiece::untrusted_name(ReportTone::Strong, &criterion.id),
                ReportPiece::new(mark.tone, mark.word),
                ReportPiece::plain(format_plain(criterion.weight)),
                ReportPiece::new(ReportTone::Dim, times),
                ReportPiece::plain(value),
                ReportPiece::new(ReportTone::Dim, equals),
                ReportPiece::plain(points),
            ]
        })
        .collect();

    render_table(page, 2, &columns, &rows);
    page.add_blank();
}

fn score_or_range(figures: ScoreRange) -> Option<String> {
    let range = |(low, high)| format!("{} to {}", format_plain(low), format_plain(high));
    figures.score.map(format_plain).or_else(|| figures.bounds().map(range))
}

/// Returns the contribution of a grader where it differs from the score of its criteria.
fn contribution_equation(figures: ScoreRange) -> Option<ScoreEquation> {
    let text = score_or_range(figures)?;
    Some(ScoreEquation { of: "counts as", when: String::new(), text })
}

fn render_equation(page: &mut ReportPage, equation: &ScoreEquation) {
    let mut body = Vec::new();
    if !equation.when.is_empty() {
        body.push(ReportPiece::new(ReportTone::Dim, format!("{}:  ", equation.when)));
    }

    body.push(ReportPiece::plain(&equation.text));
    render_fact_pieces(page, equation.of, &body);
}

/// Renders the numbers that the calculations don't show: the unrounded score, the bounds, and the coverage.
fn render_score(page: &mut ReportPage, figures: ScoreRange) {
    match (figures.score, figures.bounds()) {
        (Some(score), _) if format_plain(score) == score.to_string() => {}
        (Some(score), _) => render_fact(page, "unrounded", ReportPiece::plain(format_unrounded(score))),
        (None, Some((low, high))) => {
            let range = format!("{} to {}", format_unrounded(low), format_unrounded(high));
            render_fact(page, "bounds", ReportPiece::plain(range));
        }
        (None, None) => {
            render_fact(page, "score", ReportPiece::plain("none: no criterion applies"));
        }
    }
    if let Some(coverage) = figures.coverage.filter(|coverage| *coverage < 1.0) {
        render_fact(
            page,
            "coverage",
            ReportPiece::plain(format!("{} of the weight was graded", format_plain(coverage))),
        );
    }
}

fn format_unrounded(value: f64) -> String {
    let (long, short) = (number::format_exact(value), number::format_score(value));
    // 0.5 and 0.50 are the same number; 0.6666666666666666 and 0.667 are not.
    if long.len() <= short.len() { long } else { format!("{long} (shown as {short})") }
}

fn render_gates(page: &mut ReportPage, part: &GraderPart) {
    let gated = part.criteria.iter().filter(|criterion| criterion.gate.is_some());
    let widest =
        gated.map(|criterion| sanitize::sanitize_name(&criterion.id).width()).max().unwrap_or(0).min(24);
    for criterion in &part.criteria {
        if let Some(gate) = &criterion.gate {
            let tone = match gate.state {
                GateState::Failed => ReportTone::Bad,
                GateState::Open => ReportTone::Open,
                GateState::Passed | GateState::NotApplicable => ReportTone::Plain,
            };
            render_fact_pieces(
                page,
                "gate",
                &[
                    ReportPiece::untrusted_name(ReportTone::Strong, &criterion.id),
                    ReportPiece::plain(
                        " ".repeat(widest.saturating_sub(sanitize::sanitize_name(&criterion.id).width())),
                    ),
                    ReportPiece::new(ReportTone::Dim, format!("  {}:  ", gate.rule)),
                    ReportPiece::new(tone, &gate.comparison),
                ],
            );
        }
    }
}

fn render_case_section(page: &mut ReportPage, it: &CaseExplanation) {
    page.add_rule("Case");

    if it.recomputed {
        render_grader_shares(page, it);

        for equation in &it.equations {
            render_equation(page, equation);
        }

        render_score(page, it.figures);

        for gate in &it.gates_failed {
            let name = gate.criterion.as_ref().unwrap_or(&gate.grader);
            render_fact_pieces(
                page,
                "gate",
                &[
                    ReportPiece::untrusted_name(ReportTone::Strong, name),
                    ReportPiece::new(ReportTone::Dim, format!("  {}:  ", gate.rule)),
                    ReportPiece::new(ReportTone::Bad, "failed"),
                ],
            );
        }
    }

    render_fact_pieces(
        page,
        "verdict",
        &verdict_sentence(Some(it.verdict), VerdictMark::for_verdict(it.verdict).tone, &it.because),
    );
}

/// Renders the graders with their weights; a single grader needs no table.
fn render_grader_shares(page: &mut ReportPage, it: &CaseExplanation) {
    if it.graders.len() < 2 {
        return;
    }

    let columns = [
        ReportColumn::shrinking("grader"),
        ReportColumn::left("verdict"),
        ReportColumn::right("weight"),
        ReportColumn::sign(),
        ReportColumn::right("score"),
    ];

    let rows: Vec<Vec<ReportPiece>> = it
        .graders
        .iter()
        .map(|part| {
            let figure = score_or_range(part.figures).unwrap_or_else(|| "excluded".to_owned());
            let tone = part.verdict.map_or(ReportTone::Dim, |verdict| VerdictMark::for_verdict(verdict).tone);
            vec![
                ReportPiece::untrusted_name(ReportTone::Strong, &part.name),
                ReportPiece::new(tone, part.verdict.map_or("does not apply", Verdict::name)),
                ReportPiece::plain(format_plain(part.weight)),
                ReportPiece::new(ReportTone::Dim, if part.figures.bounds().is_some() { "×" } else { "" }),
                ReportPiece::plain(figure),
            ]
        })
        .collect();

    render_table(page, 2, &columns, &rows);
    page.add_blank();
}

/// Formats a sentence that begins with the verdict, in the tone of the verdict.
fn verdict_sentence(verdict: Option<Verdict>, tone: ReportTone, text: &str) -> Vec<ReportPiece> {
    match verdict.and_then(|verdict| text.strip_prefix(verdict.name()).map(|rest| (verdict, rest))) {
        Some((verdict, rest)) => vec![ReportPiece::new(tone, verdict.name()), ReportPiece::plain(rest)],
        None => vec![ReportPiece::plain(text)],
    }
}
