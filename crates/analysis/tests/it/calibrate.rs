//! Judged items of stored runs.

use assize_analysis::calibrate::{DecisionValue, from_run};
use assize_rubric::{
    BenchmarkFinding, BenchmarkState, CaseDecision, DecidedBy, Decision, GraderFinding, GraderFindingKind,
    JudgeIdentity, UnitInterval, Vote,
};
use assize_store::{FORMAT_VERSION, RunInfo};
use serde_json::json;

use crate::support::case;

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
