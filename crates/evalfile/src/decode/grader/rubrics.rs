//! Decoder of the rubrics grader and its short forms.

use std::num::NonZeroUsize;
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, Span};
use assize_document::{MapReader, NodeValue, TreeNode, codes, wrong_type};
use assize_model::{
    CriterionMarks, EvalFileFormat, FilePosition, Grader, GraderKind, GraderPrompt, PanelSpec, RubricGrader,
};
use assize_rubric::{
    Criterion, EvidencePolicy, GraderWeighting, JudgingMode, Rubric, TruncationMode, Weight,
};

use super::panel::{PanelUse, decode_panel};
use super::prompt::decode_prompt;
use super::shared::{decode_choice, missing_key, older_spelling, unused_key};
use crate::decode::DecodeContext;
use crate::decode::rubric::{DecodedRubric, rubric_from_items, rubric_from_list};

const NAME: &str = "rubrics";

/// Decodes the keys of `type: rubrics`.
pub(super) fn decode_rubrics(cx: &mut DecodeContext, object: &mut MapReader<'_>) -> Option<GraderKind> {
    let keys: [&'static str; 2] = cx.format.choose(["rubrics", "criteria"], ["criteria", "rubrics"]);
    let entry = object.first_of(&keys, &mut cx.problems);
    let decoded = match entry {
        None => {
            let example = format!("{}: [Mentions the deadline]", keys[0]);
            cx.problems.reject(missing_key(object.head(), "a rubrics grader", keys[0], &example))
        }
        Some(entry) => {
            if cx.format == EvalFileFormat::Two && entry.key == "rubrics" {
                cx.problems.add(older_spelling(entry.key_span, "rubrics", "criteria"));
            }
            rubric_from_list(cx, &entry.value, &entry.key)
        }
    };

    let judging = decode_judging(cx, object);
    let evidence = decode_evidence(cx, object);
    let truncate = decode_truncate(cx, object);
    let judge = decode_judge(cx, object);
    let panel = decode_panel(cx, object, PanelUse::Rubrics { judge: judge.as_deref(), judging });
    let instructions = decode_instructions(cx, object);
    for (key, help) in [
        (
            "temperature",
            "criteria are judged at temperature 0; for repeats that differ, write `panel: {repeats: N, temperature: T}`",
        ),
        ("max_steps", "a criterion is judged in one step; remove the key"),
    ] {
        if let Some(entry) = object.foreign(key) {
            unused_key(entry.key_span, format!("a rubrics grader does not use `{key}`"), help)
                .add_to(&mut cx.problems);
        }
    }

    let DecodedRubric { rubric, places, marks } = decoded?;
    Some(GraderKind::Rubric(RubricGrader {
        rubric,
        places,
        marks,
        instructions,
        judging,
        evidence,
        truncate,
        judge,
        panel,
    }))
}

/// Decodes `prompt`: the author's instructions for judging the criteria. Warns about names without a value.
fn decode_instructions(cx: &mut DecodeContext, object: &mut MapReader<'_>) -> Option<Arc<str>> {
    let entry = object.entry("prompt").filter(|entry| !entry.value.is_null())?;
    if entry.value.as_map().is_some() {
        return unused_key(
            entry.key_span,
            "a program can't write the prompt of a rubrics grader".to_owned(),
            "write a text or `file://PATH`, or use `type: llm-grader` without criteria",
        )
        .reject_in(&mut cx.problems);
    }

    let (GraderPrompt::Text { text, .. }, _) = decode_prompt(cx, entry)? else { return None };
    let names = text.split("{{").skip(1).filter_map(|rest| Some(rest.split_once("}}")?.0.trim()));
    for name in names.filter(|name| !JUDGE_VARIABLES.contains(name)) {
        Diagnostic::warning(codes::NO_EFFECT, format!("`{{{{ {name} }}}}` stays as it is in this prompt"))
            .at(entry.value.use_span(), "no text of the case has this name")
            .with_help(format!("beside criteria, a prompt can show {}", JUDGE_VARIABLES.join(", ")))
            .add_to(&mut cx.problems);
    }
    Some(text.into())
}

/// Names of texts in a prompt beside criteria.
const JUDGE_VARIABLES: [&str; 12] = [
    "input", "question", "output", "candidate_answer", "expected_output", "reference_answer", "criteria",
    "expected_outcome", "file_changes", "tool_calls", "rubrics", "rubrics_json",
];

/// Decodes `judge` or `target`, the name of the judge.
pub(super) fn decode_judge(cx: &mut DecodeContext, object: &mut MapReader<'_>) -> Option<String> {
    let entry = object.first_of(&["judge", "target"], &mut cx.problems)?;
    let key = if entry.key == "judge" { "judge" } else { "target" };
    object.text(key, &mut cx.problems).map(|name| name.value)
}

/// Decodes `judging` in any of its forms, or `batched: N` alone. Returns `None` if both are absent.
pub(crate) fn decode_judging(cx: &mut DecodeContext, object: &mut MapReader<'_>) -> Option<JudgingMode> {
    let judging = object.entry("judging").filter(|entry| !entry.value.is_null());
    let batched = object.entry("batched").filter(|entry| !entry.value.is_null());
    if let (Some(first), Some(second)) = (judging, batched) {
        return Diagnostic::error(codes::TWO_SPELLINGS, "`judging` and `batched` say the same thing")
            .at(second.key_span, "this one is extra")
            .with_secondary(first.key_span, "already given here")
            .with_help("keep `judging`")
            .reject_in(&mut cx.problems);
    }

    if let Some(entry) = batched {
        return decode_batch_size(cx, &entry.value);
    }

    let node = &judging?.value;
    if node.as_map().is_some() {
        let mut inner = MapReader::new(node, "`judging`", &mut cx.problems)?;
        let size = inner.value("batched");
        if size.is_none() {
            cx.problems.add(missing_key(inner.span(), "`judging`", "batched", "judging: {batched: 10}"));
        }

        inner.finish(&mut cx.problems);
        return decode_batch_size(cx, size?);
    }

    match decode_choice(node, "judging", &["per-criterion", "batched"], &mut cx.problems)? {
        "batched" => Some(JudgingMode::Batched(None)),
        _ => Some(JudgingMode::PerCriterion),
    }
}

/// Decodes the size of a batch: an integer from 1, or `true` for all criteria at once.
fn decode_batch_size(cx: &mut DecodeContext, node: &TreeNode) -> Option<JudgingMode> {
    match node.data {
        NodeValue::Bool(true) => return Some(JudgingMode::Batched(None)),
        NodeValue::Bool(false) => return Some(JudgingMode::PerCriterion),
        NodeValue::Int(value) => {
            if let Some(size) = usize::try_from(value).ok().and_then(NonZeroUsize::new) {
                return Some(JudgingMode::Batched(Some(size)));
            }
            Diagnostic::error(codes::OUT_OF_RANGE, "`batched` is out of range")
                .at(node.use_span(), format!("found {value}"))
                .with_help("use a whole number, 1 or more: how many criteria go into one call")
                .add_to(&mut cx.problems);
        }
        _ => wrong_type(node, "`batched`", "a whole number")
            .with_help("say how many criteria go into one call, for example `batched: 10`")
            .add_to(&mut cx.problems),
    }
    None
}

/// Decodes `evidence`, the policy for quotes that are not found in the answer. Returns `None` if absent.
pub(crate) fn decode_evidence(cx: &mut DecodeContext, object: &mut MapReader<'_>) -> Option<EvidencePolicy> {
    let node = object.value("evidence")?;
    decode_choice(node, "evidence", &EvidencePolicy::NAMES, &mut cx.problems)
        .and_then(EvidencePolicy::from_name)
}

/// Decodes `truncate`, the policy for material that exceeds the judge's limit. Returns `None` if absent.
pub(crate) fn decode_truncate(cx: &mut DecodeContext, object: &mut MapReader<'_>) -> Option<TruncationMode> {
    let node = object.value("truncate")?;
    decode_choice(node, "truncate", &TruncationMode::NAMES, &mut cx.problems)
        .and_then(TruncationMode::from_name)
}

/// Returns the plain strings of an assertion list as one grader. Its weight is their number, so that each
/// string counts like a grader of weight 1.
pub(super) fn grader_from_texts(cx: &mut DecodeContext, texts: &[&TreeNode]) -> Option<Grader> {
    let place = texts.first()?.use_span();
    let decoded = rubric_from_items(cx, texts, place)?;
    let weight = Weight::new(texts.len() as f64).unwrap_or(Weight::ONE);
    Some(grader_from_rubric(cx.position(place), decoded, weight))
}

/// Decodes the `rubrics` list of a case.
pub(crate) fn decode_inline_rubrics(cx: &mut DecodeContext, node: &TreeNode) -> Option<Grader> {
    if cx.format == EvalFileFormat::Two {
        Diagnostic::warning(codes::OLDER_SPELLING, "`rubrics` on a case is an older spelling")
            .at(node.use_span(), "now in `assertions`")
            .with_help("write `assertions` with `type: rubrics` and this list under `criteria`")
            .add_to(&mut cx.problems);
    }

    let decoded = rubric_from_list(cx, node, "rubrics")?;
    Some(grader_from_rubric(cx.position(node.use_span()), decoded, Weight::ONE))
}

/// Returns the grader for a case without graders: a rubric with the expected outcome as its only criterion. The
/// only criterion decides the case anyway, so it has no gate.
pub(crate) fn grader_from_outcome(cx: &mut DecodeContext, text: &str, span: Span) -> Grader {
    let place = cx.position(span);
    let rubric = Rubric::new(vec![Criterion::checklist("rubric-1", text)]).unwrap_or_else(|_| {
        Diagnostic::error(codes::EMPTY_TEXT, "the expected outcome is empty")
            .at(span, "nothing here")
            .with_help("say what a good answer does")
            .add_to(&mut cx.problems);
        Rubric::new(vec![Criterion::checklist("rubric-1", "(empty)")])
            .expect("one criterion with a text and weight 1 is a rubric")
    });

    let mark = Some(cx.mark(span));
    let marks = vec![CriterionMarks { head: mark.clone(), text: mark, ..CriterionMarks::default() }];
    let decoded = DecodedRubric { rubric: Arc::new(rubric), places: vec![place.clone()], marks };
    grader_from_rubric(place, decoded, Weight::ONE)
}

fn grader_from_rubric(place: FilePosition, decoded: DecodedRubric, weight: Weight) -> Grader {
    let DecodedRubric { rubric, places, marks } = decoded;
    Grader {
        name: NAME.to_owned(),
        type_name: NAME.to_owned(),
        weighting: GraderWeighting { weight, ..GraderWeighting::default() },
        place,
        kind: GraderKind::Rubric(RubricGrader {
            instructions: None,
            rubric,
            places,
            marks,
            judging: None,
            evidence: None,
            truncate: None,
            judge: None,
            panel: PanelSpec::default(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::snippets::{codes, graders, one, read};

    fn rubric(text: &str) -> RubricGrader {
        let GraderKind::Rubric(rubric) = &one(text).kind else { panic!("a rubric") };
        rubric.clone()
    }

    #[test]
    fn the_settings_are_read() {
        let plain = rubric("- type: rubrics\n  criteria: [a, b]\n");
        assert_eq!((plain.judging, plain.evidence, plain.judge), (None, None, None));
        let five = NonZeroUsize::new(5);
        for (setting, expected) in [
            ("judging: batched", JudgingMode::Batched(None)),
            ("judging: per_criterion", JudgingMode::PerCriterion),
            ("judging: {batched: 5}", JudgingMode::Batched(five)),
            ("batched: 5", JudgingMode::Batched(five)),
        ] {
            let grader = rubric(&format!(
                "- type: rubrics\n  criteria: [a]\n  {setting}\n  evidence: required\n  target: big\n"
            ));
            assert_eq!(grader.judging, Some(expected), "{setting}");
            assert_eq!(grader.evidence, Some(EvidencePolicy::Required));
            assert_eq!(grader.judge.as_deref(), Some("big"));
        }
    }

    #[test]
    fn settings_that_can_not_be_are_refused() {
        for (setting, code) in [
            ("judging: together", "E0307"),
            ("judging: {batched: 0}", "E0106"),
            ("judging: {}", "E0304"),
            ("batched: many", "E0105"),
            ("judging: batched\n  batched: 2", "E0104"),
            ("evidence: require", "E0307"),
            ("prompt: {command: x}", "E0306"),
            ("prompt: 'see {{ metadata }}'", "W0403"),
            ("temperature: 1", "E0306"),
            ("judge: a\n  target: b", "E0104"),
            ("criterias: [b]", "E0103"),
        ] {
            let text = format!("- type: rubrics\n  criteria: [a]\n  {setting}\n");
            assert_eq!(codes(&text), [code], "{text}");
        }
        assert_eq!(codes("- type: rubrics\n"), ["E0304"]);
    }

    #[test]
    fn older_spellings_are_read() {
        let (list, problems) = graders("- {name: j, type: llm_judge, rubrics: [a]}\n", EvalFileFormat::One);
        assert!(problems.is_empty() && list[0].type_name == "rubrics");
        assert_eq!(codes("- {type: llm-grader, rubrics: [a]}\n"), ["W0301", "W0301"]);
        assert_eq!(codes("- {type: rubric, criteria: [a]}\n"), ["W0301"]);
    }

    #[test]
    fn inline_rubrics_follow_the_format() {
        let (mut cx, node) = read("- expected_outcome: a\n- b\n");
        let grader = {
            cx.format = EvalFileFormat::One;
            decode_inline_rubrics(&mut cx, &node)
        }
        .expect("sound");
        assert_eq!(grader.weighting.weight, Weight::ONE);
        assert_eq!(cx.problems.into_vec(), vec![]);
        let (mut cx, node) = read("- b\n");
        assert!(decode_inline_rubrics(&mut cx, &node).is_some());
        assert_eq!(cx.problems.into_vec()[0].code, codes::OLDER_SPELLING);
    }

    #[test]
    fn an_expected_outcome_becomes_one_criterion_without_a_gate() {
        let (mut cx, node) = read("Explains quicksort\n");
        let grader = grader_from_outcome(&mut cx, "Explains quicksort", node.use_span());
        let GraderKind::Rubric(rubric) = &grader.kind else { panic!("a rubric") };
        assert_eq!(rubric.rubric.criteria()[0].id.as_str(), "rubric-1");
        assert_eq!(rubric.rubric.criteria()[0].gate, None);
        assert_eq!(rubric.places.len(), 1);
        grader_from_outcome(&mut cx, " ", node.use_span());
        assert_eq!(cx.problems.error_count(), 1);
    }
}
