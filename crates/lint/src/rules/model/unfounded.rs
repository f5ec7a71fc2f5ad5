//! L0605, asked of a model: a criterion does not follow from the question, the expected outcome or the
//! reference.

use crate::rules::prelude::*;

pub(in crate::rules) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0605"),
    name: "unfounded-criterion",
    title: "The criterion does not follow from the question, the expected outcome or the reference.",
    reason: "An answer that meets all expectations loses points for something the case does not ask for. Add it to the expected outcome, or remove the criterion.",
    source: "RubricBench: judges with criteria of their own making agree with people far less than with the criteria of experts (about 58% against 85%)",
    bad: RuleExample::Case(
        "  - id: late-parcel\n    criteria: Names the carrier\n    input: Who carries my parcel?\n    assertions:\n      - Names the carrier\n      - Recommends an insurance",
    ),
    good: RuleExample::Case(
        "  - id: late-parcel\n    criteria: Names the carrier\n    input: Who carries my parcel?\n    assertions:\n      - Names the carrier",
    ),
    check: RuleCheck::Model(RuleQuestion {
        scope: QuestionScope::Outcome,
        text: "Does this criterion demand something that neither the question nor the expected outcome nor the reference asks for or implies, so that an answer which does all they ask for can miss it? General demands of honesty, safety and harmlessness are never unfounded, nor is what must not be in an answer.",
        found: "nothing in the case asks for this",
        help: "add it to the expected outcome, or remove the criterion",
    }),
};
