//! Consistency check of a stored row against its decisions.

use assize_rubric::{CaseDecision, OutcomeKind, TOLERANCE, Verdict, panel_decision};
use assize_store::{CaseRecord, GateRow, criterion_rows};

use super::model::CaseExplanation;
use crate::sanitize;

/// Lists the differences between the stored row and the recomputation, a sentence each.
pub(crate) fn find_disagreements(record: &CaseRecord, computed: &CaseExplanation) -> Vec<String> {
    let stored = &record.result;
    let mut found = Vec::new();
    let figures = computed.figures;
    compare_numbers(&mut found, "score", stored.score, figures.score);
    compare_numbers(&mut found, "lowest possible score", stored.score_low, figures.score_low);
    compare_numbers(&mut found, "highest possible score", stored.score_high, figures.score_high);
    compare_numbers(&mut found, "coverage", stored.coverage, figures.coverage);
    compare_verdicts(&mut found, "verdict", Some(stored.verdict), Some(computed.verdict));

    for gate in &stored.gates_failed {
        if !computed.gates_failed.contains(gate) {
            found.push(format!("{} is stored as failed, but the decisions pass it", gate_name(gate)));
        }
    }

    for gate in &computed.gates_failed {
        if !stored.gates_failed.contains(gate) {
            found.push(format!("the decisions fail {}, but it is not stored as failed", gate_name(gate)));
        }
    }

    for part in &computed.graders {
        let name = sanitize::sanitize_name(&part.name);
        let Some(row) = stored.graders.iter().find(|grader| grader.name == part.name) else {
            found.push(format!("decisions of grader `{name}`, which is not in the stored row"));
            continue;
        };
        compare_numbers(&mut found, &format!("score of grader `{name}`"), row.score, part.figures.score);
        compare_verdicts(&mut found, &format!("verdict of grader `{name}`"), row.verdict, part.verdict);

        if part.whole.is_some() {
            let rows: Vec<_> = record.decisions.iter().filter(|row| *row.grader == *part.name).collect();
            if row.criteria != criterion_rows(&rows) {
                found.push(format!("the stored findings of grader `{name}` differ from its decision"));
            }

            continue;
        }

        if row.criteria.len() != part.criteria.len() {
            let (here, there) = (row.criteria.len(), part.criteria.len());
            found
                .push(format!("grader `{name}` has {here} criteria in the stored row and {there} decisions"));
            continue;
        }

        for (row, part) in row.criteria.iter().zip(&part.criteria) {
            let (stored, decided) = (row.score_out_of_ten(), part.of_ten);
            let same = stored
                .zip(decided)
                .map_or(stored.is_none() && decided.is_none(), |(a, b)| (a - b).abs() <= TOLERANCE);
            if *row.id != *part.id || row.outcome != part.outcome || !same {
                found.push(format!(
                    "criterion `{}` of grader `{name}` is stored as {}; the decision says {} of `{}`",
                    sanitize::sanitize_name(&row.id),
                    outcome_text(row.outcome, stored),
                    outcome_text(part.outcome, decided),
                    sanitize::sanitize_name(&part.id),
                ));
            }
        }
    }

    for row in &record.decisions {
        let (Some(panel), Some(criterion)) = (&row.panel, row.criterion()) else { continue };
        let votes: Vec<&CaseDecision> =
            record.decisions.iter().filter(|vote| vote.is_vote() && vote.is_about_same(row)).collect();
        let lead_to = panel_decision(&votes, panel.rule, panel.ties).outcome(&criterion.scale);
        let stored = row.decision.outcome();
        if lead_to != stored {
            let name = sanitize::sanitize_name(criterion.id.as_str());
            found.push(format!(
                "criterion `{name}` is stored as {}; its votes lead to {}",
                outcome_text(stored.kind(), stored.points()),
                outcome_text(lead_to.kind(), lead_to.points()),
            ));
        }
    }

    if record.decisions.iter().any(|row| Some(row.thresholds) != computed.thresholds) {
        found.push("the decisions name different thresholds; the first were used".to_owned());
    }

    found
}

fn compare_numbers(found: &mut Vec<String>, what: &str, stored: Option<f64>, computed: Option<f64>) {
    let same = match (stored, computed) {
        (Some(stored), Some(computed)) => (stored - computed).abs() <= TOLERANCE,
        (stored, computed) => stored.is_none() && computed.is_none(),
    };
    if !same {
        let text = |value: Option<f64>| value.map_or_else(|| "unknown".to_owned(), |value| value.to_string());
        found.push(format!(
            "the stored {what} is {}; the decisions lead to {}",
            text(stored),
            text(computed)
        ));
    }
}

fn compare_verdicts(found: &mut Vec<String>, what: &str, stored: Option<Verdict>, computed: Option<Verdict>) {
    if stored != computed {
        let text = |verdict: Option<Verdict>| verdict.map_or("none", Verdict::name);
        found.push(format!(
            "the stored {what} is {}; the decisions lead to {}",
            text(stored),
            text(computed)
        ));
    }
}

fn outcome_text(outcome: OutcomeKind, points: Option<f64>) -> String {
    points.map_or_else(|| outcome.name().to_owned(), crate::mark::format_raw_score)
}

fn gate_name(gate: &GateRow) -> String {
    let name = gate.criterion.as_ref().unwrap_or(&gate.grader);
    format!("the gate of `{}` ({})", sanitize::sanitize_name(name), sanitize::sanitize_name(&gate.rule))
}
