//! Checks the tags that connect benchmarks and cases.

use std::collections::{BTreeMap, BTreeSet};

use assize_diagnostic::{Diagnostic, Span, SpannedValue, did_you_mean};
use assize_document::codes;
use assize_evalfile::reading::DecodeContext;
use assize_model::{BenchmarkApplicability, Scorecard, ScorecardBenchmark};
use assize_rubric::Criticality;

use super::draft::{ScorecardCaseDraft, ScorecardDraft};

/// Reports tags that connect nothing: tags of a benchmark that no case has, and tags of a case that no benchmark has.
/// The tags of a case may be there only to select it, so they are reported only if they resemble a tag of a benchmark,
/// or if no tag connects the case to a benchmark.
///
/// A tag that resembles one on the other side is an error. It would silently remove benchmarks from the result,
/// possibly gates.
pub(super) fn check_tags(cx: &mut DecodeContext, draft: &ScorecardDraft) {
    let wanted: BTreeSet<&str> =
        draft.benchmarks.iter().flat_map(|benchmark| values(&benchmark.tags)).collect();
    if wanted.is_empty() || draft.cases.is_empty() {
        return;
    }

    let present: BTreeSet<&str> = draft.cases.iter().flat_map(|case| values(&case.tags)).collect();
    for benchmark in &draft.benchmarks {
        for tag in benchmark.tags.iter().filter(|tag| !present.contains(tag.value.as_str())) {
            let near = near_tag(&tag.value, present.iter().copied());
            report_tag(cx, tag, near, format!("no case has the tag `{}`", tag.value), &benchmark.code.value);
        }
    }

    // For each such tag: its first occurrence, the tag it resembles, and the number of cases that have it.
    let mut strays: BTreeMap<&str, (&SpannedValue<String>, Option<&str>, usize)> = BTreeMap::new();
    for case in draft.cases.iter().filter(|case| case.benchmarks.is_none()) {
        for (tag, near) in stray_tags(case, &wanted) {
            strays.entry(&tag.value).or_insert((tag, near, 0)).2 += 1;
        }
    }

    for (tag, near, cases) in strays.into_values() {
        let label = match cases {
            1 => "one case has it".to_owned(),
            cases => format!("the first of {cases} cases"),
        };
        report_tag(cx, tag, near, format!("no benchmark has the tag `{}`", tag.value), &label);
    }
}

fn values(tags: &[SpannedValue<String>]) -> impl Iterator<Item = &str> {
    tags.iter().map(|tag| tag.value.as_str())
}

/// Returns the tags of a case that were probably meant for a benchmark, each with the tag that it resembles.
fn stray_tags<'d>(
    case: &'d ScorecardCaseDraft,
    wanted: &BTreeSet<&'d str>,
) -> Vec<(&'d SpannedValue<String>, Option<&'d str>)> {
    let is_connected = values(&case.tags).any(|tag| wanted.contains(tag));
    let unknown = case.tags.iter().filter(|tag| !wanted.contains(tag.value.as_str()));

    unknown
        .map(|tag| {
            // If the case also has the tag that this one resembles, the benchmark is not lost.
            let others = wanted.iter().copied().filter(|known| !values(&case.tags).any(|own| own == *known));
            (tag, near_tag(&tag.value, others))
        })
        .filter(|(_, near)| near.is_some() || !is_connected)
        .collect()
}

fn report_tag(
    cx: &mut DecodeContext,
    tag: &SpannedValue<String>,
    near: Option<&str>,
    title: String,
    label: &str,
) {
    let rule = "a benchmark with `tags` applies to the cases that share one of them";
    let diagnostic = match near {
        Some(near) => Diagnostic::error(codes::MISTYPED_TAG, title)
            .at(tag.span, label.to_owned())
            .with_help(format!("did you mean `{near}`?"))
            .with_help(format!(
                "{rule}; if `{}` is another tag, choose a name less like `{near}`",
                tag.value
            )),
        None => Diagnostic::warning(codes::TAG_WITHOUT_MATCH, title)
            .at(tag.span, label.to_owned())
            .with_help(rule),
    };

    cx.problems.add(diagnostic);
}

/// Returns the tag that `tag` may be a misspelling of. Tags that differ only in digits, such as `stage-2` and
/// `stage-3`, are different tags.
fn near_tag<'t>(tag: &str, known: impl Iterator<Item = &'t str>) -> Option<&'t str> {
    let without_digits = |name: &str| name.replace(|c: char| c.is_ascii_digit(), "");
    let bare = without_digits(tag);
    let is_numbered = bare.len() < tag.len();

    did_you_mean(tag, known.filter(|name| !is_numbered || without_digits(name) != bare))
}

/// Refuses a list of `benchmarks` that takes a case out of hard gates that its tags select, or out of everything.
pub(super) fn report_gates_left_out(
    cx: &mut DecodeContext,
    cases: &[ScorecardCaseDraft],
    scorecard: &Scorecard,
) {
    for (case, decoded) in cases.iter().zip(&scorecard.cases) {
        let (Some(list), Some(listed)) = (&case.benchmarks, &decoded.benchmarks) else { continue };
        if list.is_empty() {
            Diagnostic::error(codes::GATE_LEFT_OUT, format!("the case `{}` lists no benchmark", decoded.id))
                .at(case.id.span, "`benchmarks` is empty")
                .with_help("name its benchmarks, or remove the key so that its tags select them")
                .add_to(&mut cx.problems);
            continue;
        }

        let left_out = scorecard.benchmarks.iter().enumerate().filter(|(at, benchmark)| {
            benchmark.criticality == Criticality::HardGate
                && benchmark.tags.iter().any(|tag| decoded.tags.contains(tag))
                && !listed.contains(at)
        });
        let codes: Vec<String> = left_out.map(|(_, benchmark)| format!("`{}`", benchmark.code)).collect();
        if codes.is_empty() {
            continue;
        }

        let (gates, them) = if codes.len() == 1 { ("a hard gate", "it") } else { ("hard gates", "them") };
        Diagnostic::error(
            codes::GATE_LEFT_OUT,
            format!("`benchmarks` takes the case `{}` out of {gates} that its tags select", decoded.id),
        )
        .at(
            list.first().map_or(case.id.span, |code| code.span),
            format!("the list lacks {}", codes.join(", ")),
        )
        .with_help(format!("add {them} to the list, or remove the shared tag from the case"))
        .add_to(&mut cx.problems);
    }
}

/// Warns of hard gates that apply to no case.
pub(super) fn report_gates_without_case(cx: &mut DecodeContext, scorecard: &Scorecard, spans: &[Span]) {
    if scorecard.cases.is_empty() {
        report_scorecard_without_cases(cx, scorecard, spans);
        return;
    }

    for (at, (benchmark, span)) in scorecard.benchmarks.iter().zip(spans).enumerate() {
        let applies = |case| scorecard.applies(at, case) != BenchmarkApplicability::No;
        if benchmark.criticality != Criticality::HardGate || scorecard.cases.iter().any(applies) {
            continue;
        }

        Diagnostic::warning(
            codes::GATE_WITHOUT_CASE,
            format!("the hard gate `{}` has no case", benchmark.code),
        )
        .at(*span, "without a case, the scorecard stays incomplete")
        .with_help("list it under the `benchmarks` of a case, or give a case one of its tags")
        .add_to(&mut cx.problems);
    }
}

/// Warns at the first hard gate of a scorecard that has no cases at all.
fn report_scorecard_without_cases(cx: &mut DecodeContext, scorecard: &Scorecard, spans: &[Span]) {
    let is_gate = |benchmark: &&ScorecardBenchmark| benchmark.criticality == Criticality::HardGate;
    let gates = scorecard.benchmarks.iter().filter(is_gate).count();
    let first = scorecard.benchmarks.iter().position(|benchmark| is_gate(&benchmark));
    let Some(span) = first.and_then(|at| spans.get(at)) else { return };

    let title = match gates {
        1 => "the scorecard has a hard gate and no cases".to_owned(),
        gates => format!("the scorecard has {gates} hard gates and no cases"),
    };
    Diagnostic::warning(codes::GATE_WITHOUT_CASE, title)
        .at(*span, "without a case, the scorecard stays incomplete")
        .with_help(
            "add cases, or give results of your own cases with `assize scorecard score --results FILE`",
        )
        .add_to(&mut cx.problems);
}

/// Warns of labels that have no effect because their benchmark does not apply to their case. There is one
/// warning, at the first such label.
pub(super) fn report_labels_elsewhere(cx: &mut DecodeContext, scorecard: &Scorecard, spans: &[Span]) {
    let elsewhere = scorecard.labels_elsewhere();
    let Some(&(label, benchmark, case)) = elsewhere.first() else { return };
    let Some(span) = spans.get(label) else { return };

    let title = match elsewhere.len() {
        1 => "a label has no effect: its benchmark does not apply to its case".to_owned(),
        labels => format!("{labels} labels have no effect: their benchmarks do not apply to their cases"),
    };
    let code = &scorecard.benchmarks[benchmark].code;
    Diagnostic::warning(codes::LABEL_ELSEWHERE, title)
        .at(*span, format!("`{code}` does not apply to `{}`", case.id))
        .with_help(
            "list the benchmark under the `benchmarks` of the case, give both a tag, or remove the label",
        )
        .add_to(&mut cx.problems);
}
