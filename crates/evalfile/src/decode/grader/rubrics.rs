//! Decoder of the rubrics grader and its short forms.

use std::num::NonZeroUsize;
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, Span};
use assize_rubric::{Criterion, EvidencePolicy, GraderStanding, Judging, Rubric, Truncate, Weight};

use super::panel::{Use, panel};
use super::words::{choice, missing, older, unused};
use crate::codes;
use crate::decode::object::wrong_type;
use crate::decode::rubric::{DecodedRubric, from_items, from_list};
use crate::decode::{Context, Object};
use crate::model::{CriterionMarks, Format, Grader, GraderKind, PanelSpec, Place, RubricGrader};
use crate::tree::{Data, Node};

const NAME: &str = "rubrics";

/// Decodes the keys of `type: rubrics`.
pub(super) fn rubrics(cx: &mut Context, object: &mut Object<'_>, format: Format) -> Option<GraderKind> {
    let keys: [&'static str; 2] = match format {
        Format::One => ["rubrics", "criteria"],
        Format::Two => ["criteria", "rubrics"],
    };
    let entry = object.one_of(&keys, &mut cx.problems);
    let decoded = match entry {
        None => {
            let example = format!("{}: [Mentions the deadline]", keys[0]);
            cx.problems.add(missing(object.head(), "a rubrics grader", keys[0], &example));
            None
        }
        Some(entry) => {
            if format == Format::Two && entry.key == "rubrics" {
                cx.problems.add(older(entry.key_span, "rubrics", "criteria"));
            }
            from_list(cx, &entry.value, &entry.key, format)
        }
    };
    let judging = judging(cx, object);
    let evidence = evidence(cx, object);
    let truncate = truncate(cx, object);
    let judge = judge(cx, object);
    let panel = panel(cx, object, Use::Rubrics { judge: judge.as_deref(), judging });
    for (key, help) in [
        (
            "prompt",
            "criteria are put to the judge by the built-in prompt; to use a prompt of your own, write `type: llm-grader` without criteria",
        ),
        (
            "temperature",
            "criteria are judged at temperature 0; for repeats that differ, write `panel: {repeats: N, temperature: T}`",
        ),
        ("max_steps", "a criterion is judged in one step; remove the key"),
    ] {
        if let Some(entry) = object.foreign(key) {
            cx.problems.add(unused(entry.key_span, format!("a rubrics grader does not use `{key}`"), help));
        }
    }
    let DecodedRubric { rubric, places, marks } = decoded?;
    Some(GraderKind::Rubric(RubricGrader {
        rubric,
        places,
        marks,
        judging,
        evidence,
        truncate,
        judge,
        panel,
    }))
}

/// Decodes `judge` or `target`, the name of the judge.
pub(super) fn judge(cx: &mut Context, object: &mut Object<'_>) -> Option<String> {
    let entry = object.one_of(&["judge", "target"], &mut cx.problems)?;
    let key = if entry.key == "judge" { "judge" } else { "target" };
    object.text(key, &mut cx.problems).map(|name| name.value)
}

/// Decodes `judging` in its forms, or `batched: N` alone. Returns `None` if absent.
pub(crate) fn judging(cx: &mut Context, object: &mut Object<'_>) -> Option<Judging> {
    let judging = object.entry("judging").filter(|entry| !entry.value.is_null());
    let batched = object.entry("batched").filter(|entry| !entry.value.is_null());
    if let (Some(first), Some(second)) = (judging, batched) {
        cx.problems.add(
            Diagnostic::error(
                codes::TWO_SPELLINGS,
                "`judging` and `batched` say the same thing",
                second.key_span,
                "this one is extra",
            )
            .with_secondary(first.key_span, "already given here")
            .with_help("keep `judging`"),
        );
        return None;
    }
    if let Some(entry) = batched {
        return batch(cx, &entry.value);
    }
    let node = &judging?.value;
    if node.as_map().is_some() {
        let mut inner = Object::new(node, "`judging`", &mut cx.problems)?;
        let size = inner.value("batched");
        if size.is_none() {
            cx.problems.add(missing(inner.span(), "`judging`", "batched", "judging: {batched: 10}"));
        }
        inner.finish(&mut cx.problems);
        return batch(cx, size?);
    }
    match choice(node, "judging", &["per-criterion", "batched"], &mut cx.problems)? {
        "batched" => Some(Judging::Batched(None)),
        _ => Some(Judging::PerCriterion),
    }
}

/// Decodes the size of a batch: an integer from 1; `true` for all at once.
fn batch(cx: &mut Context, node: &Node) -> Option<Judging> {
    match node.data {
        Data::Bool(true) => return Some(Judging::Batched(None)),
        Data::Bool(false) => return Some(Judging::PerCriterion),
        Data::Int(value) => {
            if let Some(size) = usize::try_from(value).ok().and_then(NonZeroUsize::new) {
                return Some(Judging::Batched(Some(size)));
            }
            cx.problems.add(
                Diagnostic::error(
                    codes::OUT_OF_RANGE,
                    "`batched` is out of range",
                    node.place(),
                    format!("found {value}"),
                )
                .with_help("use a whole number, 1 or more: how many criteria go into one call"),
            );
        }
        _ => cx.problems.add(
            wrong_type(node, "`batched`", "a whole number")
                .with_help("say how many criteria go into one call, for example `batched: 10`"),
        ),
    }
    None
}

/// Decodes `evidence`, the policy for quotes that cannot be found. Returns `None` if absent.
pub(crate) fn evidence(cx: &mut Context, object: &mut Object<'_>) -> Option<EvidencePolicy> {
    let node = object.value("evidence")?;
    match choice(node, "evidence", &["checked", "required"], &mut cx.problems)? {
        "required" => Some(EvidencePolicy::Required),
        _ => Some(EvidencePolicy::Checked),
    }
}

/// Decodes `truncate`, the policy for material that exceeds the judge's limit. Returns `None` if absent.
pub(crate) fn truncate(cx: &mut Context, object: &mut Object<'_>) -> Option<Truncate> {
    let node = object.value("truncate")?;
    choice(node, "truncate", &Truncate::NAMES, &mut cx.problems).and_then(Truncate::from_name)
}

/// Returns the plain texts of an assertion list as one grader. Its weight is the number of texts, so that
/// each text counts like a grader of weight 1.
pub(super) fn shorthand(cx: &mut Context, texts: &[&Node], format: Format) -> Option<Grader> {
    let place = texts.first()?.place();
    let decoded = from_items(cx, texts, place, format)?;
    let weight = Weight::new(texts.len() as f64).unwrap_or(Weight::ONE);
    Some(plain(cx.place(place), decoded, weight))
}

/// Decodes the `rubrics` list of a case.
pub(crate) fn inline_rubrics(cx: &mut Context, node: &Node, format: Format) -> Option<Grader> {
    if format == Format::Two {
        cx.problems.add(
            Diagnostic::warning(
                codes::OLDER_SPELLING,
                "`rubrics` on a case is an older spelling",
                node.place(),
                "now in `assertions`",
            )
            .with_help("write `assertions` with `type: rubrics` and this list under `criteria`"),
        );
    }
    let decoded = from_list(cx, node, "rubrics", format)?;
    Some(plain(cx.place(node.place()), decoded, Weight::ONE))
}

/// Returns the rubric of a case without graders: its expected outcome as the only criterion. A single
/// criterion decides the case anyway, so it has no gate.
pub(crate) fn outcome_rubric(cx: &mut Context, text: &str, span: Span) -> Grader {
    let place = cx.place(span);
    let rubric = Rubric::new(vec![Criterion::checklist("rubric-1", text)]).unwrap_or_else(|_| {
        cx.problems.add(
            Diagnostic::error(codes::EMPTY_TEXT, "the expected outcome is empty", span, "nothing here")
                .with_help("say what a good answer does"),
        );
        Rubric::new(vec![Criterion::checklist("rubric-1", "(empty)")])
            .expect("one criterion with a text and weight 1 is a rubric")
    });
    let mark = Some(cx.mark(span));
    let marks = vec![CriterionMarks { head: mark.clone(), text: mark, ..CriterionMarks::default() }];
    let decoded = DecodedRubric { rubric: Arc::new(rubric), places: vec![place.clone()], marks };
    plain(place, decoded, Weight::ONE)
}

fn plain(place: Place, decoded: DecodedRubric, weight: Weight) -> Grader {
    let DecodedRubric { rubric, places, marks } = decoded;
    Grader {
        name: NAME.to_owned(),
        type_name: NAME.to_owned(),
        standing: GraderStanding { weight, ..GraderStanding::default() },
        place,
        kind: GraderKind::Rubric(RubricGrader {
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
    use crate::decode::grader::testing::{codes, graders, one, read};

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
            ("judging: batched", Judging::Batched(None)),
            ("judging: per_criterion", Judging::PerCriterion),
            ("judging: {batched: 5}", Judging::Batched(five)),
            ("batched: 5", Judging::Batched(five)),
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
            ("prompt: file://x.md", "E0306"),
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
        let (list, problems) = graders("- {name: j, type: llm_judge, rubrics: [a]}\n", Format::One);
        assert!(problems.is_empty() && list[0].type_name == "rubrics");
        assert_eq!(codes("- {type: llm-grader, rubrics: [a]}\n"), ["W0301", "W0301"]);
        assert_eq!(codes("- {type: rubric, criteria: [a]}\n"), ["W0301"]);
    }

    #[test]
    fn inline_rubrics_follow_the_format() {
        let (mut cx, node) = read("- expected_outcome: a\n- b\n");
        let grader = inline_rubrics(&mut cx, &node, Format::One).expect("sound");
        assert_eq!(grader.standing.weight, Weight::ONE);
        assert_eq!(cx.problems.into_vec(), vec![]);
        let (mut cx, node) = read("- b\n");
        assert!(inline_rubrics(&mut cx, &node, Format::Two).is_some());
        assert_eq!(cx.problems.into_vec()[0].code, codes::OLDER_SPELLING);
    }

    #[test]
    fn an_expected_outcome_becomes_one_criterion_without_a_gate() {
        let (mut cx, node) = read("Explains quicksort\n");
        let grader = outcome_rubric(&mut cx, "Explains quicksort", node.place());
        let GraderKind::Rubric(rubric) = &grader.kind else { panic!("a rubric") };
        assert_eq!(rubric.rubric.criteria()[0].id.as_str(), "rubric-1");
        assert_eq!(rubric.rubric.criteria()[0].gate, None);
        assert_eq!(rubric.places.len(), 1);
        outcome_rubric(&mut cx, " ", node.place());
        assert_eq!(cx.problems.errors(), 1);
    }
}
