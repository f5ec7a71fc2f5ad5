//! Requests as they are sent, word for word. A change here changes the prompts of judges: it needs a new prompt version
//! and new golden files.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use crate::tests::common::*;
use crate::{
    BEHAVIOUR_PROMPT_VERSION, BehaviourTask, Judge as _, JudgeMaterial, JudgeQuestion, PROMPT_VERSION,
    SamplingOptions, prompt_hash,
};
use assize_llm::ChatRequest;
use assize_model::{Applicability, Behaviour, Guidelines, ScoringScale};
use assize_rubric::{
    Criterion, CriterionOperator, EvidencePolicy, JudgingMode, NormalisationFormula, UnitInterval,
};

fn request(criteria: Vec<Criterion>, judging: JudgingMode, evidence: EvidencePolicy) -> ChatRequest {
    let model = Scripted::always(Ok(reply("unusable")));
    let mut task = task(criteria);
    task.judging = judging;
    task.evidence = evidence;
    task.material = Arc::new(JudgeMaterial {
        question: "What jumps over the dog?".into(),
        expected_outcome: Some("Names the fox.".into()),
        reference: Some("The fox does.".into()),
        answer: "The quick brown fox.\n\nIt jumps.".into(),
        file_changes: Some("--- a\n+++ b\n+fox".into()),
        tool_calls: Some("look(animal=fox) -> brown".into()),
    });
    run(&judge(&model), &task);
    model.requests().swap_remove(0)
}

fn shown(request: &ChatRequest) -> String {
    let mut out = String::new();
    for message in &*request.messages {
        let parts: Vec<String> = message
            .content
            .iter()
            .map(|part| match part {
                assize_llm::Part::Text(text) => text.to_string(),
                assize_llm::Part::Image { .. } => "(picture)".into(),
            })
            .collect();
        writeln!(out, "===== {:?}\n{}", message.role, parts.join("===== next part\n")).unwrap();
    }
    let format = request.schema.as_ref().unwrap();
    let schema = serde_json::to_string_pretty(&format.schema).unwrap();
    writeln!(out, "===== schema {} strict {}\n{schema}", format.name, format.strict).unwrap();
    out
}

fn golden(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    if expected != actual {
        let new = std::env::temp_dir().join(name);
        std::fs::write(&new, actual).unwrap();
        panic!("{} differs; what is sent now is in {}", path.display(), new.display());
    }
}

#[test]
fn checklist_single() {
    let mut criterion = checklist("a", "Names the fox");
    criterion.may_not_apply = true;
    golden(
        "checklist.txt",
        &shown(&request(vec![criterion], JudgingMode::PerCriterion, EvidencePolicy::Required)),
    );
}

#[test]
fn contradiction_single() {
    let mut criterion = checklist("a", "Foxes jump");
    criterion.operator = CriterionOperator::Contradiction;
    golden(
        "contradiction.txt",
        &shown(&request(vec![criterion], JudgingMode::PerCriterion, EvidencePolicy::Checked)),
    );
}

#[test]
fn score_single() {
    let criterion = bands("a", "How well the jump is described");
    golden(
        "score.txt",
        &shown(&request(vec![criterion], JudgingMode::PerCriterion, EvidencePolicy::Checked)),
    );
}

#[test]
fn batched_mixed() {
    let mut contradiction = checklist("b", "Foxes jump");
    contradiction.operator = CriterionOperator::Contradiction;
    let mut optional = bands("d", "");
    optional.may_not_apply = true;
    let criteria = vec![checklist("a", "Names the fox"), contradiction, bands("c", "How well"), optional];
    golden("batched.txt", &shown(&request(criteria, JudgingMode::Batched(None), EvidencePolicy::Required)));
}

#[test]
fn a_change_of_the_prompt_files_is_a_new_version() {
    assert_eq!((PROMPT_VERSION, prompt_hash()), ("rubric.v1", "955290c21eaef93c"));
}

/// The golden file is named after the version, so that a changed prompt needs another version.
#[test]
fn a_change_of_the_prompt_of_behaviours_is_a_new_version() {
    let behaviour = Behaviour {
        prompt: "Check {{CANDIDATE_OUTPUT}}.".into(),
        guidelines: vec![Arc::new(Guidelines {
            focus_areas: vec!["Doses".into()],
            acceptable_deviations: vec!["Brand names".into()],
            critical_requirements: vec!["A dose keeps its unit.".into()],
            evidence_requirements: Some("Quote the dose.".into()),
            evidence_is_advisory: false,
            special_instructions: Some("Read all of it.".into()),
        })],
        applicability: Some(Applicability {
            inclusion: "A drug was given.".into(),
            exclusion: Some("Called off.".into()),
        }),
        scale: Some(ScoringScale {
            min: 1.0,
            max: 5.0,
            descriptions: vec![(1.0, "poor".into()), (5.0, "good".into())],
            formula: NormalisationFormula::parse("(x-min)/(max-min)").expect("sound"),
        }),
        pass_conditions: Vec::new(),
        failure_limit: UnitInterval::ONE,
    };
    let task = BehaviourTask {
        behaviour: Arc::new(behaviour),
        ground_truth: Some("4 mg".into()),
        source_narrative: Some("Gave 4 mg.".into()),
        candidate_output: "4 mg given.".into(),
        trial: 1,
        sampling: SamplingOptions::default(),
    };
    let model = Scripted::always(Ok(reply("unusable")));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(judge(&model).decide(&[JudgeQuestion::Behaviour(task)]));
    golden(&format!("{BEHAVIOUR_PROMPT_VERSION}.txt"), &shown(&model.requests()[0]));
}
