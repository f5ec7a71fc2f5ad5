//! L0111: a criterion with "and/or".

use super::prelude::*;

pub(super) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0111"),
    name: "and-or",
    title: "The criterion says \"and/or\".",
    reason: "Judges read it as \"and\" or as \"or\", so they disagree on every answer that does only one of the two. \"Or\" alone lets both pass; two criteria ask for both.",
    source: cited::AUTO_RUBRIC,
    bad: RuleExample::Criteria("- Offers a refund and/or a voucher"),
    good: RuleExample::Criteria("- Offers a refund or a voucher"),
    check: RuleCheck::Criterion(check),
};

fn check(view: &CriterionView<'_>, out: &mut FindingCollector<'_>) {
    let lower = view.text().to_ascii_lowercase();
    let Some(at) = lower.find("and/or").or_else(|| lower.find("and / or")) else { return };
    let end = at + if lower[at..].starts_with("and/or") { "and/or".len() } else { "and / or".len() };
    if let Some(span) = out.part_span(view.text_mark(), view.text(), at..end) {
        Diagnostic::warning(RULE.code, "\"and/or\" can be read both ways")
            .at(span, "and, or or?")
            .with_help("write `or` if one is enough; make two criteria if both are wanted")
            .add_to(out);
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{finds, silent};

    #[test]
    fn only_the_pair_is_found() {
        finds("L0111", &["Names a and/or b", "Names a And / Or b"]);
        silent("L0111", &["Names a or b", "Names input/output and order"]);
    }
}
