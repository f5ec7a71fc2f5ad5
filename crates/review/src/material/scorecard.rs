//! Review items of a scorecard: benchmarks on cases, or cases in which the reviewer names the first failure.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::num::NonZeroUsize;

use assize_analysis::{LabelSet, needs_person};
use assize_engine::label_set;
use assize_model::{
    BenchmarkApplicability, EvaluatorType, Guidelines, Scorecard, ScorecardBenchmark, ScorecardCase,
    ScoringScale, value_text,
};
use assize_rubric::{
    BenchmarkState, CaseDecision, Criticality, DecidedBy, Decision, JudgeConfidence, Label, LabelAccount,
    LabelOutcome, NO_FAILURE, NONE_OF_THE_ABOVE, SeenHash, SettledLabels, SubjectHash,
};
use assize_run::describe_scorecard;
use assize_store::{CaseRecord, RunFolder, RunInfo, ScorecardInfo, StoreError};
use serde_json::Value;

use super::{ReviewMaterial, add_section, version};
use crate::{
    FailureChoice, JudgeAccount, ReviewItem, ReviewOptions, ReviewQuestion, ReviewReason, ReviewSection,
    ReviewSectionKind, ReviewWeight, ScoreScale,
};

/// Returns the items of a scorecard without a run: the manual benchmarks, or all of them if the order covers
/// all.
pub fn scorecard_items(scorecard: &Scorecard, options: &ReviewOptions) -> ReviewMaterial {
    let labels = FileLabels::new(scorecard);
    let (mut items, mut others) = (Vec::new(), Vec::new());
    for case in &scorecard.cases {
        let given = case.candidate_output.as_ref().map(value_text).unwrap_or_default();
        let shown = ShownAnswer { target: None, text: &given };
        if options.traces {
            items.extend(build_trace_item(scorecard, case, shown));
            continue;
        }
        for (at, benchmark) in scorecard.benchmarks.iter().enumerate() {
            let manual = benchmark.evaluator == EvaluatorType::ManualSme;
            if scorecard.applies(at, case) == BenchmarkApplicability::No {
                continue;
            }

            let account = labels.account(&case.id, at, shown_hash(scorecard, at, case, shown));
            let scale = benchmark.scale.as_ref().map(ScoringScale::benchmark_scale);
            let differ = account.settle(scale) == SettledLabels::Differ;
            let why = match (manual, differ) {
                (_, true) => ReviewReason::ReviewersDiffer,
                (true, false) => ReviewReason::Waiting,
                (false, false) => ReviewReason::Check,
            };
            let mut item = build_item(scorecard, at, case, shown, None, why);
            if options.adjudicate && differ {
                add_reviewers(&mut item, &account);
            }

            if if options.adjudicate { differ } else { manual || options.order.covers_all() } {
                items.push(item);
            } else {
                others.push(item);
            }
        }
    }

    ReviewMaterial { items, others, outdated: 0 }
}

/// Returns the items of a run: those that wait for a person, or everything that a judge or a person decides
/// if the order covers all. `scorecard` comes from the files and has the labels that count.
///
/// # Errors
/// If the rows of the run can't be read.
pub fn scorecard_run_items(
    folder: &RunFolder,
    info: &RunInfo,
    scorecard: &Scorecard,
    options: &ReviewOptions,
) -> Result<ReviewMaterial, StoreError> {
    let mut found = RunMaterial::new(info, scorecard, options);
    for record in folder.cases()? {
        found.add(record?);
    }

    Ok(found.into_material())
}

/// Returns the items of one case of a run, whether or not a review would ask about them.
pub fn scorecard_case_items(info: &RunInfo, record: CaseRecord, scorecard: &Scorecard) -> Vec<ReviewItem> {
    let options = ReviewOptions::default();
    let mut found = RunMaterial::new(info, scorecard, &options);
    found.add(record);
    let ReviewMaterial { items, others, .. } = found.into_material();
    items.into_iter().chain(others).collect()
}

/// Items of a run, collected case by case.
struct RunMaterial<'s> {
    scorecard: &'s Scorecard,
    options: &'s ReviewOptions,
    tree: ScorecardInfo,
    counted: LabelSet,
    cases: HashMap<&'s str, (usize, &'s ScorecardCase)>,
    benchmarks: HashMap<&'s str, usize>,
    /// Rows are stored in the order of completion; reviewers get the items in the order of the files.
    placed: Vec<((usize, usize), bool, ReviewItem)>,
    outdated: usize,
}

impl<'s> RunMaterial<'s> {
    fn new(info: &RunInfo, scorecard: &'s Scorecard, options: &'s ReviewOptions) -> Self {
        let cases = scorecard.cases.iter().enumerate().map(|(at, case)| (&*case.id, (at, case)));
        let benchmarks = scorecard.benchmarks.iter().enumerate().map(|(at, found)| (&*found.code, at));
        Self {
            tree: info.scorecard.clone().unwrap_or_else(|| describe_scorecard(scorecard, None, |_| true)),
            counted: label_set(scorecard),
            cases: cases.collect(),
            benchmarks: benchmarks.collect(),
            placed: Vec::new(),
            outdated: 0,
            scorecard,
            options,
        }
    }

    fn add(&mut self, mut record: CaseRecord) {
        let Self { scorecard, options, .. } = *self;
        let before = record.decisions.clone();
        self.counted.apply(&mut record, &self.tree);

        // A case that has been removed from the files can't be shown.
        let Some(&(place, case)) = self.cases.get(&*record.result.case_id) else { return };
        let text = record.result.answer.as_deref().unwrap_or_default();
        let shown = ShownAnswer { target: record.result.target.as_deref(), text };
        if options.traces {
            let item = build_trace_item(scorecard, case, shown);
            self.placed.extend(item.map(|item| ((place, 0), true, item)));
            return;
        }

        for (was, row) in before.iter().zip(&record.decisions) {
            let found = self.benchmarks.get(&*row.grader);
            let Some(&at) = found.filter(|_| row.member.is_empty() && !row.is_vote()) else { continue };
            let evaluator = scorecard.benchmarks[at].evaluator;
            let Some(why) = review_reason(was, row, evaluator) else { continue };
            let judge = judge_account(&was.decision);
            let mut item = build_item(scorecard, at, case, shown, judge, why);

            // The reviewer must see the same texts as the run's judge; otherwise the label would not count.
            if row.decision.benchmark().and_then(|benchmark| benchmark.seen) != item.seen {
                self.outdated += 1;
                continue;
            }

            let account =
                row.finding().and_then(|finding| LabelAccount::from_details(finding.details.as_ref()));
            let account = account.unwrap_or_default();
            item.is_stale = account.current.is_empty() && !account.stale.is_empty();

            let is_listed = if options.adjudicate {
                let differ = why == ReviewReason::ReviewersDiffer;
                if differ {
                    add_reviewers(&mut item, &account);
                }
                differ
            } else {
                let raters =
                    options.raters.or(scorecard.benchmarks[at].raters.and_then(|n| n.try_into().ok()));
                let raters = raters.map_or(1, NonZeroUsize::get);
                let is_scaled = scorecard.benchmarks[at].scale.is_some();
                let reviewers = account.reviewers(is_scaled);
                let is_wanted = reviewers < raters && !account.is_adjudicated(is_scaled);
                let is_queued = why != ReviewReason::Check && (is_open(row, evaluator) || is_wanted);
                if is_wanted && !options.order.covers_all() {
                    item.wanted = Some(raters - reviewers);
                }
                is_queued || options.order.covers_all()
            };
            self.placed.push(((place, at), is_listed, item));
        }
    }

    fn into_material(mut self) -> ReviewMaterial {
        self.placed.sort_by_key(|(place, ..)| *place);
        let (listed, others): (Vec<_>, Vec<_>) =
            self.placed.into_iter().partition(|(_, is_listed, _)| *is_listed);
        let items = |placed: Vec<(_, bool, ReviewItem)>| placed.into_iter().map(|(.., item)| item).collect();

        ReviewMaterial { items: items(listed), others: items(others), outdated: self.outdated }
    }
}

/// Labels in the files of a scorecard, by case and benchmark.
struct FileLabels<'s> {
    scorecard: &'s Scorecard,
    labels: HashMap<(String, String), Vec<Label>>,
}

impl<'s> FileLabels<'s> {
    fn new(scorecard: &'s Scorecard) -> Self {
        let mut labels: HashMap<(String, String), Vec<Label>> = HashMap::new();
        for label in scorecard.stored_labels() {
            labels.entry((label.case.clone(), label.criterion.clone())).or_default().push(label);
        }

        Self { scorecard, labels }
    }

    /// Returns the labels of a benchmark on a case whose answer is in the files.
    fn account(&self, case: &str, at: usize, seen: Option<SeenHash>) -> LabelAccount {
        let benchmark = &self.scorecard.benchmarks[at];
        let labels = self.labels.get(&(case.to_owned(), benchmark.code.to_string()));
        LabelAccount::new(labels.into_iter().flatten(), seen, None, self.scorecard.unbound_labels)
            .with_raters(benchmark.raters)
    }
}

/// Adds the reviewers' decisions to an item for the adjudicator.
fn add_reviewers(item: &mut ReviewItem, account: &LabelAccount) {
    let text = account.words().replace("; ", "\n");
    add_section(&mut item.sections, ReviewSectionKind::Question, "Decisions of reviewers", text);
}

/// Returns true if a benchmark still waits for a person.
fn is_open(row: &CaseDecision, evaluator: EvaluatorType) -> bool {
    row.decision.benchmark().is_some_and(|benchmark| needs_person(benchmark.state, evaluator.name()))
}

/// Returns the reason for a review of a benchmark: `was` is its decision without labels, `row` the decision with
/// labels. Returns `None` if people don't decide the benchmark.
fn review_reason(was: &CaseDecision, row: &CaseDecision, evaluator: EvaluatorType) -> Option<ReviewReason> {
    let benchmark = was.decision.benchmark()?;
    if matches!(row.decision.benchmark()?.state, BenchmarkState::ReviewersDiffer | BenchmarkState::Disputed) {
        return Some(ReviewReason::ReviewersDiffer);
    }
    if evaluator == EvaluatorType::ManualSme {
        return Some(ReviewReason::Waiting);
    }

    match benchmark.state {
        BenchmarkState::Waiting | BenchmarkState::ReviewersDiffer | BenchmarkState::Disputed => {
            Some(ReviewReason::Waiting)
        }
        BenchmarkState::Uncertain => Some(ReviewReason::Uncertain),
        BenchmarkState::JudgesDiffer => Some(ReviewReason::JudgesDiffer),
        BenchmarkState::Missing => (evaluator != EvaluatorType::Code).then_some(ReviewReason::Undecided),
        BenchmarkState::Scored | BenchmarkState::NotApplicable => {
            (benchmark.decided_by != Some(DecidedBy::Checks)).then_some(ReviewReason::Check)
        }
    }
}

/// Answer as a reviewer sees it.
#[derive(Clone, Copy)]
struct ShownAnswer<'a> {
    /// Target that gave it; none for an answer in the files.
    target: Option<&'a str>,
    text: &'a str,
}

/// Returns the hash of the texts that are shown for a benchmark on a case.
fn shown_hash(
    scorecard: &Scorecard,
    at: usize,
    case: &ScorecardCase,
    shown: ShownAnswer<'_>,
) -> Option<SeenHash> {
    Some(SeenHash::new(scorecard.label_subject(at, case)?, shown.target, shown.text))
}

/// Returns the importance of a benchmark for scores of the levels above.
fn review_weight(scorecard: &Scorecard, at: usize) -> ReviewWeight {
    let benchmark = &scorecard.benchmarks[at];
    let mut above = std::iter::successors(scorecard.rubrics.get(benchmark.parent), |rubric| {
        scorecard.rubrics.get(rubric.parent?)
    });
    match benchmark.criticality {
        Criticality::ImprovementSignal => ReviewWeight::Reported,
        Criticality::HardGate => ReviewWeight::Gate,
        Criticality::ThresholdGate if above.any(|rubric| rubric.hard_gate) => ReviewWeight::Gate,
        Criticality::ThresholdGate => ReviewWeight::Counted,
    }
}

fn judge_account(decision: &Decision) -> Option<JudgeAccount> {
    let benchmark = decision.benchmark()?;
    if benchmark.decided_by != Some(DecidedBy::Judge) {
        return None;
    }

    let outcome = match (benchmark.state, benchmark.raw_score, benchmark.pass) {
        (BenchmarkState::NotApplicable, ..) => Some(LabelOutcome::NotApplicable),
        (BenchmarkState::Uncertain, ..) => Some(LabelOutcome::Unsure),
        (_, Some(score), _) => Some(LabelOutcome::Score(score)),
        (_, None, Some(pass)) => Some(if pass { LabelOutcome::Met } else { LabelOutcome::Unmet }),
        (_, None, None) => None,
    };
    Some(JudgeAccount {
        outcome,
        reason: decision.reason.clone(),
        probability: None,
        confidence: decision.confidence.map(JudgeConfidence::name),
    })
}

fn build_item(
    scorecard: &Scorecard,
    at: usize,
    case: &ScorecardCase,
    shown: ShownAnswer<'_>,
    judge: Option<JudgeAccount>,
    why: ReviewReason,
) -> ReviewItem {
    let benchmark = &scorecard.benchmarks[at];
    let criterion = criterion_text(benchmark);
    let guidelines = collect_guidelines(scorecard, benchmark.parent);
    let prompt = benchmark.prompt.and_then(|at| scorecard.prompts.get(at)).map(|prompt| &*prompt.text);
    let (mut sections, about) = (Vec::new(), ReviewSectionKind::Question);
    add_section(&mut sections, about, &format!("Criterion {}", benchmark.code), criterion);
    add_section(&mut sections, about, "Guidelines", guidelines);
    add_material(&mut sections, case, shown);
    add_section(&mut sections, about, "Judge prompt", prompt.unwrap_or_default().to_owned());

    ReviewItem {
        case: case.id.to_string(),
        suite: None,
        system: None,
        trial: None,
        criterion: benchmark.code.to_string(),
        version: scorecard.question_version(at),
        seen: shown_hash(scorecard, at, case, shown),
        weight: review_weight(scorecard, at),
        is_stale: false,
        drawn: None,
        wanted: None,
        sections,
        question: ReviewQuestion::Verdict(
            benchmark.scale.as_ref().map(|scale| ScoreScale { min: scale.min, max: scale.max }),
        ),
        // People decide whether a benchmark applies to a case, even if the judge may not.
        may_not_apply: true,
        judge,
        why,
    }
}

/// Builds the item that asks for the first failure of a case; `None` if no benchmark applies to the case.
fn build_trace_item(
    scorecard: &Scorecard,
    case: &ScorecardCase,
    shown: ShownAnswer<'_>,
) -> Option<ReviewItem> {
    let choices: Vec<FailureChoice> = scorecard
        .benchmarks
        .iter()
        .enumerate()
        .filter(|(at, _)| scorecard.applies(*at, case) != BenchmarkApplicability::No)
        .map(|(at, benchmark)| {
            let about = [benchmark.concept.trim(), benchmark.inclusion.trim()];
            let (text, about) = match &benchmark.label {
                Some(label) => (label.clone(), &about[..]),
                None => (about[0].to_owned(), &about[1..]),
            };
            FailureChoice {
                seen: shown_hash(scorecard, at, case, shown),
                code: benchmark.code.to_string(),
                text,
                criterion: about.join("\n"),
            }
        })
        .collect();
    if choices.is_empty() {
        return None;
    }

    let words = |choice: &FailureChoice| [choice.code.clone(), choice.text.clone(), choice.criterion.clone()];
    let version = version(choices.iter().flat_map(words));
    let subject = SubjectHash::new(&version, &(&case.source_narrative, &case.ground_truth));
    let mut sections = Vec::new();
    add_material(&mut sections, case, shown);

    let failures = choices.iter().map(|choice| {
        let about = choice.criterion.replace('\n', "\n  ");
        format!("{}: {}\n  {about}", choice.code, choice.text)
    });
    let without = [
        format!("{NONE_OF_THE_ABOVE}: a failure without a code"),
        format!("{NO_FAILURE}: the case has no failure"),
    ];
    let failures: Vec<String> = failures.chain(without).collect();
    add_section(&mut sections, ReviewSectionKind::Question, "Possible failures", failures.join("\n"));

    Some(ReviewItem {
        case: case.id.to_string(),
        suite: None,
        system: None,
        trial: None,
        criterion: String::new(),
        seen: Some(SeenHash::new(subject, shown.target, shown.text)),
        weight: ReviewWeight::Counted,
        is_stale: false,
        drawn: None,
        wanted: None,
        version,
        sections,
        question: ReviewQuestion::Primary(choices),
        may_not_apply: true,
        judge: None,
        why: ReviewReason::Waiting,
    })
}

fn add_material(sections: &mut Vec<ReviewSection>, case: &ScorecardCase, shown: ShownAnswer<'_>) {
    let about = ReviewSectionKind::Material;
    add_section(sections, about, "Source", format_value(case.source_narrative.as_ref()));
    add_section(sections, about, "Ground truth", format_value(case.ground_truth.as_ref()));
    add_section(sections, about, "Candidate output", shown.text.to_owned());
}

/// Returns a text verbatim, and other values as JSON.
fn format_value(value: Option<&Value>) -> String {
    match value {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => format!("{other:#}"),
    }
}

/// Returns the text of a benchmark: its name, concept, inclusions, exclusions, scale and examples.
fn criterion_text(benchmark: &ScorecardBenchmark) -> String {
    let name = benchmark.label.as_deref().map(|label| format!("{label}\n")).unwrap_or_default();

    // Folded blocks in YAML end with a line break.
    let mut criterion = format!("{name}{}\n\n{}", benchmark.concept.trim(), benchmark.inclusion.trim());
    if let Some(exclusion) = &benchmark.exclusion {
        let _ = write!(criterion, "\n{}", exclusion.trim());
    }

    if let Some(scale) = &benchmark.scale {
        for (score, text) in &scale.descriptions {
            let _ = write!(criterion, "\n{score}: {text}");
        }
    }

    for example in &benchmark.examples {
        let _ = write!(criterion, "\nExample of the failure: {example}");
    }

    criterion
}

/// Returns the texts of a part of a scorecard: for a benchmark its criterion and prompt, and for any part the
/// guidelines from the top level down to it. Empty if there is no such part, or if it has no text.
pub fn part_sections(scorecard: &Scorecard, code: &str) -> Vec<ReviewSection> {
    let about = ReviewSectionKind::Question;
    let mut sections = Vec::new();
    if let Some(benchmark) = scorecard.benchmarks.iter().find(|benchmark| &*benchmark.code == code) {
        add_section(&mut sections, about, "Criterion", criterion_text(benchmark));
        add_section(&mut sections, about, "Guidelines", collect_guidelines(scorecard, benchmark.parent));
        let prompt = benchmark.prompt.and_then(|at| scorecard.prompts.get(at)).map(|prompt| &*prompt.text);
        add_section(&mut sections, about, "Judge prompt", prompt.unwrap_or_default().to_owned());
    } else if let Some(at) = scorecard.rubrics.iter().position(|rubric| &*rubric.code == code) {
        let description = scorecard.rubrics[at].description.clone().unwrap_or_default();
        add_section(&mut sections, about, "Description", description);
        add_section(&mut sections, about, "Guidelines", collect_guidelines(scorecard, at));
    }

    sections
}

/// Joins the guidelines of all enclosing rubrics, the top level first.
fn collect_guidelines(scorecard: &Scorecard, parent: usize) -> String {
    let above = std::iter::successors(Some(parent), |at| scorecard.rubrics.get(*at)?.parent);
    let mut blocks: Vec<String> = above
        .filter_map(|at| {
            let rubric = scorecard.rubrics.get(at)?;
            rubric.guidelines.as_ref().map(|found| format!("{}\n{}", rubric.code, guideline_lines(found)))
        })
        .collect();

    blocks.reverse();
    blocks.join("\n")
}

fn guideline_lines(found: &Guidelines) -> String {
    let lists = [
        ("Look at", &found.focus_areas),
        ("Acceptable deviations", &found.acceptable_deviations),
        ("Must hold", &found.critical_requirements),
    ];

    let single = [("Evidence", &found.evidence_requirements), ("Also", &found.special_instructions)];
    let mut lines = Vec::new();
    for (title, texts) in lists {
        if !texts.is_empty() {
            lines.push(format!("  {title}:"));
        }
        lines.extend(texts.iter().map(|text| format!("  - {}", text.trim())));
    }

    let single = single.into_iter().filter_map(|(title, text)| Some((title, text.as_ref()?)));
    lines.extend(single.map(|(title, text)| format!("  {title}: {}", text.trim())));

    lines.join("\n")
}
