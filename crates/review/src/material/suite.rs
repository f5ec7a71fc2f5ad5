//! Review items of a run of eval files: criteria of rubrics on answers.

use std::collections::HashMap;
use std::path::Path;

use assize_engine::ProcessContext;
use assize_load::load_suite;
use assize_rubric::{
    CaseDecision, CaseMessage, Criterion, CriterionScale, Decision, JudgeConfidence, LabelOutcome, Outcome,
    RawScore, ScoreBand, SeenHash,
};
use assize_store::{CaseRecord, QuestionRow, RunFolder, RunInfo, StoreError};

use super::{ReviewMaterial, add_section, version};
use crate::{
    JudgeAccount, ReviewItem, ReviewOptions, ReviewQuestion, ReviewReason, ReviewSectionKind, ReviewWeight,
    ScoreScale,
};

/// Questions and references, by suite and case.
type CaseTextMap = HashMap<(String, String), CaseTexts>;

/// Question and reference of a case.
#[derive(Default, Clone)]
struct CaseTexts {
    /// Index of the case across all files.
    place: usize,
    question: String,
    reference: String,
}

/// Returns the criteria of a run of eval files. The queue has those that the judge left ungraded or was
/// uncertain about.
///
/// # Errors
/// If the rows of the run can't be read.
pub fn suite_run_items(
    folder: &RunFolder,
    info: &RunInfo,
    options: &ReviewOptions,
    process: &ProcessContext,
) -> Result<ReviewMaterial, StoreError> {
    let stored = stored_questions(folder)?;
    let suites = info.suites.iter().map(|suite| (suite.name.as_str(), suite.path.as_str()));
    let texts = load_texts(suites, options, process);
    let mut placed = Vec::new();
    for record in folder.cases()? {
        let record: CaseRecord = record?;
        let result = &record.result;
        let key = (result.suite.to_string(), result.case_id.to_string());
        let unknown = || CaseTexts { place: usize::MAX, ..CaseTexts::default() };
        let CaseTexts { place, question, reference } = texts.get(&key).cloned().unwrap_or_else(unknown);
        let place = result.place.map_or(place, |place| usize::try_from(place).unwrap_or(usize::MAX));

        // The item has the question of the run, even if the file has changed since.
        let hash = result.case_hash.as_deref().unwrap_or_default();
        let (question, reference) = stored.get(hash).cloned().unwrap_or((question, reference));
        for item in criterion_items(info, &record, &question, &reference) {
            let is_listed = item.why != ReviewReason::Check || options.order.covers_all();
            let key = (place, result.case_id.clone(), result.target.clone(), result.trial);
            placed.push((is_listed, (key, item)));
        }
    }

    // Rows are in the order in which cases happened to finish; reviewers get the items in the order of the
    // files.
    placed.sort_by(|(_, a), (_, b)| a.0.cmp(&b.0));
    let (listed, others): (Vec<_>, Vec<_>) = placed.into_iter().partition(|(is_listed, _)| *is_listed);
    let items =
        |placed: Vec<(bool, (_, ReviewItem))>| placed.into_iter().map(|(_, (_, item))| item).collect();
    Ok(ReviewMaterial { items: items(listed), others: items(others), outdated: 0 })
}

/// Returns the criteria of one case of a run, whether or not a review would ask about them.
pub fn suite_case_items(info: &RunInfo, record: &CaseRecord, asked: Option<&QuestionRow>) -> Vec<ReviewItem> {
    let (question, reference) = asked.cloned().map(stored_texts).unwrap_or_default();
    criterion_items(info, record, &question, &reference)
}

fn criterion_items(info: &RunInfo, record: &CaseRecord, question: &str, reference: &str) -> Vec<ReviewItem> {
    let result = &record.result;
    let decided = record.decisions.iter().filter(|row| row.vote.is_none());
    let rubrics: Vec<(&CaseDecision, &Criterion)> =
        decided.filter_map(|row| Some((row, row.criterion()?))).collect();
    let item = |(row, criterion): &(&CaseDecision, &Criterion)| {
        let account = judge(&row.decision);
        let why = match account.outcome {
            None => ReviewReason::Undecided,
            Some(_) if row.decision.confidence == Some(JudgeConfidence::Low) => ReviewReason::Uncertain,
            Some(_) => ReviewReason::Check,
        };
        // The same id as in labels: with the name of the grader if several graders have this id.
        let id = row.shown_criterion();
        let shared =
            rubrics.iter().any(|(other, _)| other.grader != row.grader && other.shown_criterion() == id);
        let answer = result.answer.as_deref().unwrap_or_default();
        let mut sections = Vec::new();
        add_section(&mut sections, ReviewSectionKind::Question, "Criterion", criterion.text.clone());
        let ranges = score_ranges(&criterion.scale);
        add_section(&mut sections, ReviewSectionKind::Question, "Score ranges", ranges);
        for (title, text) in [("Question", question), ("Reference", reference), ("Answer", answer)] {
            add_section(&mut sections, ReviewSectionKind::Material, title, text.to_owned());
        }

        ReviewItem {
            case: result.case_id.to_string(),
            suite: (info.suites.len() > 1).then(|| result.suite.to_string()),
            system: result.target.as_deref().filter(|_| info.targets.len() > 1).map(str::to_owned),
            trial: (result.trial > 1).then_some(result.trial),
            criterion: if shared { format!("{}/{id}", row.grader) } else { id.to_string() },
            version: version([criterion.text.as_str()]),
            seen: Some(SeenHash::from_criterion(
                criterion,
                result.case_hash.as_deref(),
                result.target.as_deref(),
                answer,
            )),
            weight: ReviewWeight::Counted,
            is_stale: false,
            drawn: None,
            wanted: None,
            sections,
            question: ReviewQuestion::Verdict(
                (!matches!(criterion.scale, CriterionScale::Checklist))
                    .then_some(ScoreScale { min: 0.0, max: 10.0 }),
            ),
            may_not_apply: criterion.may_not_apply,
            judge: Some(account),
            why,
        }
    };

    rubrics.iter().map(item).collect()
}

/// The meaning of scores as the judge gets it, one range per line.
fn score_ranges(scale: &CriterionScale) -> String {
    let CriterionScale::Bands(bands) = scale else { return String::new() };
    let line = |band: &ScoreBand| match (band.low.get(), band.high.get()) {
        (low, high) if low == high => format!("{low}: {}", band.text),
        (low, high) => format!("{low} to {high}: {}", band.text),
    };
    bands.as_slice().iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Reads the questions and expected answers that the run stored, by their hash.
fn stored_questions(folder: &RunFolder) -> Result<HashMap<String, (String, String)>, StoreError> {
    let mut found = HashMap::new();
    for row in folder.questions()? {
        let row = row?;
        found.insert(row.case_hash.clone(), stored_texts(row));
    }

    Ok(found)
}

/// The question and the expected answers.
fn stored_texts(row: QuestionRow) -> (String, String) {
    let expected: Vec<String> = row.expected_outcome.into_iter().chain(row.reference).collect();
    (row.question.unwrap_or_default(), expected.join("\n"))
}

fn judge(decision: &Decision) -> JudgeAccount {
    let outcome = match decision.outcome() {
        Outcome::Met => Some(LabelOutcome::Met),
        Outcome::Unmet => Some(LabelOutcome::Unmet),
        Outcome::Scored(raw) => Some(LabelOutcome::Score(f64::from(RawScore::get(raw)))),
        Outcome::Averaged(points) => Some(LabelOutcome::Score(points.get())),
        Outcome::NotApplicable => Some(LabelOutcome::NotApplicable),
        Outcome::Ungraded => None,
    };
    JudgeAccount {
        outcome,
        reason: decision.reason.clone(),
        probability: decision
            .probability
            .filter(|found| matches!(decision.outcome(), Outcome::Met | Outcome::Unmet) && found.mass >= 0.5)
            .map(|found| found.expected),
        confidence: decision.confidence.map(JudgeConfidence::name),
    }
}

/// Reads the questions from the eval files that still exist: runs of earlier versions only store the answers.
fn load_texts<'s>(
    suites: impl Iterator<Item = (&'s str, &'s str)>,
    options: &ReviewOptions,
    process: &ProcessContext,
) -> CaseTextMap {
    let options = process.load_options(&options.roots);
    let mut found = CaseTextMap::new();
    let suites = suites.map(|(name, path)| (name, process.resolve(Path::new(path))));
    for (name, path) in suites.filter(|(_, path)| path.is_file()) {
        let loaded = load_suite(&path, &options);
        for case in loaded.cases.iter().map_while(Result::ok) {
            let texts = |messages: &[CaseMessage]| {
                messages.iter().map(CaseMessage::to_text).collect::<Vec<_>>().join("\n\n")
            };
            let mut reference = texts(&case.expected_output);
            if let Some(outcome) = &case.expected_outcome {
                reference = format!("{outcome}\n{reference}");
            }

            let texts = CaseTexts { place: found.len(), question: texts(&case.input), reference };
            found.insert((name.to_owned(), case.id.to_string()), texts);
        }
    }

    found
}
