//! Treats the conditions of a judge prompt as criteria, so that the rules about wording apply to them.

use std::sync::Arc;

use assize_diagnostic::DiagnosticCode;
use assize_model::{CriterionMarks, FilePosition, JudgePrompt, PanelSpec, RubricGrader, SourceMark};
use assize_rubric::{Criterion, Rubric};

/// Prefix of the codes of rules about wording.
const WORDING_PREFIX: &str = "L01";
/// Code of the rule about repeated criteria.
const REPEATED_RULE: &str = "L0401";
/// Rules about statements of merit. A fail condition states a fault instead, and may join faults that fail an
/// answer only together.
const MERIT_RULES: [&str; 4] = ["L0102", "L0103", "L0110", "L0116"];

/// One of the lists of conditions in a prompt.
pub(crate) struct PromptConditions {
    pub(crate) grader: RubricGrader,
    /// True for fail conditions: any one of them is enough to fail.
    fails: bool,
}

impl PromptConditions {
    /// Returns true if a rule applies to these conditions.
    pub(crate) fn accepts_rule(&self, rule: DiagnosticCode) -> bool {
        let code = rule.as_str();
        (code.starts_with(WORDING_PREFIX) || code == REPEATED_RULE)
            && !(self.fails && MERIT_RULES.contains(&code))
    }
}

/// Returns the non-empty lists of conditions of a prompt.
pub(crate) fn condition_lists(prompt: &JudgePrompt) -> Vec<PromptConditions> {
    let lists = [
        (&prompt.fail_conditions, &prompt.fail_marks, true),
        (&prompt.pass_conditions, &prompt.pass_marks, false),
    ];
    lists
        .into_iter()
        .filter_map(|(texts, marks, fails)| {
            let criteria =
                texts.iter().enumerate().map(|(at, text)| Criterion::checklist(format!("c{at}"), text));
            let rubric = Rubric::new(criteria.collect()).ok()?;
            Some(PromptConditions { grader: condition_grader(rubric, marks), fails })
        })
        .collect()
}

fn condition_grader(rubric: Rubric, marks: &[SourceMark]) -> RubricGrader {
    let places: Vec<FilePosition> = marks.iter().map(|mark| mark.place.clone()).collect();
    let marks = marks.iter().map(|mark| CriterionMarks {
        head: Some(mark.clone()),
        text: Some(mark.clone()),
        ..CriterionMarks::default()
    });
    RubricGrader {
        rubric: Arc::new(rubric),
        places,
        marks: marks.collect(),
        instructions: None,
        judging: None,
        evidence: None,
        truncate: None,
        judge: None,
        panel: PanelSpec::default(),
    }
}
