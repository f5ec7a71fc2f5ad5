//! Decoder of `pairwise`: a judge that compares two answers.

use std::path::Path;
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, Span};
use assize_document::{MapReader, NodeValue, TreeNode, check_not_blank, codes, string, wrong_type};
use assize_model::{GraderKind, PairwiseBaseline, PairwiseGrader};
use assize_rubric::{Criterion, PairScores, UnitInterval};

use super::panel::{PanelUse, decode_panel};
use super::rubrics::decode_judge;
use super::shared::{missing_key, unused_key};
use crate::decode::DecodeContext;

/// Word that means the reference answer of a case.
const REFERENCE: &str = "reference";

/// Decodes the keys of `type: pairwise`.
pub(super) fn decode_pairwise(cx: &mut DecodeContext, object: &mut MapReader<'_>) -> Option<GraderKind> {
    let errors = cx.problems.error_count();
    let written = object.first_of(&["baseline", "against", "compare_to"], &mut cx.problems);
    let written = written.map(|entry| &entry.value).filter(|node| !node.is_null());
    let baseline = match written {
        None => Some(PairwiseBaseline::Reference),
        Some(node) => decode_baseline(cx, node),
    };
    let criteria = object.strings("criteria", &mut cx.problems);
    let criteria = criteria
        .into_iter()
        .filter_map(|text| check_not_blank(text, "criteria", &mut cx.problems))
        .map(|text| text.value);
    let criteria = Criterion::checklists(criteria);

    let judge = decode_judge(cx, object);
    let panel = decode_panel(cx, object, PanelUse::Llm { judge: judge.as_deref() });
    let usual = PairScores::default();
    let mut score = |key: &'static str, usual: UnitInterval| {
        object.unit(key, &mut cx.problems).map_or(usual, |found| found.value)
    };
    let scores = PairScores {
        tie: score("tie_score", usual.tie),
        inconsistent: score("inconsistent_score", usual.inconsistent),
    };

    for (key, help) in [
        (
            "prompt",
            "the built-in prompt shows the two answers to the judge; write under `criteria` what counts",
        ),
        ("temperature", "for repeats that differ, write `panel: {repeats: N, temperature: T}`"),
        ("max_steps", "two answers are compared in one step; remove the key"),
        ("order", "both orders are always judged; remove the key"),
    ] {
        if let Some(entry) = object.foreign(key) {
            unused_key(entry.key_span, format!("a pairwise grader does not use `{key}`"), help)
                .add_to(&mut cx.problems);
        }
    }

    let baseline = baseline?;
    (cx.problems.error_count() == errors).then_some(GraderKind::Pairwise(PairwiseGrader {
        baseline,
        criteria,
        judge,
        panel,
        scores,
    }))
}

/// Decodes `reference`, a text, `file://PATH`, or a map with an explicit kind. Returns `None` after adding a
/// diagnostic.
fn decode_baseline(cx: &mut DecodeContext, node: &TreeNode) -> Option<PairwiseBaseline> {
    match &node.data {
        NodeValue::Str(text) if text.trim().eq_ignore_ascii_case(REFERENCE) => {
            Some(PairwiseBaseline::Reference)
        }
        NodeValue::Str(text) if text.trim_start().starts_with("file://") => {
            file_baseline(cx, text, node.use_span())
        }
        NodeValue::Str(text) => {
            if let Some(what) = existing_path_kind(cx, text, node.use_span()) {
                let key = if what == "folder" { "run" } else { "file" };
                return Diagnostic::error(codes::WRONG_TYPE, format!("`baseline` is a {what}"))
                    .at(node.use_span(), "read as the text of the other answer")
                    .with_help(format!("write `baseline: {{{key}: {}}}`", text.trim()))
                    .reject_in(&mut cx.problems);
            }
            text_baseline(cx, node)
        }
        NodeValue::Map(_) => {
            let mut object = MapReader::new(node, "`baseline`", &mut cx.problems)?;
            let found = [object.entry("text"), object.entry("file"), object.entry("run")];
            let given: Vec<_> = found.into_iter().flatten().filter(|entry| !entry.value.is_null()).collect();
            if given.is_empty() {
                cx.problems.add(missing_key(object.head(), "`baseline`", "run", "baseline: {run: last}"));
            }

            object.finish(&mut cx.problems);

            match given.as_slice() {
                [] => None,
                [only] => {
                    let (place, key) = (only.value.use_span(), only.key.as_str());
                    if key == "text" {
                        return text_baseline(cx, &only.value);
                    }

                    let name = if key == "file" { "file" } else { "run" };
                    let text = string(&only.value, name, &mut cx.problems)?;
                    let text = check_not_blank(text, name, &mut cx.problems)?.value;
                    if key == "file" {
                        file_baseline(cx, &text, place)
                    } else {
                        run_baseline(cx, text, place)
                    }
                }
                [first, second, ..] => Diagnostic::error(
                    codes::TWO_SPELLINGS,
                    format!("`{}` and `{}` each name the other answer", first.key, second.key),
                )
                .at(second.key_span, "only one of them can count")
                .with_secondary(first.key_span, "already given here")
                .with_help("keep one of them")
                .reject_in(&mut cx.problems),
            }
        }
        _ => wrong_type(node, "`baseline`", "a text or a map")
            .with_help("write `reference`, the other answer, or `{run: RUN}`, `{file: PATH}`, `{text: TEXT}`")
            .reject_in(&mut cx.problems),
    }
}

fn text_baseline(cx: &mut DecodeContext, node: &TreeNode) -> Option<PairwiseBaseline> {
    let text = string(node, "baseline", &mut cx.problems)?;
    let text = check_not_blank(text, "baseline", &mut cx.problems)?;
    Some(PairwiseBaseline::Text(text.value.into()))
}

fn file_baseline(cx: &mut DecodeContext, written: &str, place: Span) -> Option<PairwiseBaseline> {
    let file = cx.read_text(written.trim(), place)?;
    if file.text.trim().is_empty() {
        return Diagnostic::error(codes::EMPTY_TEXT, "the file of the other answer is empty")
            .at(place, "nothing in it")
            .with_help("write the answer into the file, or name another")
            .reject_in(&mut cx.problems);
    }

    Some(PairwiseBaseline::Text(Arc::from(&*file.text)))
}

/// Decodes a reference to a run. An id is looked up among the stored runs; a folder is relative to the eval
/// file.
fn run_baseline(cx: &mut DecodeContext, written: String, place: Span) -> Option<PairwiseBaseline> {
    // Targets and prompts follow the name of the folder: `runs/base@TARGET@PROMPT`.
    let name = written.rfind(['/', '\\']).map_or(0, |at| at + 1);
    let folder = written[name..].find('@').map_or(written.as_str(), |at| &written[..name + at]);
    let folder = if written.contains(['/', '\\']) { Some(cx.find_file(folder, place)?) } else { None };
    Some(PairwiseBaseline::Run { written, folder, answer: None })
}

/// Returns whether a folder or a file exists at the path that a text looks like, for a message. Only folders that may
/// be read are searched.
fn existing_path_kind(cx: &DecodeContext, text: &str, span: Span) -> Option<&'static str> {
    let text = text.trim();
    let is_path = !text.is_empty() && text.len() < 300 && !text.contains(char::is_whitespace);
    let inside = Path::new(text)
        .components()
        .all(|part| matches!(part, std::path::Component::Normal(_) | std::path::Component::CurDir));
    if !is_path || !inside {
        return None;
    }

    let path = cx.folder_of(span.source).join(text);
    if path.is_dir() {
        Some("folder")
    } else if path.is_file() {
        Some("file")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use assize_model::EvalFileFormat;

    use super::*;
    use crate::tests::snippets::{codes, graders, one};

    fn read(text: &str) -> PairwiseGrader {
        let grader = one(text);
        let GraderKind::Pairwise(pairwise) = &grader.kind else { panic!("a comparison") };
        pairwise.clone()
    }

    #[test]
    fn all_settings_are_read_in_every_spelling() {
        let plain = read("- type: pairwise\n");
        assert_eq!((plain.baseline, plain.scores), (PairwiseBaseline::Reference, PairScores::default()));
        assert!(plain.criteria.is_empty() && plain.judge.is_none());
        let full = read(
            "- {type: pairwise, against: {text: old answer}, criteria: [Is brief, Is right], target: big, \
             tie_score: 0.4, inconsistent_score: 0, panel: {repeats: 2}}\n",
        );
        assert_eq!(full.baseline, PairwiseBaseline::Text("old answer".into()));
        assert_eq!((full.criteria.len(), full.judge.as_deref()), (2, Some("big")));
        assert_eq!((full.scores.tie.get(), full.scores.inconsistent.get()), (0.4, 0.0));
        assert_eq!(full.panel.repeats, Some(2));
        for (text, wanted) in [
            ("baseline: Reference", PairwiseBaseline::Reference),
            ("baseline: The old answer.", PairwiseBaseline::Text("The old answer.".into())),
            (
                "baseline: {run: last@gpt}",
                PairwiseBaseline::Run { written: "last@gpt".into(), folder: None, answer: None },
            ),
        ] {
            assert_eq!(read(&format!("- {{type: pairwise, {text}}}\n")).baseline, wanted);
        }
        let one = read("- {type: pairwise, criteria: Is brief}\n").criteria;
        assert_eq!(one, [Criterion::checklist("c1", "Is brief")]);
        assert!(graders("- {name: p, type: pairwise}\n", EvalFileFormat::One).1.is_empty());
    }

    #[test]
    fn wrong_settings_are_refused() {
        for (setting, code) in [
            ("baseline: ''", "E0107"),
            ("baseline: 5", "E0105"),
            ("baseline: [a]", "E0105"),
            ("baseline: {run: a, text: b}", "E0104"),
            ("baseline: {ruin: a}", "E0103"),
            ("baseline: {file: nowhere.txt}", "E0501"),
            ("baseline: {run: nowhere/at-all}", "E0501"),
            ("baseline: src", "E0105"),
            ("tie_score: 2", "E0106"),
            ("tie_score: half", "E0105"),
            ("prompt: x", "E0306"),
            ("order: both", "E0306"),
            ("baselin: x", "E0103"),
        ] {
            assert_eq!(codes(&format!("- {{type: pairwise, {setting}}}\n")), [code], "{setting}");
        }
        assert_eq!(codes("- type: side-by-side\n").len(), 1);
    }
}
