//! Metrics of a self-preference audit.

use std::collections::{BTreeMap, BTreeSet};

use super::facts::SelfPreferenceFacts;
use assize_analysis::MetricEstimate;
use assize_analysis::shares::{mean_metric, share_metric};
use assize_rubric::TOLERANCE;
use assize_stats::UndefinedReason;

use crate::report::format_count;
use crate::{AuditReport, AuditSection, ScaleDecision};

/// Compares decisions of a family's judges and all other judges on the answers of that family and of others.
///
/// For each criterion of each answer: the mean of the family's judges minus the mean of the others. Both saw
/// the same answer, so its quality cancels. Then, case by case, the mean of that over the family's answers
/// minus the mean over the others' answers: severity cancels too. The remainder is the preference.
pub fn self_preference_report(facts: &SelfPreferenceFacts) -> AuditReport {
    let families: BTreeSet<&String> = facts.judges.values().flatten().collect();
    let mut unmeasured = list_unmeasured(facts);
    let known: BTreeSet<&String> = facts.judges.values().chain(facts.targets.values()).flatten().collect();
    if families.len() == 2 && known.len() == 2 {
        unmeasured.push(
            "Of two families only the sum of their preferences is known: what one prefers, the other seems to prefer as \
             well. A judge of a third family tells them apart."
                .to_owned(),
        );
    }

    let mut sections = Vec::new();
    let mut worst: Option<(f64, String)> = None;
    let mut concluded = Vec::new();
    for family in families {
        if let Some(lack) = find_lack(facts, family) {
            unmeasured.push(format!("`{family}` was not measured: {lack}."));
            continue;
        }

        let preferences = preferences_by_case(facts, family);
        if preferences.is_empty() {
            unmeasured.push(format!(
                "`{family}` was not measured: no case has decisions of both kinds of judges on both kinds of answers."
            ));
            continue;
        }

        let figure = mean_metric(
            ("self_preference", "own minus other answers, own minus other judges", "cases"),
            "Above 0 judges of this family value its answers more, compared with what other judges see in the same \
             answers; on the scale of decisions, 0 to 1.",
            &preferences,
        );
        if let Ok(value) = figure.value {
            concluded.extend(conclusion(family, value, &figure, preferences.len()));
            if worst.as_ref().is_none_or(|(most, _)| value > *most) {
                worst = Some((value, format!("self-preference of `{family}`")));
            }
        }

        sections.push((
            figure.value.unwrap_or(f64::MIN),
            AuditSection { title: family.clone(), figures: vec![figure] },
        ));
    }

    sections.sort_by(|a, b| b.0.total_cmp(&a.0));
    let noise = share_metric(
        ("noise", "decisions that changed when asked again", "decisions"),
        "The judges' own noise: what differs when the same is asked again.",
        &repeat_flips(facts),
    );

    let says = if sections.is_empty() {
        "Nothing was measured.".to_owned()
    } else if concluded.is_empty() {
        format!(
            "No family of judges is shown to prefer its own answers, over {}.",
            format_count(facts.cases.len(), "case", "cases")
        )
    } else {
        format!("{}.", concluded.join("; "))
    };

    AuditReport {
        cases: facts.cases.len(),
        figures: vec![noise],
        sections: sections.into_iter().map(|(_, section)| section).collect(),
        worst,
        says,
        unmeasured,
        missing: describe_missing(facts),
    }
}

/// Returns the reason why the preference of a family can't be measured, if there is one.
fn find_lack(facts: &SelfPreferenceFacts, family: &String) -> Option<&'static str> {
    let own = facts.targets.values().flatten().any(|of| of == family);
    let others = facts.targets.values().flatten().any(|of| of != family);
    let rivals = facts.judges.values().flatten().any(|of| of != family);

    match (own, others, rivals) {
        (false, _, _) => Some("no target is of this family"),
        (_, false, _) => Some("every target is of this family; others are needed beside it"),
        (_, _, false) => Some("every judge is of this family; others are needed beside it"),
        _ => None,
    }
}

/// Returns the sentence that a preference over this many cases allows, if any.
fn conclusion(family: &str, value: f64, figure: &MetricEstimate, cases: usize) -> Option<String> {
    match figure.interval {
        Ok(interval) if interval.low > 0.0 => {
            Some(format!("`{family}` judges prefer answers of their own family ({value:+.3})"))
        }
        Ok(interval) if interval.high < 0.0 => {
            Some(format!("`{family}` judges mark down answers of their own family ({value:+.3})"))
        }
        Err(UndefinedReason::NoSpread) if value.abs() > TOLERANCE => {
            let n = format_count(cases, "case", "cases");
            Some(format!("`{family}` judges value their own family by {value:+.3} in each of {n}"))
        }
        _ => None,
    }
}

/// Lists the decisions and answers that no metric counts.
fn describe_missing(facts: &SelfPreferenceFacts) -> Vec<String> {
    let mut missing = Vec::new();
    if facts.ungraded > 0 {
        let decisions = format_count(facts.ungraded, "decision is", "decisions are");
        missing.push(format!("{decisions} missing, part of no figure."));
    }

    if facts.unanswered > 0 {
        missing.push(format!(
            "{} no answer.",
            format_count(facts.unanswered, "judged case has", "judged cases have")
        ));
    }

    missing
}

/// Lists the reasons why some effects can't be measured.
fn list_unmeasured(facts: &SelfPreferenceFacts) -> Vec<String> {
    let mut lines = Vec::new();
    if facts.given > 0 {
        let answers = format_count(facts.given, "answer came", "answers came");
        lines.push(format!(
            "{answers} with the case, and nobody knows from which model: name targets with `--target`."
        ));
    }

    for (list, what) in [(&facts.judges, "judge"), (&facts.targets, "target")] {
        for (name, _) in list.iter().filter(|(_, family)| family.is_none()) {
            lines.push(format!(
                "The family of the {what} `{name}` is not known: say it with `--family '{name}=FAMILY'`."
            ));
        }
    }

    lines
}

/// Suite and case.
type PreferenceCaseKey = (String, String);

/// Computes the preference in each case.
fn preferences_by_case(facts: &SelfPreferenceFacts, family: &str) -> Vec<(PreferenceCaseKey, f64)> {
    let average = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let mut by_case: BTreeMap<PreferenceCaseKey, [Vec<f64>; 2]> = BTreeMap::new();
    for ((suite, case, target, ..), by_judge) in &facts.values {
        let Some(Some(of)) = facts.targets.get(target) else { continue };
        let side = |is_own: bool| -> Vec<f64> {
            by_judge
                .iter()
                .filter(|(judge, _)| {
                    let of = facts.judges.get(*judge).and_then(Option::as_deref);
                    of.is_some_and(|of| (of == family) == is_own)
                })
                .map(|(_, values)| average(values))
                .collect()
        };

        let (own, others) = (side(true), side(false));
        if !own.is_empty() && !others.is_empty() {
            let sides = by_case.entry((suite.clone(), case.clone())).or_default();
            sides[usize::from(of != family)].push(average(&own) - average(&others));
        }
    }

    by_case
        .into_iter()
        .filter(|(_, [own, others])| !own.is_empty() && !others.is_empty())
        .map(|(case, [own, others])| (case, average(&own) - average(&others)))
        .collect()
}

/// Returns for each later decision whether it differs from the first one of the same judge on the same cell.
fn repeat_flips(facts: &SelfPreferenceFacts) -> Vec<(PreferenceCaseKey, bool)> {
    let mut hits = Vec::new();
    for (((suite, case, ..), ..), by_repeat) in &facts.again {
        let Some(first) = by_repeat.get(&1).filter(|first| **first != ScaleDecision::Ungraded) else {
            continue;
        };
        for (_, later) in by_repeat.iter().filter(|(repeat, _)| **repeat > 1) {
            if *later != ScaleDecision::Ungraded {
                hits.push(((suite.clone(), case.clone()), later != first));
            }
        }
    }

    hits
}
