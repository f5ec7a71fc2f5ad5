//! L0402: a single criterion with a whole paragraph of demands.

use super::prelude::*;

pub(super) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0402"),
    name: "paragraph-criterion",
    title: "One criterion contains a paragraph of demands.",
    reason: "All of it is decided with one yes or no: no partial credit, no way to see what was missing, and judges disagree most where a text demands most. A case without graders gets its expected outcome as the only criterion. Three to seven criteria, each one statement, do better.",
    source: cited::CHECK_EVAL,
    bad: RuleExample::Case(
        "  - id: late-parcel\n    input: Where is my parcel?\n    criteria: >-\n      The assistant names the strike at the carrier as the cause. It gives Thursday as the new date. It does not\n      blame the customer or the warehouse. It offers to send a voucher if the parcel comes even later than that. It\n      closes by asking whether anything else is wanted.",
    ),
    good: RuleExample::Case(
        "  - id: late-parcel\n    input: Where is my parcel?\n    criteria: Explains the delay honestly\n    assertions:\n      - Names the strike at the carrier as the cause\n      - Gives Thursday as the new date\n      - Does not blame the customer",
    ),
    check: RuleCheck::Rubric(check),
};

const MIN_WORDS: usize = 40;
const MIN_SENTENCES: usize = 3;

fn check(view: &RubricView<'_>, out: &mut FindingCollector<'_>) {
    for criterion in view.criteria() {
        if criterion.bands().is_some() || criterion.length() < MIN_WORDS {
            continue;
        }

        let demands = count_demands(criterion.text());
        if demands < MIN_SENTENCES {
            continue;
        }

        let Some(span) = out.span(criterion.text_mark()) else { continue };
        let title = format!("one criterion holds {demands} statements");
        Diagnostic::warning(RULE.code, title)
            .at(span.start_point(), "decided as a whole")
            .with_help(
                "write a criterion for each statement under `assertions` (`rubrics` in the \
                 `evalcases` format)",
            )
            .add_to(out);
    }
}

/// Abbreviations whose full stop does not end a sentence.
const ABBREVIATIONS: &[&str] = &[" e.g. ", " i.e. ", " al. ", " vs. ", " Fig. ", " approx. ", " no. "];

/// Counts sentences and list items.
fn count_demands(text: &str) -> usize {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_item = |line: &str| {
        line.starts_with(['-', '*', '•'])
            || line.split_once(['.', ')']).is_some_and(|(n, _)| n.parse::<u32>().is_ok())
    };
    let items = lines.clone().filter(|line| is_item(line)).count();
    let prose: Vec<&str> = lines.filter(|line| !is_item(line)).collect();
    let prose = prose.join(" ");
    let prose = ABBREVIATIONS.iter().fold(prose, |prose, short| prose.replace(short, " "));
    let ends = |part: &str| part.replace("; ", ". ").replace("! ", ". ");
    let sentences = ends(&prose).split(". ").filter(|part| part.split_whitespace().count() > 3).count();

    items + sentences
}

#[cfg(test)]
mod tests {
    use super::count_demands;
    use crate::tests::in_cases;

    #[test]
    fn statements_are_counted() {
        assert_eq!(count_demands("Names the cause of it. Gives the new date now."), 2);
        assert_eq!(count_demands("It must do this:\n- a\n- b\n1. c\n"), 4);
        assert_eq!(
            count_demands("Has a number of versions, e.g. version 1.2.3 and all of the later ones"),
            1
        );
    }

    #[test]
    fn long_single_statements_and_short_paragraphs_are_fine() {
        assert_eq!(in_cases("L0402", super::RULE.bad.text()).len(), 1);
        let long = "word ".repeat(60);
        assert!(in_cases("L0402", &format!("- {{id: one-long, input: a, criteria: {long}}}\n")).is_empty());
        assert!(
            in_cases(
                "L0402",
                "- {id: short-ones, input: a, criteria: Names the cause. Gives the date. Offers help.}\n"
            )
            .is_empty()
        );
    }
}
