//! Grader types of other tools, with their equivalents here.

use assize_diagnostic::{Diagnostic, Span};
use assize_document::codes;

use super::grader_type::find_built_in;
use super::shared::normalize_word;

/// Type names, each with advice. A name that ends with `*` matches everything that begins with the rest.
const FOREIGN_TYPES: [(&[&str], &str); 20] = [
    (&["llm-rubric", "agent-rubric"], "write `type: rubrics` with `criteria`, or plain strings in the list"),
    (
        &["g-eval", "pi"],
        "write `type: rubrics` and describe the scores of each criterion with `score_ranges`",
    ),
    (
        &["factuality", "model-graded-factuality"],
        "write `type: rubrics`; a criterion with `operator: contradiction` states a fact that must not be contradicted",
    ),
    (
        &["model-graded-closedqa", "conversation-relevance", "is-refusal", "guardrails", "search-rubric"],
        "write the requirement as a criterion: `type: rubrics` with `criteria`",
    ),
    (&["similar:*"], "use `type: similar` with `measure: cosine`, `dot` or `euclidean`"),
    (
        &["script", "inline-assert"],
        "use `type: code-grader` with `command: [PROGRAM, ARGUMENT]`, or `type: javascript`",
    ),
    (&["webhook"], "use `type: code-grader` with a command that makes the request"),
    (&["assert-set"], "use `type: composite` with `assertions`"),
    (&["agent-judge", "agent-grader"], "use `type: llm-grader` with `target:` naming the agent"),
    (&["icontains-only", "matches"], "use `type: regex`"),
    (
        &[
            "word-count", "levenshtein", "bleu", "gleu", "meteor", "rouge", "rouge-*", "perplexity",
            "perplexity-score", "is-xml", "contains-xml", "is-html", "contains-html", "finish-reason",
            "is-valid-*", "tool-call-f1", "trace-*",
        ],
        "compute it in a program: `type: code-grader` with `command: [PROGRAM]`",
    ),
    (
        &["side-by-side", "arena", "pairwise-comparison", "pairwise-grader", "preference"],
        "use `type: pairwise` with `baseline`; `assize compare pairwise RUN_A RUN_B` compares whole runs",
    ),
    (&["human"], "judge the criteria by hand after the run; write them as `type: rubrics`"),
    (
        &["trajectory:tool-used"],
        "use `type: tool-trajectory` with `mode: any_order` and `minimums: {TOOL: 1}`",
    ),
    (&["trajectory:tool-args-match"], "use `type: tool-trajectory` with `expected` calls that have `args`"),
    (&["trajectory:tool-sequence"], "use `type: tool-trajectory` with `mode: in_order` and `expected`"),
    (&["trajectory:step-count"], "use `type: execution-metrics` with `max_tool_calls`"),
    (&["trajectory:goal-success"], "use `type: rubrics` with the goal as a criterion"),
    (&["skill-used"], "use `type: skill-trigger` with `skill: NAME`"),
    (&["not-skill-used"], "use `type: skill-trigger` with `skill: NAME` and `should_trigger: false`"),
];

/// Returns the diagnostic for a type of another tool; `None` if the name is not such a type.
pub(super) fn refuse_foreign_type(name: &str, span: Span) -> Option<Diagnostic> {
    let folded = normalize_word(name);
    let diagnostic =
        Diagnostic::error(codes::GRADER_NOT_OFFERED, format!("there is no grader type `{name}` here"))
            .at(span, "not a built-in type")
            .with_note("no file of that name is in `.assize/graders/` or `.agentv/assertions/` either");
    if let Some(advice) = find_advice(&folded) {
        return Some(diagnostic.with_help(advice));
    }

    let inner = folded.strip_prefix("not")?.trim_start_matches('-');
    if let Some((kind, _)) = find_built_in(inner) {
        // Don't suggest an edit of the type alone: without `negate` it would invert the check.
        return Some(diagnostic.with_help(format!("write `type: {}` with `negate: true`", kind.name)));
    }

    find_advice(inner).map(|advice| diagnostic.with_help(advice).with_help("`negate: true` inverts a grader"))
}

fn find_advice(name: &str) -> Option<&'static str> {
    let fits = |pattern: &str| match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    };
    FOREIGN_TYPES
        .iter()
        .find(|(names, _)| names.iter().any(|pattern| fits(pattern)))
        .map(|(_, advice)| *advice)
}

#[cfg(test)]
mod tests {
    use assize_model::EvalFileFormat;

    use super::find_advice;
    use crate::decode::grader::grader_type::TYPES;
    use crate::tests::snippets::graders;

    #[test]
    fn there_is_no_advice_for_a_type_that_is_built_in() {
        let advised = TYPES.iter().map(|kind| kind.name).filter(|name| find_advice(name).is_some());

        assert_eq!(advised.collect::<Vec<_>>(), Vec::<&str>::new(), "remove them from FOREIGN_TYPES");
    }

    #[test]
    fn types_of_other_dialects_name_the_alternative() {
        for (name, word) in [
            ("llm-rubric", "rubrics"),
            ("inline-assert", "code-grader"),
            ("similar:dot", "measure"),
            ("rouge-n", "code-grader"),
            ("trajectory:tool-sequence", "in_order"),
            ("not-contains", "negate: true"),
            ("not-llm-rubric", "rubrics"),
            ("g_eval", "score_ranges"),
        ] {
            let (_, problems) = graders(&format!("- type: {name}\n"), EvalFileFormat::Two);
            assert_eq!(problems[0].code.as_str(), "E0302", "{name}");
            assert!(problems[0].help[0].contains(word), "{name}: {:?}", problems[0].help);
        }
    }
}
