//! The items of a run of eval files: criteria of rubrics on answers.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use assize_evalfile::{Message, load_suite};
use assize_review::{About, Item, JudgeSaid, Question, ScoreScale, Why};
use assize_rubric::{Confidence, LabelOutcome, Outcome, RawScore, Scale};
use assize_store::{CaseRecord, JudgementRow, RunFolder};

use super::card::{add, confidence};
use super::{Material, version};
use crate::args::ReviewArgs;
use crate::context::Context;

/// What was asked and what is right, by suite and case.
type Asked = HashMap<(String, String), Texts>;

/// What was asked in a case, and what is right.
#[derive(Default, Clone)]
struct Texts {
    /// The number of the case over all files.
    place: usize,
    question: String,
    reference: String,
}

/// The criteria of a run: in the queue those the judge could not decide or was not sure about.
pub(super) fn of_run(folder: &RunFolder, args: &ReviewArgs, context: &Context) -> Result<Material, String> {
    let info = folder.info().map_err(|error| error.to_string())?;
    let asked =
        asked(info.suites.iter().map(|suite| (suite.name.as_str(), suite.path.as_str())), args, context);
    let several_suites = info.suites.len() > 1;
    let several_targets = info.targets.len() > 1;
    let mut placed = Vec::new();
    for record in folder.cases().map_err(|error| error.to_string())? {
        let record: CaseRecord = record.map_err(|error| error.to_string())?;
        let rubrics: Vec<&JudgementRow> = record
            .judgements
            .iter()
            .filter(|row| row.grader_result.is_none() && row.vote.is_none())
            .collect();
        for row in &rubrics {
            let said = judge(row);
            let sure = said.outcome.is_some() && row.confidence != Some(Confidence::Low);
            if sure && !args.order.takes_all() {
                continue;
            }
            let why = match (said.outcome.is_some(), sure) {
                (false, _) => Why::Undecided,
                (true, false) => Why::Uncertain,
                (true, true) => Why::Check,
            };
            // As labels name it: with the grader's name where several graders have the id.
            let id = row.shown_id(row.criterion.id.clone());
            let shared = rubrics
                .iter()
                .any(|other| other.grader != row.grader && other.shown_id(other.criterion.id.clone()) == id);
            let mut sections = Vec::new();
            add(&mut sections, About::Question, "Criterion", row.criterion.text.clone());
            let key = (row.suite.to_string(), row.case_id.to_string());
            let unknown = || Texts { place: usize::MAX, ..Texts::default() };
            let Texts { place, question, reference } = asked.get(&key).cloned().unwrap_or_else(unknown);
            add(&mut sections, About::Material, "Question", question);
            add(&mut sections, About::Material, "Reference", reference);
            add(&mut sections, About::Material, "Answer", record.result.answer.clone().unwrap_or_default());
            let item = Item {
                case: row.case_id.to_string(),
                suite: several_suites.then(|| row.suite.to_string()),
                system: row.target.as_deref().filter(|_| several_targets).map(str::to_owned),
                repeat: (row.repeat > 1).then_some(row.repeat),
                criterion: if shared { format!("{}/{id}", row.grader) } else { id.to_string() },
                version: version([row.criterion.text.as_str()]),
                sections,
                question: Question::Verdict(
                    (!matches!(row.criterion.scale, Scale::Checklist))
                        .then_some(ScoreScale { min: 0.0, max: 10.0 }),
                ),
                judge: Some(said),
                why,
            };
            placed.push(((place, row.case_id.clone(), row.target.clone(), row.repeat), item));
        }
    }
    // Rows stand in the order in which cases happened to finish; people get them in that of the files.
    placed.sort_by(|a, b| a.0.cmp(&b.0));
    let items = placed.into_iter().map(|(_, item)| item).collect();
    let beside = info.suites.first().map(|suite| Path::new(&suite.path).with_file_name("labels"));
    Ok(Material { items, labels: Some(beside.unwrap_or_else(|| PathBuf::from("labels"))) })
}

fn judge(row: &JudgementRow) -> JudgeSaid {
    let outcome = match row.decided() {
        Outcome::Met => Some(LabelOutcome::Met),
        Outcome::Unmet => Some(LabelOutcome::Unmet),
        Outcome::Scored(raw) => Some(LabelOutcome::Score(f64::from(RawScore::get(raw)))),
        Outcome::Averaged(points) => Some(LabelOutcome::Score(points.get())),
        Outcome::NotApplicable => Some(LabelOutcome::NotApplicable),
        Outcome::Ungraded => None,
    };
    JudgeSaid { outcome, reason: row.reason.clone(), confidence: row.confidence.map(confidence) }
}

/// Reads the questions again, as far as the files are still there: a run keeps the answers only.
fn asked<'s>(
    suites: impl Iterator<Item = (&'s str, &'s str)>,
    args: &ReviewArgs,
    context: &Context,
) -> Asked {
    let options = context.process.load_options(&args.root);
    let mut found = Asked::new();
    for (name, path) in suites.filter(|(_, path)| Path::new(path).is_file()) {
        let loaded = load_suite(Path::new(path), &options);
        for case in loaded.cases.iter().map_while(Result::ok) {
            let texts =
                |messages: &[Message]| messages.iter().map(Message::to_text).collect::<Vec<_>>().join("\n\n");
            let mut reference = texts(&case.expected_output);
            if let Some(outcome) = &case.expected_outcome {
                reference = format!("{outcome}\n{reference}");
            }
            let texts = Texts { place: found.len(), question: texts(&case.input), reference };
            found.insert((name.to_owned(), case.id.to_string()), texts);
        }
    }
    found
}
