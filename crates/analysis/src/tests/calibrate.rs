//! Judged items of stored runs.

use crate::calibrate::{
    CalibrationMaterial, DecisionValue, JudgeReadOptions, LabelInclusion, MaterialError, from_run,
};
use crate::labels::{LabelReadOptions, read_rows};
use assize_rubric::{
    BenchmarkFinding, BenchmarkState, CaseDecision, DecidedBy, Decision, GraderFinding, GraderFindingKind,
    JudgeIdentity, UnitInterval, Vote,
};
use assize_store::{FORMAT_VERSION, RunInfo};
use serde_json::json;

use crate::tests::support::case;

fn info() -> RunInfo {
    let info = json!({
        "format_version": FORMAT_VERSION, "run_id": "run", "assize_version": "0", "started_at": "then",
        "finished_at": null, "command": "scorecard run", "suites": [], "inputs": [], "judges": [], "targets": [],
        "settings": {
            "workers": 1, "threshold": null, "borderline": null, "judging": "per_criterion", "filter": [],
            "tags": [], "keep_going": false, "other": {},
        },
        "warnings": [], "summary": null,
    });
    serde_json::from_value(info).expect("a run")
}

fn decision(judge: &str, pass: bool, kind: GraderFindingKind) -> Decision {
    let score = if pass { UnitInterval::ONE } else { UnitInterval::ZERO };
    let finding = GraderFinding { kind, ..GraderFinding::new(Some(score), Vec::new()) };
    Decision::new(JudgeIdentity { name: judge.into(), ..JudgeIdentity::default() }, finding, "")
}

fn benchmark(pass: bool) -> GraderFindingKind {
    GraderFindingKind::Benchmark(BenchmarkFinding {
        state: BenchmarkState::Scored,
        pass: Some(pass),
        raw_score: None,
        scaled: false,
        decided_by: Some(DecidedBy::Judge),
        seen: None,
        may_not_apply: false,
    })
}

#[test]
fn the_decision_of_a_panel_counts_and_its_votes_do_not() {
    let mut record = case("a", 1.0).criterion("k", "x", Some(1.0)).record();
    let row = record.decisions.remove(0);
    for (grader, is_benchmark) in [("B1", true), ("whole", false)] {
        let kind = |pass| if is_benchmark { benchmark(pass) } else { GraderFindingKind::Score };
        let decided = |judge, pass, vote: Option<u32>| CaseDecision {
            grader: grader.into(),
            decision: decision(judge, pass, kind(pass)),
            vote: vote.map(|judge| Vote { judge, repeat: 1, weight: 1.0 }),
            ..row.clone()
        };

        record.decisions.extend([
            decided("panel", true, None),
            decided("openai:a", true, Some(1)),
            decided("openai:b", true, Some(2)),
            decided("openai:c", false, Some(3)),
        ]);
    }

    let found = from_run(&info(), [Ok(record)]).expect("readable");
    assert_eq!(found.other_graders, 1);
    assert_eq!(found.material.judge.as_deref(), Some("panel"));
    let decisions: Vec<_> =
        found.material.items.iter().map(|item| item.judge.as_ref().map(|one| one.said)).collect();
    assert_eq!(decisions, [Some(DecisionValue::Verdict(true))]);
}

/// Reads the rows of a table in all orders, and returns the material of each.
fn in_all_orders(header: &str, rows: &[&str]) -> Vec<Result<CalibrationMaterial, MaterialError>> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("labels.csv");
    let mut orders: Vec<Vec<&str>> = vec![Vec::new()];
    for row in rows {
        let longer = orders
            .iter()
            .flat_map(|order| (0..=order.len()).map(|at| [&order[..at], &[*row], &order[at..]].concat()));
        orders = longer.collect();
    }

    let reading = JudgeReadOptions { threshold: 0.5, rater: None, likeliest: false };
    let read = |order: &Vec<&str>| {
        std::fs::write(&file, format!("{header}\n{}\n", order.join("\n"))).expect("written");
        let rows = read_rows(std::slice::from_ref(&file), &LabelReadOptions::default()).expect("rows");
        CalibrationMaterial::from_rows(&rows, &reading, |_| LabelInclusion::Included)
    };
    orders.iter().map(read).collect()
}

#[test]
fn the_later_label_of_a_person_counts_in_any_order_of_rows() {
    let (met, unmet) = (DecisionValue::Verdict(true), DecisionValue::Verdict(false));
    let header = "case,criterion,judge,label,who,at,adjudicates";
    for found in in_all_orders(
        header,
        &[
            "a,k,met,met,ann,2026-01-02T12:00:00+02:00,",
            "a,k,met,unmet,Ann,2026-01-02 11:00,",
            "a,k,met,met,ben,2026-01-01,",
            "a,k,met,met,ben,,",
            "a,k,met,met,cleo,2026-01-03,yes",
            "a,k,met,unmet,cleo,2026-01-04,yes",
        ],
    ) {
        let material = found.expect("times that order the labels");
        let [item] = material.items.as_slice() else { panic!("one item") };
        let mut people: Vec<_> =
            item.people().iter().map(|(who, said)| (who.as_deref().map(str::to_lowercase), *said)).collect();
        people.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(people, [(Some("ann".to_owned()), unmet), (Some("ben".to_owned()), met)]);
        assert_eq!(item.truths().collect::<Vec<_>>(), [unmet], "the later adjudication");
    }

    for (one, other) in [
        ("a,k,met,met,ann,,", "a,k,met,unmet,ann,,"),
        ("a,k,met,met,ann,2026-01-01,", "a,k,met,unmet,ann,,"),
        ("a,k,met,met,ann,2026-01-01,", "a,k,met,unmet,ann,2026-01-01T00:00:00Z,"),
        ("a,k,met,met,ann,monday,", "a,k,met,unmet,ann,tuesday,"),
        ("a,k,met,met,ann,,yes", "a,k,met,unmet,ann,,yes"),
    ] {
        for found in in_all_orders(header, &[one, other]) {
            let MaterialError::Problems(problems) = found.expect_err("no order") else { panic!("problems") };
            assert!(problems[0].message.contains("no times (`at`) say which is the later"), "{problems:?}");
        }
    }
}
