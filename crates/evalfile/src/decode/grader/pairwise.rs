//! Decoder of `pairwise`: a judge that compares two answers.

use std::path::Path;
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, Span};
use assize_rubric::{PairScores, Unit};

use super::panel::{Use, panel};
use super::rubrics::judge;
use super::words::{missing, unused};
use crate::codes;
use crate::decode::object::{not_blank, string, wrong_type};
use crate::decode::{Context, Object};
use crate::model::{Baseline, GraderKind, PairwiseGrader};
use crate::tree::{Data, Node};

/// Keyword for the reference answer of a case.
const REFERENCE: &str = "reference";

/// Decodes the keys of `type: pairwise`.
pub(super) fn pairwise(cx: &mut Context, object: &mut Object<'_>) -> Option<GraderKind> {
    let errors = cx.problems.errors();
    let written = object.one_of(&["baseline", "against", "compare_to"], &mut cx.problems);
    let written = written.map(|entry| &entry.value).filter(|node| !node.is_null());
    let baseline = match written {
        None => Some(Baseline::Reference),
        Some(node) => baseline(cx, node),
    };
    let criteria = object.strings("criteria", &mut cx.problems);
    let criteria = criteria
        .into_iter()
        .filter_map(|text| not_blank(text, "criteria", &mut cx.problems))
        .map(|text| text.value)
        .collect();
    let judge = judge(cx, object);
    let panel = panel(cx, object, Use::Llm { judge: judge.as_deref() });
    let usual = PairScores::default();
    let mut score = |key: &'static str, usual: Unit| {
        object.unit(key, &mut cx.problems).map_or(usual, |found| found.value)
    };
    let scores = PairScores {
        tie: score("tie_score", usual.tie),
        inconsistent: score("inconsistent_score", usual.inconsistent),
    };
    for (key, help) in [
        (
            "prompt",
            "the two answers are put to the judge by the built-in prompt; say under `criteria` what counts",
        ),
        ("temperature", "for repeats that differ, write `panel: {repeats: N, temperature: T}`"),
        ("max_steps", "two answers are compared in one step; remove the key"),
        ("order", "both orders are always judged; remove the key"),
    ] {
        if let Some(entry) = object.foreign(key) {
            cx.problems.add(unused(entry.key_span, format!("a pairwise grader does not use `{key}`"), help));
        }
    }
    let baseline = baseline?;
    (cx.problems.errors() == errors).then_some(GraderKind::Pairwise(PairwiseGrader {
        baseline,
        criteria,
        judge,
        panel,
        scores,
    }))
}

/// Decodes `reference`, a text, `file://PATH`, or a map with an explicit kind. Returns `None` after adding a
/// diagnostic.
fn baseline(cx: &mut Context, node: &Node) -> Option<Baseline> {
    match &node.data {
        Data::Str(text) if text.trim().eq_ignore_ascii_case(REFERENCE) => Some(Baseline::Reference),
        Data::Str(text) if text.trim_start().starts_with("file://") => file(cx, text, node.place()),
        Data::Str(text) => {
            if let Some(what) = on_disk(cx, text, node.place()) {
                let key = if what == "folder" { "run" } else { "file" };
                cx.problems.add(
                    Diagnostic::error(
                        codes::WRONG_TYPE,
                        format!("`baseline` names a {what}"),
                        node.place(),
                        "would be taken for the other answer itself",
                    )
                    .with_help(format!("write `baseline: {{{key}: {}}}`", text.trim())),
                );
                return None;
            }
            plain(cx, node)
        }
        Data::Map(_) => {
            let mut object = Object::new(node, "`baseline`", &mut cx.problems)?;
            let found = [object.entry("text"), object.entry("file"), object.entry("run")];
            let given: Vec<_> = found.into_iter().flatten().filter(|entry| !entry.value.is_null()).collect();
            if given.is_empty() {
                cx.problems.add(missing(object.head(), "`baseline`", "run", "baseline: {run: last}"));
            }
            object.finish(&mut cx.problems);
            match given.as_slice() {
                [] => None,
                [only] => {
                    let (place, key) = (only.value.place(), only.key.as_str());
                    if key == "text" {
                        return plain(cx, &only.value);
                    }
                    let name = if key == "file" { "file" } else { "run" };
                    let text = string(&only.value, name, &mut cx.problems)?;
                    let text = not_blank(text, name, &mut cx.problems)?.value;
                    if key == "file" { file(cx, &text, place) } else { run(cx, text, place) }
                }
                [first, second, ..] => {
                    cx.problems.add(
                        Diagnostic::error(
                            codes::TWO_SPELLINGS,
                            format!("`{}` and `{}` each name the other answer", first.key, second.key),
                            second.key_span,
                            "only one can count",
                        )
                        .with_secondary(first.key_span, "already given here")
                        .with_help("keep one of them"),
                    );
                    None
                }
            }
        }
        _ => {
            cx.problems.add(wrong_type(node, "`baseline`", "a text or a map").with_help(
                "write `reference`, the other answer, or `{run: RUN}`, `{file: PATH}`, `{text: TEXT}`",
            ));
            None
        }
    }
}

fn plain(cx: &mut Context, node: &Node) -> Option<Baseline> {
    let text = string(node, "baseline", &mut cx.problems)?;
    let text = not_blank(text, "baseline", &mut cx.problems)?;
    Some(Baseline::Text(text.value.into()))
}

fn file(cx: &mut Context, written: &str, place: Span) -> Option<Baseline> {
    let file = cx.read_text(written.trim(), place)?;
    if file.text.trim().is_empty() {
        cx.problems.add(
            Diagnostic::error(
                codes::EMPTY_TEXT,
                "the file of the other answer is empty",
                place,
                "nothing in it",
            )
            .with_help("write the answer into the file, or name another"),
        );
        return None;
    }
    Some(Baseline::Text(Arc::from(&*file.text)))
}

/// Decodes a reference to a run. An id is looked up among the stored runs; a folder relative to the eval
/// file.
fn run(cx: &mut Context, written: String, place: Span) -> Option<Baseline> {
    let folder = written.rsplit_once('@').map_or(written.as_str(), |(folder, _)| folder);
    let folder = if written.contains(['/', '\\']) { Some(cx.find(folder, place)?) } else { None };
    Some(Baseline::Run { written, folder, answer: None })
}

/// Returns the kind of the existing folder or file that a text names, if it looks like a path. Only the
/// folders that may be read are searched.
fn on_disk(cx: &Context, text: &str, span: Span) -> Option<&'static str> {
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
    use super::*;
    use crate::decode::grader::testing::{codes, graders, one};
    use crate::model::Format;

    fn read(text: &str) -> PairwiseGrader {
        let grader = one(text);
        let GraderKind::Pairwise(pairwise) = &grader.kind else { panic!("a comparison") };
        pairwise.clone()
    }

    #[test]
    fn all_settings_are_read_in_every_spelling() {
        let plain = read("- type: pairwise\n");
        assert_eq!((plain.baseline, plain.scores), (Baseline::Reference, PairScores::default()));
        assert!(plain.criteria.is_empty() && plain.judge.is_none());
        let full = read(
            "- {type: pairwise, against: {text: old answer}, criteria: [Is brief, Is right], target: big, \
             tie_score: 0.4, inconsistent_score: 0, panel: {repeats: 2}}\n",
        );
        assert_eq!(full.baseline, Baseline::Text("old answer".into()));
        assert_eq!((full.criteria.len(), full.judge.as_deref()), (2, Some("big")));
        assert_eq!((full.scores.tie.get(), full.scores.inconsistent.get()), (0.4, 0.0));
        assert_eq!(full.panel.repeats, Some(2));
        for (text, wanted) in [
            ("baseline: Reference", Baseline::Reference),
            ("baseline: The old answer.", Baseline::Text("The old answer.".into())),
            (
                "baseline: {run: last@gpt}",
                Baseline::Run { written: "last@gpt".into(), folder: None, answer: None },
            ),
        ] {
            assert_eq!(read(&format!("- {{type: pairwise, {text}}}\n")).baseline, wanted);
        }
        assert_eq!(read("- {type: pairwise, criteria: Is brief}\n").criteria, ["Is brief"]);
        assert!(graders("- {name: p, type: pairwise}\n", Format::One).1.is_empty());
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
