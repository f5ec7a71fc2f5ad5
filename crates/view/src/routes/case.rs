//! A case: question, answer, decisions, and the arithmetic of the score.

use std::collections::BTreeSet;

use assize_engine::{LabelOptions, LabelledItem, current_scorecard};
use assize_report::html::{AnswerQuote, TextPiece, mark_answer};
use assize_report::{
    CaseExplanation, CriterionPart, GraderPart, PanelPart, QuotePlace, ScoreEquation, ScoreRange, VotePart,
    WholePart, explain_case, format_duration, format_latency, format_plain, format_probability, format_score,
    format_vote_metrics, formula_text, truncation_details,
};
use assize_review::part_sections;
use assize_rubric::{
    BenchmarkState, CaseDecision, EvidenceQuote, GateState, GraderFinding, JudgeIdentity, OutcomeKind,
};
use assize_store::{AnswerPart, CaseRecord};
use axum::extract::{Path, State};
use axum::http::Uri;
use axum::response::{IntoResponse, Redirect, Response};

use super::case_work::{file_diffs, negated_text, tool_call_texts, turn_text};
use super::cases::base_run;
use super::run_header::run_header;
use super::scorecard::part_url;
use crate::index::{CaseFilter, CaseStatus};
use crate::page_reply::{
    Library, PageError, blocking, case_url, open_case, open_run, query_value, render, run_url, with_query,
};
use crate::pages::{
    AnswerPiece, CasePage, CriterionText, GateText, GraderNoteText, GraderText, QuoteText, RunHeader,
    TurnText, VoteText,
};
use crate::people::{labels_of, words_of_people};
use crate::text::{ResultMark, range_text, sentence, visible};

pub(crate) async fn page(
    State(library): Library,
    Path((slug, row)): Path<(String, String)>,
    uri: Uri,
) -> Result<Response, PageError> {
    blocking(move || {
        let run = open_run(&library, &slug)?;
        let info = library.info(&run.folder)?;
        let (row, record) = open_case(&run, &row)?;
        let filter = CaseFilter::from_query(uri.query().unwrap_or_default());
        let base = base_run(&library, &filter)?;
        let rows = run.select(&*run.index()?, &filter, base.as_deref())?;
        let (url, query) = (format!("{}/cases", run_url(&run.slug)), filter.to_query());
        let at = rows.iter().position(|one| *one == row);
        let link = |at: Option<usize>| Some(with_query(&format!("{url}/{}", rows.get(at?)? + 1), &query));
        let question_row = run.question(&record.result)?;
        let explained = explain_case(&record, question_row.as_ref());
        let header = run_header(&run, &info, "cases");
        let mut page = CasePage {
            list_url: with_query(&url, &query),
            mark_url: format!("{url}/{}", row + 1),
            place: at.map_or_else(String::new, |at| format!("{} of {}", at + 1, rows.len())),
            before: link(at.and_then(|at| at.checked_sub(1))),
            after: link(at.map(|at| at + 1)),
            ..case_page(header, &run.slug, &record, &explained)
        };
        let people = run.people(&*run.index()?)?;
        for grader in &mut page.graders {
            add_people(grader, people.of(row));
        }
        if info.scorecard.is_some() {
            // The files may have changed or be gone; the run stores everything but the question texts.
            let card = current_scorecard(&info, &LabelOptions::default(), &library.process).ok();
            for (part, text) in explained.graders.iter().zip(&mut page.graders) {
                text.part_url = part_url(&run.slug, &part.name);
                let sections = card.as_ref().map(|card| part_sections(card, &part.name)).unwrap_or_default();
                text.asks = sections.first().map(|section| visible(&section.text)).unwrap_or_default();
            }
        }

        Ok(render(&page))
    })
    .await
}

/// Redirects to the case with this identity: row numbers follow the order in which cases finished, which
/// differs between runs.
pub(crate) async fn find(
    State(library): Library,
    Path(slug): Path<String>,
    uri: Uri,
) -> Result<Response, PageError> {
    blocking(move || {
        let run = open_run(&library, &slug)?;
        let value = |key| query_value(&uri, key);
        let trial = value("repeat").and_then(|trial| trial.parse().ok()).unwrap_or(1);
        let (suite, id) = (value("suite").unwrap_or_default(), value("id").unwrap_or_default());
        let part = AnswerPart { target: value("target"), prompt: None };
        let found = run.index()?.find(&suite, &id, &part, trial);
        let row = found.ok_or_else(|| PageError::missing(format!("The run has no case `{id}`.")))?;

        Ok(Redirect::to(&format!("{}/cases/{}", run_url(&run.slug), row + 1)).into_response())
    })
    .await
}

/// Adds people's labels on the criteria of a grader, or on a whole benchmark.
fn add_people(grader: &mut GraderText, labels: &[LabelledItem]) {
    let name = grader.name.clone();
    for criterion in &mut grader.criteria {
        let found = labels_of(labels, &format!("{name}/{}", criterion.id));
        criterion.people = found.map(words_of_people).unwrap_or_default();
        criterion.is_disputed = found.is_some_and(|item| item.is_disputed);
    }
    if let Some((whole, found)) = grader.whole.as_mut().zip(labels_of(labels, &name)) {
        whole.people = words_of_people(found);
        whole.is_disputed = found.is_disputed;
    }
    grader.members.iter_mut().for_each(|member| add_people(member, labels));
}

fn case_page(header: RunHeader, slug: &str, record: &CaseRecord, explained: &CaseExplanation) -> CasePage {
    let row = &record.result;
    let mut material = DecisionMaterial { decisions: &record.decisions, ..DecisionMaterial::default() };
    let graders = explained.graders.iter().map(|part| material.grader(part, &part.name)).collect();
    let show = |text: &Option<String>| text.as_deref().map(visible);
    let marked = mark_answer(explained.answer.as_deref(), &explained.turns, &material.quotes);
    let is_told_by_turn = marked.whole.is_none() && !explained.turns.is_empty();
    let mut seen = BTreeSet::new();
    let turns = explained.turns.iter().zip(marked.turns);
    let turns = turns.map(|(turn, text)| turn_text(turn, text.asked, answer_pieces(text.answer, &mut seen)));
    let turns: Vec<TurnText> = turns.collect();
    let answer = answer_pieces(marked.whole.unwrap_or_default(), &mut seen);
    let status = CaseStatus::new(row.verdict, row.is_skipped());

    CasePage {
        header,
        id: visible(row.test_id()),
        facts: facts(record, explained),
        mark: ResultMark::of_status(status),
        score: range_text(explained.figures.score, explained.figures.bounds()),
        because: sentence(&explained.because),
        link: case_url(slug, &row.suite, &row.case_id, row.target.as_deref(), row.trial),
        error: explained.error.as_ref().map(|error| {
            visible(&format!("{} failed ({}): {}", error.stage.name(), error.kind.name(), error.message))
        }),
        disagreements: explained.disagreements.iter().map(|line| visible(line)).collect(),
        question: show(&explained.question),
        expected: show(&explained.expected_outcome),
        reference: show(&explained.reference),
        has_answer: explained.answer.is_some(),
        is_told_by_turn,
        answer,
        turns,
        calls: tool_call_texts(&explained.tool_calls),
        calls_dropped: explained.tool_calls_dropped,
        changes: explained.file_changes.as_deref().map(file_diffs).unwrap_or_default(),
        changes_known: explained.file_changes.is_some(),
        graders,
        equations: equation_lines(&explained.equations),
        bounds: bounds_text(explained.figures),
        gates: explained
            .gates_failed
            .iter()
            .map(|gate| (visible(gate.criterion.as_ref().unwrap_or(&gate.grader)), visible(&gate.rule)))
            .collect(),
        ..CasePage::default()
    }
}

fn facts(record: &CaseRecord, explained: &CaseExplanation) -> Vec<(&'static str, String)> {
    let row = &record.result;
    let thresholds = explained.thresholds.map(|thresholds| {
        let borderline =
            thresholds.borderline().map(|line| format!(", borderline {}", format_plain(line.get())));
        format!("pass {}{}", format_plain(thresholds.pass().get()), borderline.unwrap_or_default())
    });
    let tags: Vec<String> = row.tags.iter().map(|tag| visible(tag)).collect();
    let values = [
        ("Suite", Some(visible(&row.suite))),
        ("Prompt", row.prompt.as_deref().map(visible)),
        ("Target", row.target.as_deref().map(visible)),
        ("Answered by", row.answered_by.as_deref().map(visible)),
        ("Trial", Some(row.trial.to_string()).filter(|_| row.trial > 1 || row.trials.is_some())),
        ("Tags", Some(tags.join(", ")).filter(|tags| !tags.is_empty())),
        ("Thresholds", thresholds),
        ("Cost", Some(assize_report::format_cost(row.cost_usd, row.cost_partial))),
        ("Latency", Some(format_latency(row.latency_ms))),
        ("Time with waiting and grading", Some(format_duration(row.duration_ms))),
    ];

    values.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// Input for the texts of graders: their decisions, and the quotes found so far.
#[derive(Default)]
struct DecisionMaterial<'r> {
    decisions: &'r [CaseDecision],
    /// Numbers of criteria with their quotes from the answer or from the answer of a turn.
    quotes: Vec<AnswerQuote<'r>>,
    /// Number of criteria that have a number.
    count: usize,
    /// Name of the top grader, then the names of the members down to the grader that is being shown.
    path: Vec<String>,
}

impl<'r> DecisionMaterial<'r> {
    /// `own_name` is without the names of the composites that the grader is a member of.
    fn grader(&mut self, part: &'r GraderPart, own_name: &str) -> GraderText {
        self.path.push(own_name.to_owned());
        let judge = part.criteria.first().map(|first| &first.judge);
        let judge = judge.filter(|judge| part.criteria.iter().all(|one| one.judge == **judge));
        let criteria: Vec<CriterionText> =
            part.criteria.iter().map(|one| self.criterion(one, part.negate, judge.is_none())).collect();
        let whole = part.whole.as_ref();
        let waits = self.decided().any(|decided| {
            let benchmark = decided.finding().and_then(GraderFinding::benchmark);
            benchmark.is_some_and(|finding| finding.state == BenchmarkState::Waiting)
        });
        let whole_text = whole.filter(|whole| whole.aggregator.is_none()).map(|whole| self.whole(whole));
        // In the explanation, the name of a member has the composite's name as a prefix.
        let members = part.members.iter().map(|member| {
            let own = member.name.strip_prefix(&part.name).and_then(|name| name.strip_prefix('/'));
            self.grader(member, own.unwrap_or(&member.name))
        });
        let members = members.collect();
        self.path.pop();

        GraderText {
            name: visible(&part.name),
            type_name: visible(&part.type_name),
            mark: part.verdict.map(ResultMark::of_verdict),
            weight: format_plain(part.weight),
            score: range_text(part.figures.score, part.figures.bounds()),
            because: sentence(&part.because),
            judge: judge.map_or_else(String::new, judge_name),
            problem: part.problem.as_deref().map(visible),
            waits,
            has_weights: !criteria.is_empty(),
            criteria,
            aggregator: whole.and_then(|whole| whole.aggregator.as_deref()).map(visible),
            notes: whole.map(|whole| note_texts(whole, part.negate)).unwrap_or_default(),
            whole: whole_text,
            formula: part.formula.map(formula_text),
            equations: equation_lines(&part.equations),
            weighting_effects: part.weighting_effects.iter().map(|line| visible(line)).collect(),
            members,
            ..GraderText::default()
        }
    }

    fn criterion(&mut self, part: &'r CriterionPart, is_negated: bool, names_judge: bool) -> CriterionText {
        self.count += 1;
        let number = self.count;
        let mark = ResultMark::of_outcome(part.outcome, part.of_ten, part.weight < 0.0, is_negated);

        let mut notes = Vec::new();
        if names_judge {
            notes.push(format!("judged by {}", judge_name(&part.judge)));
        }
        notes.extend(part.confidence.map(|confidence| format!("confidence {}", confidence.name())));
        notes.extend(part.probability.as_ref().map(format_probability));
        notes.extend(part.truncated.as_ref().map(truncation_details));
        if part.attempts > 1 {
            notes.push(format!("{} judge calls", part.attempts));
        }
        notes.extend(part.panel.iter().map(|panel| format_vote_metrics(&panel.panel)));
        notes.retain(|note| !note.is_empty());

        CriterionText {
            number,
            id: visible(&part.id),
            text: negated_text(if part.text.trim().is_empty() { &part.id } else { &part.text }, is_negated),
            mark: Some(mark.clone()),
            band: part.band.as_deref().map(visible),
            weight: format_plain(part.weight),
            value: part.value.map_or_else(|| mark.word.clone(), format_plain),
            points: part.points.map_or_else(String::new, format_plain),
            gate: part.gate.as_ref().map(|gate| GateText {
                rule: visible(&gate.rule),
                comparison: visible(&gate.comparison),
                mark: gate_mark(gate.state),
            }),
            reason: visible(&part.reason),
            quotes: self.quotes(&part.evidence, &part.evidence_places, number),
            notes: notes.iter().map(|note| visible(note)).collect(),
            votes: vote_texts(part.panel.as_ref(), part.weight < 0.0, is_negated),
            replies: self.replies(Some(&part.id)),
            ..CriterionText::default()
        }
    }

    /// The decision of a grader without criteria.
    fn whole(&mut self, part: &'r WholePart) -> CriterionText {
        self.count += 1;
        let number = self.count;
        let calls = (part.attempts > 1).then(|| format!("{} judge calls", part.attempts));
        let mut notes: Vec<String> = vec![format!("decided by {}", judge_name(&part.judge))];
        notes.extend(calls);
        notes.extend(part.truncated.as_ref().map(truncation_details));
        notes.extend(part.panel.iter().map(|panel| format_vote_metrics(&panel.panel)));
        notes.retain(|note| !note.is_empty());

        CriterionText {
            number,
            id: "the answer as a whole".to_owned(),
            text: part
                .score
                .map_or_else(|| "No score".to_owned(), |score| format!("Score {}", format_score(score))),
            reason: visible(&part.reason),
            quotes: self.quotes(&part.evidence, &part.evidence_places, number),
            notes: notes.iter().map(|note| visible(note)).collect(),
            votes: vote_texts(part.panel.as_ref(), false, false),
            replies: self.replies(None),
            ..CriterionText::default()
        }
    }

    fn quotes(
        &mut self,
        evidence: &'r [EvidenceQuote],
        places: &[Option<QuotePlace>],
        number: usize,
    ) -> Vec<QuoteText> {
        let places = places.iter().copied().chain(std::iter::repeat(None));
        let mut texts = Vec::with_capacity(evidence.len());
        for (quote, place) in evidence.iter().zip(places) {
            // An unverified quote is not shown as a quote, even if its words are there.
            let place = place.filter(|_| quote.verified);
            if let Some(QuotePlace { turn, .. }) = place {
                self.quotes.push(AnswerQuote { number, turn, text: &quote.quote });
            }

            let note = match (quote.verified, place) {
                (false, _) => "not found in what the judge was shown".to_owned(),
                (true, Some(QuotePlace { turn: Some(turn), line, .. })) => {
                    format!("turn {turn}, line {line}")
                }
                (true, Some(QuotePlace { line, .. })) => format!("line {line}"),
                (true, None) => "found elsewhere in what the judge was shown".to_owned(),
            };
            let anchor = place.map(|_| format!("q{number}"));
            texts.push(QuoteText { text: visible(&quote.quote), anchor, note, is_found: quote.verified });
        }

        texts
    }

    /// The decisions of the grader that is being shown.
    fn decided(&self) -> impl Iterator<Item = &'r CaseDecision> {
        let path = self.path.split_first();
        self.decisions.iter().filter(move |decided| {
            path.is_some_and(|(grader, member)| *decided.grader == **grader && decided.member == member)
        })
    }

    /// Judges' replies, verbatim, with the judges' names. Without a criterion, replies about the grader as a
    /// whole.
    fn replies(&self, criterion: Option<&str>) -> Vec<(String, String)> {
        let own = self.decided().filter(|decided| {
            decided.criterion().map(|criterion| criterion.id.to_string()).as_deref() == criterion
        });
        own.flat_map(|decided| {
            let judge = judge_name(&decided.decision.judge);
            decided.decision.spent.replies.iter().map(move |reply| (judge.clone(), visible(reply)))
        })
        .collect()
    }
}

/// Pieces of an answer, each with the criteria whose first quote begins there. `seen` has the criteria of
/// earlier answers.
fn answer_pieces(pieces: Vec<TextPiece>, seen: &mut BTreeSet<usize>) -> Vec<AnswerPiece> {
    let begins = |piece: &TextPiece, seen: &mut BTreeSet<usize>| {
        piece.numbers.iter().copied().filter(|number| seen.insert(*number)).collect()
    };
    pieces.into_iter().map(|piece| AnswerPiece { begins: begins(&piece, seen), piece }).collect()
}

fn note_texts(whole: &WholePart, is_negated: bool) -> Vec<GraderNoteText> {
    let mark = |passed: bool| {
        let outcome = if passed { OutcomeKind::Met } else { OutcomeKind::Unmet };
        ResultMark::of_outcome(outcome, None, false, is_negated)
    };
    whole
        .notes
        .iter()
        .map(|note| GraderNoteText {
            mark: note.passed.map(mark),
            text: negated_text(&note.text, is_negated),
            reason: visible(&note.reason),
        })
        .collect()
}

fn vote_texts(panel: Option<&PanelPart>, is_penalty: bool, is_negated: bool) -> Vec<VoteText> {
    panel
        .iter()
        .flat_map(|panel| &panel.votes_in_full)
        .map(|vote| vote_text(vote, is_penalty, is_negated))
        .collect()
}

fn vote_text(vote: &VotePart, is_penalty: bool, is_negated: bool) -> VoteText {
    let mut notes = Vec::new();
    if vote.repeat > 1 {
        notes.push(format!("vote {}", vote.repeat));
    }
    if vote.escalated {
        notes.push("asked because the others were unsure".to_owned());
    }
    if vote.weight != 1.0 {
        notes.push(format!("weight {}", format_plain(vote.weight)));
    }
    notes.extend(vote.score.map(|score| format!("score {}", format_score(score))));
    notes.extend(vote.probability.as_ref().map(format_probability));
    notes.extend(vote.truncated.as_ref().map(truncation_details));

    VoteText {
        judge: judge_name(&vote.judge),
        mark: ResultMark::of_outcome(vote.outcome, vote.of_ten, is_penalty, is_negated),
        reason: visible(&vote.reason),
        note: visible(&notes.join(", ")),
    }
}

fn equation_lines(equations: &[ScoreEquation]) -> Vec<String> {
    let line = |equation: &ScoreEquation| match equation.when.as_str() {
        "" => format!("{}: {}", equation.of, equation.text),
        when => format!("{} ({when}): {}", equation.of, equation.text),
    };
    equations.iter().map(|equation| visible(&line(equation))).collect()
}

/// The bounds of an unknown score, and the share of the weight that was judged.
fn bounds_text(range: ScoreRange) -> String {
    let bounds = range.bounds().filter(|(low, high)| low != high);
    let bounds = bounds.map(|(low, high)| {
        format!(
            "Whatever the outcomes of the ungraded criteria, the score lies between {} and {}.",
            format_plain(low),
            format_plain(high)
        )
    });
    let coverage = range.coverage.filter(|coverage| *coverage < 1.0);
    let coverage = coverage
        .map(|coverage| format!("{} of the weight was judged.", assize_report::format_rate(coverage)));

    [bounds, coverage].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn gate_mark(state: GateState) -> ResultMark {
    match state {
        GateState::Passed => ResultMark::new("good", "✓", "passed"),
        GateState::Failed => ResultMark::new("bad", "✗", "failed"),
        GateState::Open => ResultMark::new("open", "?", "open"),
        GateState::NotApplicable => ResultMark::new("dim", "–", "does not apply"),
    }
}

/// Name of a judge, with its model unless the name contains it.
fn judge_name(judge: &JudgeIdentity) -> String {
    match &judge.model {
        Some(model) if !judge.name.ends_with(&**model) => visible(&format!("{} ({model})", judge.name)),
        _ => visible(&judge.name),
    }
}
