//! Review items of a scorecard: benchmarks on cases, or cases whose first failure is to be named.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use assize_evalfile::{BenchmarkApplicability, EvaluatorType, Guidelines, Scorecard, ScorecardCase};
use assize_review::{
    FailureChoice, JudgeAccount, ReviewItem, ReviewQuestion, ReviewReason, ReviewSection, ReviewSectionKind,
    ScoreScale,
};
use assize_rubric::{BenchmarkState, DecidedBy, Decision, JudgeConfidence, LabelOutcome};
use assize_store::{CaseRecord, RunFolder, RunInfo};
use serde_json::Value;

use super::review_material::{ReviewMaterial, version};
use crate::args::ReviewArgs;
use crate::command::scorecard::sound;
use crate::context::CliContext;

/// Items of a scorecard that was not run: the manual benchmarks, or all with an order that includes them.
pub(super) fn load_from_folder(
    path: &Path,
    args: &ReviewArgs,
    context: &CliContext,
) -> Result<ReviewMaterial, String> {
    let scorecard = sound(path, &args.root, context)?.scorecard;
    let mut items = Vec::new();
    for case in &scorecard.cases {
        if args.traces {
            items.extend(build_trace_item(&scorecard, case, None));
            continue;
        }
        for (at, benchmark) in scorecard.benchmarks.iter().enumerate() {
            let manual = benchmark.evaluator == EvaluatorType::ManualSme;
            if (manual || args.order.covers_all())
                && scorecard.applies(at, case) != BenchmarkApplicability::No
            {
                let why = if manual { ReviewReason::Waiting } else { ReviewReason::Check };
                items.push(build_item(&scorecard, at, case, None, None, why));
            }
        }
    }

    Ok(ReviewMaterial { items, labels: labels_folder(path) })
}

/// Items of a run that wait for a person, or with an order that includes them all that a judge or a person
/// decides.
pub(super) fn load_from_run(
    folder: &RunFolder,
    info: &RunInfo,
    args: &ReviewArgs,
    context: &CliContext,
) -> Result<ReviewMaterial, String> {
    let path = info.suites.first().map(|suite| PathBuf::from(&suite.path)).unwrap_or_default();
    if !path.exists() {
        return Err(format!(
            "the scorecard `{}` of the run is not there; go to the folder the run was started in",
            path.display()
        ));
    }

    let scorecard = sound(&path, &args.root, context)?.scorecard;
    let cases: HashMap<&str, (usize, &ScorecardCase)> =
        scorecard.cases.iter().enumerate().map(|(at, case)| (&*case.id, (at, case))).collect();
    let benchmarks: HashMap<&str, usize> =
        scorecard.benchmarks.iter().enumerate().map(|(at, found)| (&*found.code, at)).collect();

    // Rows are stored in the order of completion; people review them in the order of the files.
    let mut placed: Vec<((usize, usize), ReviewItem)> = Vec::new();
    for record in folder.cases().map_err(|error| error.to_string())? {
        let record: CaseRecord = record.map_err(|error| error.to_string())?;
        // A case that is no longer in the files can't be shown.
        let Some(&(place, case)) = cases.get(&*record.result.case_id) else { continue };
        let answer = record.result.answer.as_deref();
        if args.traces {
            placed.extend(build_trace_item(&scorecard, case, answer).map(|item| ((place, 0), item)));
            continue;
        }

        for row in &record.decisions {
            let Some(&at) = benchmarks.get(&*row.grader).filter(|_| row.member.is_empty() && !row.is_vote())
            else {
                continue;
            };
            let Some(why) = review_reason(&row.decision, args.order.covers_all()) else { continue };
            placed.push((
                (place, at),
                build_item(&scorecard, at, case, answer, judge_account(&row.decision), why),
            ));
        }
    }

    placed.sort_by_key(|(place, _)| *place);
    let items = placed.into_iter().map(|(_, item)| item).collect();
    Ok(ReviewMaterial { items, labels: labels_folder(&path) })
}

fn labels_folder(path: &Path) -> Option<PathBuf> {
    path.is_dir().then(|| path.join("labels"))
}

fn review_reason(decision: &Decision, all: bool) -> Option<ReviewReason> {
    let benchmark = decision.benchmark()?;
    match benchmark.state {
        BenchmarkState::Waiting => Some(ReviewReason::Waiting),
        BenchmarkState::ReviewersDiffer => Some(ReviewReason::ReviewersDiffer),
        BenchmarkState::Uncertain => Some(ReviewReason::Uncertain),
        BenchmarkState::JudgesDiffer => Some(ReviewReason::JudgesDiffer),
        BenchmarkState::Missing => all.then_some(ReviewReason::Undecided),
        BenchmarkState::Scored | BenchmarkState::NotApplicable => {
            let by_checks = benchmark.decided_by == Some(DecidedBy::Checks);
            (all && !by_checks).then_some(ReviewReason::Check)
        }
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
        confidence: decision.confidence.map(confidence_name),
    })
}

pub(super) const fn confidence_name(confidence: JudgeConfidence) -> &'static str {
    match confidence {
        JudgeConfidence::Low => "low",
        JudgeConfidence::Medium => "medium",
        JudgeConfidence::High => "high",
    }
}

fn build_item(
    scorecard: &Scorecard,
    at: usize,
    case: &ScorecardCase,
    answer: Option<&str>,
    judge: Option<JudgeAccount>,
    why: ReviewReason,
) -> ReviewItem {
    let benchmark = &scorecard.benchmarks[at];
    let name = benchmark.label.as_deref().map(|label| format!("{label}\n")).unwrap_or_default();

    // Folded blocks of YAML end in a line break.
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

    let guidelines = collect_guidelines(scorecard, benchmark.parent);
    let prompt = benchmark.prompt.and_then(|at| scorecard.prompts.get(at)).map(|prompt| &*prompt.text);
    let version = version([criterion.as_str(), &guidelines, prompt.unwrap_or_default()]);
    let mut sections = Vec::new();
    add_section(
        &mut sections,
        ReviewSectionKind::Question,
        &format!("Criterion {}", benchmark.code),
        criterion,
    );

    add_section(&mut sections, ReviewSectionKind::Question, "Guidelines", guidelines);
    add_material(&mut sections, case, answer);
    add_section(
        &mut sections,
        ReviewSectionKind::Question,
        "What a judge is asked",
        prompt.unwrap_or_default().to_owned(),
    );

    ReviewItem {
        case: case.id.to_string(),
        suite: None,
        system: None,
        repeat: None,
        criterion: benchmark.code.to_string(),
        version,
        sections,
        question: ReviewQuestion::Verdict(
            benchmark.scale.as_ref().map(|scale| ScoreScale { min: scale.min, max: scale.max }),
        ),
        judge,
        why,
    }
}

/// Item for naming the first failure of a case; `None` if no benchmark applies to it.
fn build_trace_item(scorecard: &Scorecard, case: &ScorecardCase, answer: Option<&str>) -> Option<ReviewItem> {
    let choices: Vec<FailureChoice> = scorecard
        .benchmarks
        .iter()
        .enumerate()
        .filter(|(at, _)| scorecard.applies(*at, case) != BenchmarkApplicability::No)
        .map(|(_, benchmark)| FailureChoice {
            code: benchmark.code.to_string(),
            text: benchmark.label.clone().unwrap_or_else(|| benchmark.concept.clone()),
        })
        .collect();
    if choices.is_empty() {
        return None;
    }

    let version = version(choices.iter().flat_map(|choice| [choice.code.as_str(), choice.text.as_str()]));
    let mut sections = Vec::new();
    add_material(&mut sections, case, answer);

    let failures: Vec<String> =
        choices.iter().map(|choice| format!("{}: {}", choice.code, choice.text)).collect();
    add_section(&mut sections, ReviewSectionKind::Question, "Failures it may show", failures.join("\n"));

    Some(ReviewItem {
        case: case.id.to_string(),
        suite: None,
        system: None,
        repeat: None,
        criterion: String::new(),
        version,
        sections,
        question: ReviewQuestion::Primary(choices),
        judge: None,
        why: ReviewReason::Waiting,
    })
}

fn add_material(sections: &mut Vec<ReviewSection>, case: &ScorecardCase, answer: Option<&str>) {
    add_section(
        sections,
        ReviewSectionKind::Material,
        "Source",
        format_value(case.source_narrative.as_ref()),
    );

    add_section(
        sections,
        ReviewSectionKind::Material,
        "Ground truth",
        format_value(case.ground_truth.as_ref()),
    );
    let given = format_value(case.candidate_output.as_ref());
    let candidate = if given.is_empty() { answer.unwrap_or_default().to_owned() } else { given };
    add_section(sections, ReviewSectionKind::Material, "Candidate output", candidate);
}

pub(super) fn add_section(
    sections: &mut Vec<ReviewSection>,
    about: ReviewSectionKind,
    title: &str,
    text: String,
) {
    if !text.trim().is_empty() {
        sections.push(ReviewSection { about, title: title.to_owned(), text });
    }
}

/// A text verbatim, other values as JSON.
fn format_value(value: Option<&Value>) -> String {
    match value {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => format!("{other:#}"),
    }
}

/// The guidelines of all enclosing rubrics, topmost first.
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
        ("Not to be held against it", &found.acceptable_deviations),
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
