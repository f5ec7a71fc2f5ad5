//! Decoder of a list of criteria as one rubric.

use std::sync::Arc;

use assize_diagnostic::{Diagnostic, Span};
use assize_document::{NodeValue, TreeNode, codes, wrong_type};
use assize_model::{CriterionMarks, FilePosition};
use assize_rubric::{Rubric, RubricError, find_repeated_ids};

use super::criterion::{DecodedCriterion, decode_criterion};
use crate::decode::DecodeContext;

/// A rubric with the positions of its criteria.
pub(crate) struct DecodedRubric {
    pub(crate) rubric: Arc<Rubric>,
    pub(crate) places: Vec<FilePosition>,
    pub(crate) marks: Vec<CriterionMarks>,
}

/// Decodes a list of criteria, or a single string as a list of one. `key` names the list in messages. Returns
/// `None` after adding a diagnostic.
pub(crate) fn rubric_from_list(cx: &mut DecodeContext, node: &TreeNode, key: &str) -> Option<DecodedRubric> {
    match &node.data {
        NodeValue::Seq(items) => {
            let items: Vec<&TreeNode> = items.iter().collect();
            rubric_from_items(cx, &items, node.use_span())
        }
        // The lines of `criteria: |` would be one criterion, which is met only if all lines are.
        NodeValue::Str(text) if text.lines().filter(|line| !line.trim().is_empty()).count() > 1 => {
            Diagnostic::error(codes::WRONG_TYPE, format!("`{key}` must be a list of criteria"))
                .at(node.use_span(), "found a text of several lines")
                .with_help("remove the `|` and begin each criterion with `- `")
                .with_help("for one criterion that is longer than a line, write `>` in place of `|`")
                .reject_in(&mut cx.problems)
        }
        NodeValue::Str(_) => rubric_from_items(cx, &[node], node.use_span()),
        _ => wrong_type(node, &format!("`{key}`"), "a list of criteria")
            .with_help("begin each criterion with `- `")
            .reject_in(&mut cx.problems),
    }
}

/// Decodes criteria that need not be adjacent. `whole` is the span for problems of the whole list.
pub(crate) fn rubric_from_items(
    cx: &mut DecodeContext,
    items: &[&TreeNode],
    whole: Span,
) -> Option<DecodedRubric> {
    if items.is_empty() {
        return Diagnostic::error(codes::EMPTY_RUBRIC, "this rubric has no criteria")
            .at(whole, "an empty list")
            .with_help("add at least one criterion: `- Mentions the deadline`")
            .reject_in(&mut cx.problems);
    }

    let errors = cx.problems.error_count();
    let items: Vec<DecodedCriterion> =
        items.iter().enumerate().filter_map(|(index, node)| decode_criterion(cx, node, index)).collect();
    report_duplicate_ids(cx, &items);
    warn_of_bare_ones(cx, &items);

    if cx.problems.error_count() > errors {
        return None;
    }

    let places = items.iter().map(|item| cx.position(item.place)).collect();
    let marks = items.iter().map(|item| item.spans.to_marks(cx)).collect();

    // Collecting in place would keep the allocation of `items`, which is several times larger.
    let mut criteria = Vec::with_capacity(items.len());
    criteria.extend(items.into_iter().filter_map(|item| item.criterion));

    match Rubric::new(criteria) {
        Ok(rubric) => Some(DecodedRubric { rubric: Arc::new(rubric), places, marks }),
        Err(found) => {
            cx.problems.extend(found.iter().map(|error| to_diagnostic(error, whole)));
            None
        }
    }
}

fn report_duplicate_ids(cx: &mut DecodeContext, items: &[DecodedCriterion]) {
    for (first, second) in find_repeated_ids(items.iter().map(|item| item.id.as_ref())) {
        let (first, item) = (&items[first], &items[second]);
        let Some(id) = &item.id else { continue };
        let label = |item: &DecodedCriterion, nth: &str| {
            if item.id_place == item.place {
                format!("{nth} (named by its position)")
            } else {
                nth.to_owned()
            }
        };
        Diagnostic::error(codes::DUPLICATE_CRITERION, format!("two criteria are called `{id}`"))
            .at(item.id_place, label(item, "second time"))
            .with_secondary(first.id_place, label(first, "first time"))
            .with_help("give each criterion an id of its own")
            .add_to(&mut cx.problems);
    }
}

/// Warns about `min_score: 1`, which means full marks, if other criteria use the scale from 0 to 10.
fn warn_of_bare_ones(cx: &mut DecodeContext, items: &[DecodedCriterion]) {
    if !items.iter().any(|item| item.raw_scale) {
        return;
    }
    for place in items.iter().filter_map(|item| item.bare_one) {
        Diagnostic::warning(codes::MIN_SCORE_OF_ONE, "`min_score: 1` demands full marks")
            .at(place, "on the scale from 0 to 1")
            .with_help("for 1 of 10 write `required_min_score: 1`; for full marks write `min_score: 1.0`")
            .add_to(&mut cx.problems);
    }
}

fn to_diagnostic(error: &RubricError, whole: Span) -> Diagnostic {
    match error {
        RubricError::NoWeight => Diagnostic::error(codes::NO_USABLE_WEIGHT, "all weights are zero")
            .at(whole, "no weight counts")
            .with_help("give at least one criterion a weight other than 0"),
        RubricError::Empty => {
            Diagnostic::error(codes::EMPTY_RUBRIC, "this rubric has no criteria").at(whole, "an empty list")
        }
        // Duplicates have been reported at their own spans before.
        RubricError::DuplicateId { .. } => {
            Diagnostic::error(codes::DUPLICATE_CRITERION, error.to_string()).at(whole, "")
        }
        RubricError::NoText(_) => Diagnostic::error(codes::MISSING_TEXT, error.to_string()).at(whole, ""),
    }
}

#[cfg(test)]
mod tests {
    use assize_rubric::{Criterion, CriterionOperator, CriterionScale, Gate, RawScore, UnitInterval};

    use assize_model::EvalFileFormat;

    use super::*;
    use crate::tests::snippets::{complaints, read};

    fn decode(text: &str, format: EvalFileFormat) -> (Option<DecodedRubric>, Vec<(String, usize)>) {
        let (mut cx, node) = read(text);
        cx.format = format;
        let rubric = rubric_from_list(&mut cx, &node, "criteria");
        (rubric, complaints(cx))
    }

    fn sound(text: &str, format: EvalFileFormat) -> Vec<Criterion> {
        let (rubric, problems) = decode(text, format);
        assert_eq!(problems, vec![]);
        rubric.expect("sound").rubric.criteria().to_vec()
    }

    const BANDS: &str = "  score_ranges: {0: bad, 5: good}\n";

    #[test]
    fn strings_are_required_in_both_formats_and_objects_only_in_format_one() {
        for (format, key, gate) in [
            (EvalFileFormat::One, "expected_outcome", Some(Gate::Met)),
            (EvalFileFormat::Two, "outcome", None),
        ] {
            let criteria = sound(&format!("- Does a\n- {key}: does b\n  weight: 2.5\n"), format);
            assert_eq!(criteria[0].gate, Some(Gate::Met));
            assert_eq!(criteria[0].id.as_str(), "rubric-1");
            assert_eq!(criteria[1].gate, gate);
            assert_eq!(criteria[1].id.as_str(), "rubric-2");
            assert_eq!(criteria[1].weight.get(), 2.5);
        }
    }

    #[test]
    fn marks_cover_what_was_written() {
        let text = "- plain é\n- {id: b, outcome: \"two\", weight: 2, required: false}\n- id: c\n  min_score: 0.5\n  score_ranges:\n  - {score_range: [5, 10], outcome: high}\n  - {score_range: [0, 4], outcome: low}\n";
        let (mut cx, node) = read(text);
        let marks = rubric_from_list(&mut cx, &node, "criteria").expect("sound").marks;
        let slice =
            |mark: &Option<assize_model::SourceMark>| mark.as_ref().map(|mark| &text[mark.start..mark.end]);
        assert_eq!(slice(&marks[0].text), Some("plain é"));
        assert_eq!((slice(&marks[1].id), slice(&marks[1].text)), (Some("b"), Some("\"two\"")));
        assert_eq!(slice(&marks[1].weight), Some("weight: 2"));
        assert_eq!(slice(&marks[1].required), Some("required: false"));
        assert_eq!((slice(&marks[2].minimum), slice(&marks[2].text)), (Some("min_score: 0.5"), None));
        let bands: Vec<&str> = marks[2].bands.iter().map(|mark| &text[mark.start..mark.end]).collect();
        assert_eq!(bands, ["low", "high"], "in the order of the bands");
        assert!(marks.iter().all(|marks| marks.head.as_ref().is_some_and(|mark| mark.first_line == 1)));
    }

    #[test]
    fn each_criterion_keeps_its_own_mode() {
        let criteria = sound(
            &format!(
                "- id: a\n  expected_outcome: yes or no\n  operator: contradiction\n  allow_not_applicable: true\n- id: b\n  required_min_score: 7\n{BANDS}- id: c\n{BANDS}- id: d\n  min_score: 0.7\n{BANDS}- id: e\n  required_min_score: 7\n  x-note: 1\n{BANDS}"
            ),
            EvalFileFormat::One,
        );
        assert_eq!((&criteria[0].scale, criteria[0].gate), (&CriterionScale::Checklist, Some(Gate::Met)));
        assert_eq!(
            (criteria[0].operator, criteria[0].may_not_apply),
            (CriterionOperator::Contradiction, true)
        );
        assert_eq!(criteria[1].gate, Some(Gate::MinRaw(RawScore::new(7).expect("in range"))));
        assert_eq!(criteria[2].gate, None);
        assert_eq!(criteria[3].gate, Some(Gate::MinValue(UnitInterval::new(0.7).expect("in range"))));
    }

    #[test]
    fn gates_can_be_turned_off_and_asked_for() {
        let (rubric, problems) = decode(
            &format!("- required: false\n  min_score: 0.7\n{BANDS}- required: true\n{BANDS}"),
            EvalFileFormat::Two,
        );
        let rubric = rubric.expect("sound").rubric;
        assert_eq!(rubric.criteria()[0].gate, None);
        assert_eq!(rubric.criteria()[1].gate, Some(Gate::PassLine));
        assert_eq!(problems, vec![("W0206".into(), 2), ("W0203".into(), 4)]);
        let (rubric, problems) = decode("- {outcome: a, min_score: 0.5}\n", EvalFileFormat::Two);
        assert_eq!(problems, vec![("W0204".into(), 1)]);
        let gate = rubric.expect("sound").rubric.criteria()[0].gate;
        assert_eq!(gate, Some(Gate::MinValue(UnitInterval::new(0.5).expect("in range"))));
    }

    #[test]
    fn penalties_are_named_and_gate_nothing_by_default() {
        let (rubric, problems) =
            decode("- expected_outcome: is rude\n  weight: -2\n- expected_outcome: b\n", EvalFileFormat::One);
        assert_eq!(rubric.expect("sound").rubric.criteria()[0].gate, None);
        assert_eq!(problems, vec![("W0201".into(), 2)]);
        let (_, problems) = decode("- {outcome: rude, weight: -2, required: true}\n", EvalFileFormat::Two);
        assert_eq!(problems, vec![("W0201".into(), 1), ("W0207".into(), 1)]);
    }

    #[test]
    fn the_two_scales_are_told_apart() {
        let (_, problems) = decode(&format!("- min_score: 7\n{BANDS}"), EvalFileFormat::Two);
        assert_eq!(problems, vec![("E0205".into(), 1)]);
        let (_, problems) = decode(&format!("- required_min_score: 0.7\n{BANDS}"), EvalFileFormat::One);
        assert_eq!(problems, vec![("E0205".into(), 1)]);
        let (_, problems) = decode(&format!("- required_min_score: 7\n{BANDS}"), EvalFileFormat::Two);
        assert_eq!(problems, vec![("W0202".into(), 1)]);
        let (_, problems) =
            decode(&format!("- min_score: 1\n{BANDS}- min_score: 1.0\n{BANDS}"), EvalFileFormat::Two);
        assert_eq!(problems, vec![("W0205".into(), 1)]);
        let (_, problems) =
            decode(&format!("- required_min_score: 7\n  min_score: 0.7\n{BANDS}"), EvalFileFormat::One);
        assert_eq!(problems, vec![("E0206".into(), 2)]);
        let (_, problems) = decode("- {expected_outcome: a, required_min_score: 7}\n", EvalFileFormat::One);
        assert_eq!(problems, vec![("E0207".into(), 1)]);
    }

    #[test]
    fn the_suggestion_for_seven_depends_on_the_mode() {
        for (text, expected) in [
            (format!("- min_score: 7\n{BANDS}"), "required_min_score: 7"),
            ("- {outcome: a, min_score: 7}\n".to_owned(), "required: true"),
        ] {
            let (mut cx, node) = read(&text);
            assert!(rubric_from_list(&mut cx, &node, "criteria").is_none());
            let problems = cx.problems.into_vec();
            assert_eq!(problems[0].suggestion.as_ref().map(|s| s.replacement.as_str()), Some(expected));
        }
    }

    #[test]
    fn texts_are_read_in_the_other_spelling_with_a_warning() {
        let (rubric, problems) = decode("- outcome: a\n- description: b\n", EvalFileFormat::One);
        assert_eq!(rubric.expect("sound").rubric.criteria()[0].text, "a");
        assert_eq!(problems, vec![("W0202".into(), 1)]);
        let (_, problems) = decode("- expected_outcome: a\n- description: b\n", EvalFileFormat::Two);
        assert_eq!(problems, vec![("W0202".into(), 1), ("W0202".into(), 2)]);
    }

    #[test]
    fn every_problem_is_listed_at_once() {
        let (rubric, problems) = decode(
            "- ''\n- 7\n- id: a\n  outcome: x\n- id: a\n  outcome: y\n- id: b\n- outcome: z\n  wieght: 2\n- Returns: a value\n- weight: .nan\n  outcome: n\n- weight: '2'\n  outcome: m\n- outcome:\n- outcome: x\n  id: a\n  operator: contradicts\n",
            EvalFileFormat::Two,
        );
        assert!(rubric.is_none());
        let expected = [
            ("E0107", 1),
            ("E0105", 2),
            ("E0203", 5),
            ("E0201", 7),
            ("E0103", 9),
            ("E0213", 10),
            ("E0106", 11),
            ("E0105", 13),
            ("E0107", 15),
            ("E0203", 17),
            ("E0307", 18),
        ];
        assert_eq!(problems, expected.map(|(code, line)| (code.to_owned(), line)));
    }

    #[test]
    fn a_name_by_position_can_be_taken() {
        let (_, problems) = decode("- {id: rubric-2, outcome: a}\n- b\n", EvalFileFormat::Two);
        assert_eq!(problems, vec![("E0203".into(), 2)]);
    }

    #[test]
    fn rubrics_without_anything_to_score_are_refused() {
        assert_eq!(decode("[]", EvalFileFormat::Two).1, vec![("E0202".into(), 1)]);
        assert_eq!(decode("{a: 1}", EvalFileFormat::Two).1, vec![("E0105".into(), 1)]);
        let (_, problems) =
            decode("- {outcome: a, weight: 0}\n- {outcome: b, weight: 0}\n", EvalFileFormat::Two);
        assert_eq!(problems, vec![("E0204".into(), 1)]);
        let criteria = sound("- {outcome: a, weight: 0, required: true}\n- b\n", EvalFileFormat::Two);
        assert_eq!(criteria[0].gate, Some(Gate::Met));
    }

    #[test]
    fn operators_need_a_checklist_and_long_texts_are_kept() {
        let (_, problems) = decode(&format!("- operator: contradiction\n{BANDS}"), EvalFileFormat::Two);
        assert_eq!(problems, vec![("E0212".into(), 1)]);
        let (rubric, problems) = decode(&format!("- {}\n", "word ".repeat(20_000)), EvalFileFormat::Two);
        assert_eq!(rubric.expect("sound").rubric.criteria()[0].text.len(), 99_999);
        assert_eq!(problems, vec![("W0208".into(), 1)]);
    }
}
