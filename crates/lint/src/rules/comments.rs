//! L0001 and L0002: `allow:` comments that have no effect.

use super::prelude::*;

/// Code for a comment without a reason.
pub(crate) const ALLOW_WITHOUT_REASON: DiagnosticCode = DiagnosticCode::new("L0001");
/// Code for a comment that matches no finding.
pub(crate) const ALLOW_UNUSED: DiagnosticCode = DiagnosticCode::new("L0002");

pub(super) const WITHOUT_REASON: LintRule = LintRule {
    code: ALLOW_WITHOUT_REASON,
    name: "allow-without-reason",
    title: "An `allow:` comment gives no reason.",
    reason: "A comment without a reason has no effect, because the next reader can't tell whether it is still right.",
    source: "exceptions are kept with their reasons",
    bad: RuleExample::Criteria("# allow: L0111\n- Offers a refund and/or a voucher"),
    good: RuleExample::Criteria(
        "# allow: L0111 because support hands out both\n- Offers a refund and/or a voucher",
    ),
    check: RuleCheck::Comments,
};

pub(super) const UNUSED: LintRule = LintRule {
    code: ALLOW_UNUSED,
    name: "allow-unused",
    title: "An `allow:` comment matches no finding.",
    reason: "The finding is fixed, the code is misspelt, or the comment is on the wrong line. It could silence a later mistake.",
    source: "remove exceptions together with their cause",
    bad: RuleExample::Criteria(
        "# allow: L0111 because support hands out both\n- Offers a refund or a voucher",
    ),
    good: RuleExample::Criteria("- Offers a refund or a voucher"),
    check: RuleCheck::Comments,
};

#[cfg(test)]
mod tests {
    use crate::tests::found;

    fn codes(criteria: &str) -> Vec<String> {
        let file = format!(
            "tests:\n  - id: parcel-help\n    input: Help\n    assertions:\n      - type: rubrics\n        criteria:\n{criteria}"
        );
        found(&file).into_iter().map(|(code, _)| code).collect()
    }

    #[test]
    fn comments_speak_of_their_line_or_the_next() {
        let none: [&str; 0] = [];
        assert_eq!(codes("          - Offers a and/or b # allow: L0111 because both are fine\n"), none);
        assert_eq!(
            codes(
                "          # allow: L0111 because both are fine\n          # more words\n          - Offers a and/or b\n"
            ),
            none
        );
        let head = "          # allow: L0111 because both are fine\n          - id: x1\n            outcome: Offers a and/or b\n";
        assert_eq!(codes(head), none, "above the criterion");
        let far = "          # allow: L0111 because both are fine\n          - Names it\n          - Offers a and/or b\n";
        assert_eq!(codes(far), ["L0002", "L0111"]);
    }

    #[test]
    fn several_codes_share_a_reason_and_each_must_be_used() {
        let both =
            "          - Offers a and/or b, etc. # allow: L0111, L0108 because that is how it is said\n";
        assert_eq!(codes(both), Vec::<String>::new());
        assert_eq!(codes(&both.replace("L0108", "L0999")), ["L0108", "L0002"]);
    }

    #[test]
    fn a_text_with_a_hash_is_no_comment() {
        assert_eq!(codes("          - Offers a#allow and/or b\n"), ["L0111"]);
        assert_eq!(codes("          - Offers a and/or b # allow: L0111\n"), ["L0111", "L0001"]);
    }
}
