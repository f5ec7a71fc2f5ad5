//! Metrics of a self-preference audit.

use std::collections::{BTreeMap, BTreeSet};

use super::facts::SelfPreferenceFacts;
use assize_analysis::MetricEstimate;
use assize_analysis::claims::{ALPHA, decide_together};
use assize_analysis::shares::{mean_metric, share_metric};
use assize_rubric::TOLERANCE;
use assize_stats::UndefinedReason;
use assize_stats::compare::fair_coin;

use crate::report::{format_count, p_of_no_effect};
use crate::{AuditReport, AuditSection, ScaleDecision};

/// Measures the preference of each family's judges for answers of their own family.
///
/// For each criterion of each answer, it takes the mean of the family's judges minus the mean of the neutral
/// judges, which belong to neither of the two families. Both groups saw the same answer, so the quality of
/// the answer cancels out. Then it takes, in each case, the mean of these differences over the family's
/// answers minus the mean over the other family's answers, so the severity of the judges cancels out as well.
/// The remainder is the preference; it is averaged over the other families.
///
/// Judges of the other family don't count as neutral because they would add their own preference.
pub fn self_preference_report(facts: &SelfPreferenceFacts) -> AuditReport {
    let families: BTreeSet<&String> = facts.judges.values().flatten().collect();
    let mut unmeasured = list_unmeasured(facts);
    let mut sections = Vec::new();
    let mut worst: Option<(f64, String)> = None;
    let mut claims: Vec<(f64, String)> = Vec::new();
    let mut compared: BTreeSet<PreferenceCaseKey> = BTreeSet::new();
    for family in families {
        if let Some(obstacle) = find_obstacle(facts, family) {
            unmeasured.push(format!("`{family}` was not measured: {obstacle}."));
            continue;
        }

        let preferences = preferences_by_case(facts, family);
        if preferences.is_empty() {
            unmeasured.push(format!(
                "`{family}` was not measured: no case has decisions of both kinds of judges on both kinds of answers."
            ));
            continue;
        }

        compared.extend(preferences.iter().map(|(case, _)| case.clone()));
        let figure = mean_metric(
            ("self_preference", "own minus other answers, own minus neutral judges", "cases"),
            "Above 0, judges of this family favour its answers, compared with neutral judges on the same answers; on the scale of decisions, 0 to 1.",
            &preferences,
        );
        if let Ok(value) = figure.value {
            claims.push((
                p_of_preference(&preferences, &figure),
                conclusion(family, value, &figure, &preferences),
            ));
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
        ("noise", "decisions that changed when judged again", "decisions"),
        "The judges' noise: decisions that differ when the same call is repeated.",
        &repeat_flips(facts),
    );

    let p_values: Vec<f64> = claims.iter().map(|(p, _)| *p).collect();
    let decided = decide_together(&p_values, ALPHA);
    let shown = claims.into_iter().zip(decided).filter(|(_, decided)| decided.is_shown);
    let concluded: Vec<String> = shown.map(|((_, text), _)| text).collect();
    let says = if sections.is_empty() {
        "Nothing was measured.".to_owned()
    } else if concluded.is_empty() {
        format!(
            "No family of judges significantly prefers its own answers ({}).",
            format_count(compared.len(), "case", "cases")
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
fn find_obstacle(facts: &SelfPreferenceFacts, family: &String) -> Option<&'static str> {
    let own = facts.targets.values().flatten().any(|found| found == family);
    let others = facts.targets.values().flatten().any(|found| found != family);
    let mut answered = facts.targets.iter().filter(|(name, _)| facts.answered.contains(*name));
    let own_answered = answered.clone().any(|(_, found)| found.as_ref() == Some(family));
    let others_answered = answered.any(|(_, found)| found.as_ref().is_some_and(|found| found != family));
    let rivals = facts.judges.values().flatten().any(|found| found != family);

    let neutral = other_families(facts, family)
        .into_iter()
        .any(|other| facts.judges.values().flatten().any(|found| found != family && found != other));

    match (own, others, rivals, neutral) {
        (false, ..) => Some("no target is of this family"),
        (_, false, ..) => Some("every target is of this family; add others"),
        _ if !own_answered => Some("no target of this family gave an answer"),
        _ if !others_answered => Some("no target of another family gave an answer"),
        (_, _, false, _) => Some("every judge is of this family; add others"),
        (.., false) => Some(
            "every other judge is of the family of the other answers, and may prefer those; add a judge of a third family",
        ),
        _ => None,
    }
}

/// Returns the other families of targets.
fn other_families<'f>(facts: &'f SelfPreferenceFacts, family: &str) -> BTreeSet<&'f String> {
    facts.targets.values().flatten().filter(|found| *found != family).collect()
}

/// Returns the p-value of the null hypothesis of no preference, over cases. If all preferences are equal,
/// there is no spread, so it is the p-value of a sign test.
fn p_of_preference(preferences: &[(PreferenceCaseKey, f64)], figure: &MetricEstimate) -> f64 {
    let is_any = figure.value.is_ok_and(|value| value.abs() > TOLERANCE);
    match figure.interval {
        Err(UndefinedReason::NoSpread) if is_any => fair_coin(preferences.len() as u64, 0).p,
        Err(_) => 1.0,
        Ok(_) => p_of_no_effect(preferences),
    }
}

/// Returns the sentence for a significant preference.
fn conclusion(
    family: &str,
    value: f64,
    figure: &MetricEstimate,
    preferences: &[(PreferenceCaseKey, f64)],
) -> String {
    if figure.interval == Err(UndefinedReason::NoSpread) {
        let n = format_count(preferences.len(), "case", "cases");
        return format!("`{family}` judges favour their own family by {value:+.3} in each of {n}");
    }

    let does = if value > 0.0 { "prefer" } else { "mark down" };
    format!("`{family}` judges {does} answers of their own family ({value:+.3})")
}

/// Lists the decisions and answers that are missing from the metrics.
fn describe_missing(facts: &SelfPreferenceFacts) -> Vec<String> {
    let mut missing = Vec::new();
    if facts.ungraded > 0 {
        let decisions = format_count(facts.ungraded, "decision is", "decisions are");
        missing.push(format!("{decisions} missing, so excluded."));
    }

    if !facts.unanswered.is_empty() {
        let answers = format_count(facts.unanswered.len(), "answer is", "answers are");
        missing.push(format!("{answers} missing, because the target or its grading failed."));
    }

    missing
}

/// Lists the reasons why some effects can't be measured.
fn list_unmeasured(facts: &SelfPreferenceFacts) -> Vec<String> {
    let mut lines = Vec::new();
    if !facts.given.is_empty() {
        let answers = format_count(facts.given.len(), "answer came", "answers came");
        lines.push(format!("{answers} with the case, from an unknown model: name targets with `--target`."));
    }

    for (list, what) in [(&facts.judges, "judge"), (&facts.targets, "target")] {
        for (name, _) in list.iter().filter(|(_, family)| family.is_none()) {
            lines.push(format!(
                "The family of the {what} `{name}` is unknown: set it with `--family '{name}=FAMILY'`."
            ));
        }
    }

    lines
}

/// Suite and case.
type PreferenceCaseKey = (String, String);

/// Computes the preference in each case, averaged over the other families that gave answers.
fn preferences_by_case(facts: &SelfPreferenceFacts, family: &str) -> Vec<(PreferenceCaseKey, f64)> {
    let mut by_case: BTreeMap<PreferenceCaseKey, Vec<f64>> = BTreeMap::new();
    for other in other_families(facts, family) {
        for (case, preference) in contrast_families(facts, family, other) {
            by_case.entry(case).or_default().push(preference);
        }
    }

    by_case.into_iter().map(|(case, preferences)| (case, average(&preferences))).collect()
}

fn average(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// For each case: how much more than the neutral judges do a family's judges prefer its answers to another
/// family's?
fn contrast_families(
    facts: &SelfPreferenceFacts,
    family: &str,
    other: &str,
) -> Vec<(PreferenceCaseKey, f64)> {
    let mut by_case: BTreeMap<PreferenceCaseKey, [Vec<f64>; 2]> = BTreeMap::new();
    for ((suite, case, target, ..), by_judge) in &facts.values {
        let Some(Some(answer_family)) = facts.targets.get(target) else { continue };
        if answer_family != family && answer_family != other {
            continue;
        }

        let side = |wanted: fn(&str, &str, &str) -> bool| -> Vec<f64> {
            by_judge
                .iter()
                .filter(|(judge, _)| {
                    let judge_family = facts.judges.get(*judge).and_then(Option::as_deref);
                    judge_family.is_some_and(|judge| wanted(judge, family, other))
                })
                .map(|(_, values)| average(values))
                .collect()
        };

        let own = side(|judge, family, _| judge == family);
        let neutral = side(|judge, family, other| judge != family && judge != other);
        if !own.is_empty() && !neutral.is_empty() {
            let sides = by_case.entry((suite.clone(), case.clone())).or_default();
            sides[usize::from(answer_family != family)].push(average(&own) - average(&neutral));
        }
    }

    by_case
        .into_iter()
        .filter(|(_, [own, others])| !own.is_empty() && !others.is_empty())
        .map(|(case, [own, others])| (case, average(&own) - average(&others)))
        .collect()
}

/// Returns for each repeated decision whether it differs from the first one of the same judge on the same
/// cell.
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

#[cfg(test)]
mod tests {
    use super::*;
    use assize_stats::SeededRandom;
    use rand_core::RngCore;

    /// Judges of these families, over 60 cases with noisy scores. Each judge adds its preference to answers
    /// of its own family.
    fn planted(preferences: &[(&str, f64)], targets: &[&str]) -> SelfPreferenceFacts {
        let mut facts = SelfPreferenceFacts::default();
        let mut random = SeededRandom::new(4);
        let mut noise = move || (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64 * 0.2;
        for target in targets {
            facts.targets.insert((*target).to_owned(), Some((*target).to_owned()));
            facts.answered.insert((*target).to_owned());
        }
        for case in 0..60 {
            facts.cases.insert(("s".to_owned(), case.to_string()));
            for target in targets {
                let quality = 0.2 + noise();
                for (judge, preference) in preferences {
                    facts.judges.insert((*judge).to_owned(), Some((*judge).to_owned()));
                    let own = if judge == target { *preference } else { 0.0 };
                    let value = quality + own + noise();
                    let cell = (
                        "s".to_owned(),
                        case.to_string(),
                        (*target).to_owned(),
                        "g".to_owned(),
                        "c".to_owned(),
                    );
                    facts.values.entry(cell).or_default().insert((*judge).to_owned(), vec![value]);
                }
            }
        }

        facts
    }

    fn preference(report: &AuditReport, family: &str) -> f64 {
        let section = report.sections.iter().find(|section| section.title == family).expect("measured");
        section.figures[0].value.expect("a number")
    }

    #[test]
    fn rivals_that_prefer_their_own_accuse_nobody() {
        let report = self_preference_report(&planted(
            &[("gpt", 0.0), ("claude", 0.4), ("mistral", 0.0)],
            &["gpt", "claude"],
        ));
        assert!(preference(&report, "gpt").abs() < 0.05, "{report:?}");
        assert!((preference(&report, "claude") - 0.4).abs() < 0.05, "{report:?}");
        assert!(
            !report.says.contains("`gpt`") && report.says.contains("`claude` judges prefer"),
            "{}",
            report.says
        );
    }

    #[test]
    fn three_families_that_answer_and_judge_measure_each_other() {
        let who = ["gpt", "claude", "mistral"];
        let report =
            self_preference_report(&planted(&[("gpt", 0.0), ("claude", 0.3), ("mistral", 0.1)], &who));
        for (family, planted) in [("gpt", 0.0), ("claude", 0.3), ("mistral", 0.1)] {
            assert!((preference(&report, family) - planted).abs() < 0.05, "{family}: {report:?}");
        }
    }

    #[test]
    fn targets_that_gave_no_answer_are_there_all_the_same() {
        let judges = [("gpt", 0.0), ("claude", 0.0), ("mistral", 0.0)];
        let mut facts = planted(&judges, &["gpt", "claude"]);
        facts.values.retain(|(_, case, target, ..), _| target == "gpt" || case.len() > 1);
        let partial = self_preference_report(&facts);
        assert!(partial.says.contains("(50 cases)"), "ten cases have one answer: {}", partial.says);

        facts.values.retain(|(_, _, target, ..), _| target == "gpt");
        facts.answered.remove("claude");
        facts.unanswered.insert(("s".to_owned(), "0".to_owned(), "claude".to_owned()));
        let report = self_preference_report(&facts);
        assert!(
            report
                .unmeasured
                .iter()
                .any(|line| line.contains("`claude` was not measured: no target of this family gave"))
                && report
                    .unmeasured
                    .iter()
                    .any(|line| line.contains("`gpt` was not measured: no target of another")),
            "{report:?}"
        );
        assert_eq!(report.missing, ["1 answer is missing, because the target or its grading failed."]);
    }

    #[test]
    fn two_families_alone_measure_nothing() {
        let report = self_preference_report(&planted(&[("gpt", 0.0), ("claude", 0.4)], &["gpt", "claude"]));
        assert!(report.sections.is_empty() && report.worst.is_none(), "{report:?}");
        assert!(report.unmeasured.iter().any(|line| line.contains("a judge of a third")), "{report:?}");
    }
}
