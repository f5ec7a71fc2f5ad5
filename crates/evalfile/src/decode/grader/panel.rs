//! Decoder of `panel`: several judges, repeats, and the combination of their votes.

use assize_diagnostic::{Diagnostic, Span};
use assize_document::{MapEntry, MapReader, NodeValue, TreeNode, check_not_blank, codes, number, string};
use assize_model::{EscalateWhen, Escalation, PanelJudge, PanelSpec, ScoringMethod};
use assize_rubric::{JudgingMode, PanelRule, TiePolicy, Weight};

use super::shared::{decode_choice, missing_key, unused_key};
use crate::decode::DecodeContext;
use crate::decode::common::non_empty_list;

/// Where a panel is used, with the settings beside it that it may conflict with.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PanelUse<'a> {
    /// On a rubrics grader.
    Rubrics {
        /// Single judge of the grader.
        judge: Option<&'a str>,
        /// Grouping of criteria into calls.
        judging: Option<JudgingMode>,
    },
    /// On a judge that gives one score.
    Llm {
        /// Single judge of the grader.
        judge: Option<&'a str>,
    },
    /// In the defaults, for graders that have no panel.
    Defaults {
        /// Single judge of the defaults.
        judge: Option<&'a str>,
    },
}

/// Decodes `panel`, if present. Invalid settings are reported and ignored.
pub(crate) fn decode_panel(
    cx: &mut DecodeContext,
    outer: &mut MapReader<'_>,
    for_what: PanelUse<'_>,
) -> PanelSpec {
    let Some(node) = outer.value("panel") else { return PanelSpec::default() };
    let Some(mut object) = MapReader::new(node, "`panel`", &mut cx.problems) else {
        return PanelSpec::default();
    };
    let head = object.head();
    let listed = object.entry("judges").filter(|entry| !entry.value.is_null());
    let (PanelUse::Rubrics { judge, .. } | PanelUse::Llm { judge } | PanelUse::Defaults { judge }) = for_what;
    if let (Some(entry), Some(judge)) = (listed, judge) {
        Diagnostic::error(codes::TWO_SPELLINGS, "`judge` names one judge and `judges` names several")
            .at(entry.key_span, format!("beside `judge: {judge}`"))
            .with_help("keep one of them; list all judges of a panel under `judges`")
            .add_to(&mut cx.problems);
    }

    let judges = listed.map(|entry| decode_panel_judges(cx, entry)).unwrap_or_default();
    let combine = object.value("combine").and_then(|node| {
        PanelRule::from_name(decode_choice(node, "combine", &PanelRule::NAMES, &mut cx.problems)?)
    });
    let ties = object.value("ties").and_then(|node| {
        TiePolicy::from_name(decode_choice(node, "ties", &TiePolicy::NAMES, &mut cx.problems)?)
    });
    let panel = PanelSpec {
        repeats: object
            .integer("repeats", 1, i64::from(PanelSpec::MAX_REPEATS), &mut cx.problems)
            .and_then(|repeats| u32::try_from(repeats.value).ok()),
        combine,
        ties,
        temperature: super::temperature::temperature(cx, &mut object),
        escalate: object.value("escalate").and_then(|node| decode_escalation(cx, node)),
        scoring: decode_scoring(cx, &mut object, for_what),
        judges: judges.iter().map(|(judge, _)| judge.clone()).collect(),
    };

    object.finish(&mut cx.problems);
    report_panel_conflicts(cx, &panel, &judges, head);

    panel
}

/// Decodes the judges: names, or maps of a name and a weight.
fn decode_panel_judges(cx: &mut DecodeContext, entry: &MapEntry) -> Vec<(PanelJudge, Span)> {
    let Some(items) = non_empty_list(cx, entry) else { return Vec::new() };
    let mut found: Vec<(PanelJudge, Span)> = Vec::new();
    for item in items {
        let Some((judge, place)) = decode_panel_judge(cx, item) else { continue };
        if let Some((_, first)) = found.iter().find(|(known, _)| known.name == judge.name) {
            Diagnostic::error(codes::DUPLICATE_JUDGE, format!("the judge `{}` is named twice", judge.name))
                .at(place, "second time")
                .with_secondary(*first, "first time")
                .with_help(
                    "to ask a judge several times, write `repeats: N`; to give it more influence, \
                     set its `weight`",
                )
                .add_to(&mut cx.problems);
        } else {
            found.push((judge, place));
        }
    }

    found
}

fn decode_panel_judge(cx: &mut DecodeContext, node: &TreeNode) -> Option<(PanelJudge, Span)> {
    if node.as_map().is_none() {
        let name = string(node, "judges", &mut cx.problems)?;
        let name = check_not_blank(name, "judges", &mut cx.problems)?;
        return Some((PanelJudge { name: name.value.trim().to_owned(), weight: None }, name.span));
    }

    let mut object = MapReader::new(node, "a judge of `judges`", &mut cx.problems)?;
    let head = object.head();
    let name = object.text("judge", &mut cx.problems);
    if name.is_none() && !object.has("judge") {
        missing_key(head, "a judge of a panel", "judge", "- {judge: openai:gpt-6-luna, weight: 2}")
            .add_to(&mut cx.problems);
    }

    // An invalid weight has been reported; use 1 so that it is not also reported as missing.
    let weight = object.value("weight").map(|node| decode_judge_weight(cx, node).unwrap_or(Weight::ONE));
    object.finish(&mut cx.problems);

    let name = name?;
    Some((PanelJudge { name: name.value.trim().to_owned(), weight }, name.span))
}

fn decode_judge_weight(cx: &mut DecodeContext, node: &TreeNode) -> Option<Weight> {
    let written = number(node, "weight", &mut cx.problems)?;
    if written.value > 0.0 {
        return Weight::new(written.value).ok();
    }

    Diagnostic::error(codes::OUT_OF_RANGE, "the weight of a judge must be above 0")
        .at(written.span, format!("found {}", written.value))
        .with_help("use a number above 0, or remove the judge")
        .reject_in(&mut cx.problems)
}

/// Decodes `escalate`: the name of a judge, or a map of `to` and `when`.
fn decode_escalation(cx: &mut DecodeContext, node: &TreeNode) -> Option<Escalation> {
    if matches!(node.data, NodeValue::Str(_)) {
        let to = string(node, "escalate", &mut cx.problems)?;
        let to = check_not_blank(to, "escalate", &mut cx.problems)?;
        return Some(Escalation { to: to.value.trim().to_owned(), when: EscalateWhen::default() });
    }

    let mut object = MapReader::new(node, "`escalate`", &mut cx.problems)?;
    let head = object.head();
    let to = object.text("to", &mut cx.problems);
    if to.is_none() && !object.has("to") {
        cx.problems.add(missing_key(head, "`escalate`", "to", "escalate: {to: openai:gpt-6-sol}"));
    }

    let when = object.value("when").map(|node| {
        Some(match decode_choice(node, "when", &["unsure", "split"], &mut cx.problems)? {
            "split" => EscalateWhen::Split,
            _ => EscalateWhen::Unsure,
        })
    });

    object.finish(&mut cx.problems);
    Some(Escalation { to: to?.value.trim().to_owned(), when: when.unwrap_or(Some(EscalateWhen::default()))? })
}

fn decode_scoring(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
    for_what: PanelUse<'_>,
) -> Option<ScoringMethod> {
    let entry = object.entry("scoring").filter(|entry| !entry.value.is_null())?;
    let found = decode_choice(&entry.value, "scoring", &["written", "logprobs"], &mut cx.problems)?;
    if found == "written" {
        return Some(ScoringMethod::Written);
    }

    match for_what {
        PanelUse::Llm { .. } => unused_key(
            entry.key_span,
            "a judge of the whole answer does not use `scoring: logprobs`",
            "its score is not a single token; remove the key, or write criteria",
        )
        .add_to(&mut cx.problems),
        PanelUse::Rubrics { judging: Some(JudgingMode::Batched(_)), .. } => {
            Diagnostic::error(codes::PANEL_CONFLICT, "probabilities can't be read from batched replies")
                .at(entry.key_span, "needs one call per criterion")
                .with_help("remove `judging: batched`, or `scoring`")
                .add_to(&mut cx.problems);
        }
        PanelUse::Rubrics { .. } | PanelUse::Defaults { .. } => return Some(ScoringMethod::Logprobs),
    }

    None
}

/// Reports contradictions within one panel. The combination of several is checked before a run.
fn report_panel_conflicts(
    cx: &mut DecodeContext,
    panel: &PanelSpec,
    judges: &[(PanelJudge, Span)],
    head: Span,
) {
    match panel.combine {
        Some(PanelRule::Weighted) => {
            if let Some((judge, place)) = judges.iter().find(|(judge, _)| judge.weight.is_none()) {
                Diagnostic::error(
                    codes::MISSING_SETTING,
                    format!("the judge `{}` has no weight", judge.name),
                )
                .at(*place, "no `weight` here")
                .with_help("`combine: weighted` needs one for every judge: `- {judge: NAME, weight: 2}`")
                .add_to(&mut cx.problems);
            }
        }
        Some(rule) => {
            if let Some((judge, place)) = judges.iter().find(|(judge, _)| judge.weight.is_some()) {
                let help = format!(
                    "write `combine: weighted` for `combine: {}`, or remove the weights",
                    rule.name()
                );
                unused_key(*place, format!("the weight of `{}` has no effect", judge.name), help)
                    .add_to(&mut cx.problems);
            }
        }
        None => {}
    }

    let Some(escalation) = &panel.escalate else { return };
    if let Some((_, place)) = judges.iter().find(|(judge, _)| judge.name == escalation.to) {
        Diagnostic::error(
            codes::PANEL_CONFLICT,
            format!("`{}` is both a judge of the panel and the one it escalates to", escalation.to),
        )
        .at(*place, "asked already")
        .with_secondary(head, "in this panel")
        .with_help("escalate to a judge outside the panel, or remove it from `judges`")
        .add_to(&mut cx.problems);
    }
}

#[cfg(test)]
mod tests {
    use assize_model::GraderKind;

    use super::*;
    use crate::tests::snippets::{codes, one};

    fn of(setting: &str) -> PanelSpec {
        let grader = one(&format!("- type: rubrics\n  criteria: [a]\n  panel: {setting}\n"));
        let GraderKind::Rubric(rubric) = &grader.kind else { panic!("a rubric") };
        rubric.panel.clone()
    }

    #[test]
    fn all_settings_are_read() {
        let panel =
            of("{judges: [small, {judge: big, weight: 2.5}], repeats: 3, ties: fail, temperature: 0.7, \
             escalate: {to: best, when: split}, scoring: logprobs}");
        assert_eq!(panel.judges.len(), 2);
        assert_eq!((panel.judges[0].name.as_str(), panel.judges[0].weight), ("small", None));
        assert_eq!(panel.judges[1].weight, Weight::new(2.5).ok());
        assert_eq!(
            (panel.repeats, panel.ties, panel.temperature),
            (Some(3), Some(TiePolicy::Fail), Some(0.7))
        );
        assert_eq!(panel.escalate, Some(Escalation { to: "best".into(), when: EscalateWhen::Split }));
        assert_eq!(panel.scoring, Some(ScoringMethod::Logprobs));
        assert_eq!(of("{escalate: best}").escalate.map(|to| to.when), Some(EscalateWhen::Unsure));
        for rule in PanelRule::ALL.into_iter().filter(|rule| *rule != PanelRule::Weighted) {
            assert_eq!(of(&format!("{{combine: {}}}", rule.name())).combine, Some(rule));
        }
        let llm = one("- {type: llm-grader, panel: {judges: [a, b], combine: median}}\n");
        let GraderKind::Llm(llm) = &llm.kind else { panic!("a judge") };
        assert_eq!((llm.panel.judges.len(), llm.panel.combine), (2, Some(PanelRule::Median)));
    }

    #[test]
    fn what_can_not_be_is_refused() {
        for (setting, code) in [
            ("{repeats: 0}", "E0106"),
            ("{repeats: 101}", "E0106"),
            ("{repeats: three}", "E0105"),
            ("{judges: []}", "E0418"),
            ("{judges: a}", "E0105"),
            ("{judges: [a, a]}", "E0318"),
            ("{judges: [a, {judge: b, weight: 1}], combine: weighted}", "E0304"),
            ("{judges: [a, {judge: b, weight: 1}], combine: mean}", "E0306"),
            ("{judges: [{judge: b, weight: 0}], combine: weighted}", "E0106"),
            ("{judges: [{weight: 1}]}", "E0304"),
            ("{combine: most}", "E0307"),
            ("{ties: coin}", "E0307"),
            ("{temperature: 3}", "E0106"),
            ("{judges: [a, b], escalate: a}", "E0317"),
            ("{escalate: {when: unsure}}", "E0304"),
            ("{escalate: {to: a, when: never}}", "E0307"),
            ("{scoring: tokens}", "E0307"),
            ("{judge: a}", "E0103"),
            ("three", "E0105"),
        ] {
            let text = format!("- type: rubrics\n  criteria: [a]\n  panel: {setting}\n");
            assert!(codes(&text).contains(&code), "{text}: {:?}", codes(&text));
        }
        assert_eq!(codes("- {type: rubrics, criteria: [a], judge: x, panel: {judges: [a, b]}}\n"), ["E0104"]);
        assert_eq!(
            codes("- {type: rubrics, criteria: [a], judging: batched, panel: {scoring: logprobs}}\n"),
            ["E0317"]
        );
        assert_eq!(codes("- {type: llm-grader, panel: {scoring: logprobs}}\n"), ["E0306"]);
    }

    #[test]
    fn settings_of_several_places_are_laid_over_each_other() {
        let suite =
            PanelSpec { repeats: Some(3), combine: Some(PanelRule::Weighted), ..PanelSpec::default() };
        let own = PanelSpec {
            judges: [PanelJudge { name: "a".into(), weight: None }].into(),
            repeats: Some(2),
            ..PanelSpec::default()
        };
        let both = own.clone().or(&suite);
        assert_eq!((both.repeats, both.combine, both.judges.len()), (Some(2), Some(PanelRule::Weighted), 1));
        assert!(both.conflict().is_some_and(|words| words.contains("`a` has none")));
        assert!(suite.conflict().is_some());
        assert_eq!(own.conflict(), None);
    }
}
