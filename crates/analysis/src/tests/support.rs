//! Stored records, in the JSON form in which they are stored.

use crate::{CaseFact, NameTable, RunFacts};
use assize_store::{CaseRecord, JudgementRow, ResultRow};
use serde_json::{Value, json};

/// A case of a run; tests change the fields they care about.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) suite: String,
    pub(crate) trial: u32,
    pub(crate) cluster: Option<String>,
    pub(crate) tags: Vec<String>,
    pub(crate) hash: Option<String>,
    pub(crate) verdict: &'static str,
    pub(crate) score: Option<f64>,
    pub(crate) bounds: Option<(f64, f64)>,
    pub(crate) target: Option<String>,
    /// Id, text, weight and value of each criterion.
    pub(crate) criteria: Vec<(String, String, f64, Option<f64>)>,
    pub(crate) judge: &'static str,
    pub(crate) prompt: &'static str,
    pub(crate) judging: &'static str,
    pub(crate) pass_line: f64,
    /// Weight of the grader, and true if it is required.
    pub(crate) weighting: (f64, bool),
    /// Name, score, and text of a point, for graders other than rubrics.
    pub(crate) checks: Vec<(String, f64, String)>,
}

/// A case with this score, which passes from 0.8.
pub(crate) fn case(id: impl Into<String>, score: f64) -> Case {
    Case {
        id: id.into(),
        suite: "s".to_owned(),
        trial: 1,
        cluster: None,
        tags: Vec::new(),
        hash: None,
        verdict: if score >= 0.8 { "pass" } else { "fail" },
        score: Some(score),
        bounds: None,
        target: None,
        criteria: Vec::new(),
        judge: "openai:judge",
        prompt: "aaaa",
        judging: "per_criterion",
        pass_line: 0.8,
        weighting: (1.0, false),
        checks: Vec::new(),
    }
}

impl Case {
    /// Makes the case incomplete, with a score between these.
    pub(crate) fn undecided(mut self, low: f64, high: f64) -> Self {
        (self.verdict, self.score, self.bounds) = ("incomplete", None, Some((low, high)));
        self
    }

    pub(crate) fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// Adds a criterion that was met, unmet or not decided.
    pub(crate) fn criterion(mut self, id: &str, text: &str, value: Option<f64>) -> Self {
        self.criteria.push((id.to_owned(), text.to_owned(), 1.0, value));
        self
    }

    /// Adds a program grader with one finding in its own words; without one if `point` is empty.
    pub(crate) fn program(mut self, name: &str, score: f64, point: &str) -> Self {
        self.checks.push((name.to_owned(), score, point.to_owned()));
        self
    }

    fn outcome(value: Option<f64>) -> &'static str {
        match value {
            None => "ungraded",
            Some(value) if value > 0.5 => "met",
            Some(_) => "unmet",
        }
    }

    fn judge(&self) -> Value {
        json!({ "name": self.judge, "model": null, "version": null, "prompt_hash": self.prompt })
    }

    pub(crate) fn row(&self) -> ResultRow {
        let (low, high) = self.bounds.or(self.score.map(|score| (score, score))).unwrap_or((0.0, 1.0));
        let criteria: Vec<Value> = self
            .criteria
            .iter()
            .map(|(id, _, weight, value)| {
                json!({
                    "id": id, "outcome": Self::outcome(*value), "raw_score": null, "value": value, "weight": weight,
                    "gate": null, "reason": format!("{id} of {}", self.id), "evidence": [], "judge": self.judge(),
                })
            })
            .collect();
        let row = json!({
            "format": 2, "suite": self.suite, "case_id": self.id, "target": self.target, "repeat": self.trial,
            "tags": self.tags, "cluster": self.cluster, "case_hash": self.hash,
            "score": self.score, "score_low": low, "score_high": high, "coverage": 1.0, "verdict": self.verdict,
            "gates_failed": [],
            "graders": self.graders(&criteria),
            "answer": null, "error": null, "tokens": { "input": null, "cached": null, "output": null },
            "cost_usd": null, "duration_ms": 1,
        });
        serde_json::from_value(row).expect("a result row")
    }

    fn graders(&self, criteria: &[Value]) -> Vec<Value> {
        let rubric = json!({
            "name": "rubrics", "type": "rubrics", "weight": self.weighting.0, "score": self.score, "verdict": null,
            "error": null, "criteria": criteria,
        });
        let programs = self.checks.iter().map(|(name, score, point)| {
            let points = if point.is_empty() { Vec::new() } else { vec![json!({
                "id": "check-1", "outcome": Self::outcome(Some(*score)), "raw_score": null, "value": score, "weight": 1.0,
                "gate": null, "reason": "", "evidence": [], "judge": self.judge(),
            })] };
            json!({
                "name": name, "type": "code-grader", "weight": self.weighting.0, "score": score, "verdict": null,
                "error": null, "criteria": points,
            })
        });
        std::iter::once(rubric).chain(programs).collect()
    }

    fn check_decisions(&self) -> impl Iterator<Item = assize_rubric::CaseDecision> {
        self.checks.iter().map(|(name, score, point)| {
            let notes: Vec<Value> = if point.is_empty() {
                Vec::new()
            } else {
                vec![json!({ "text": point, "passed": *score > 0.5, "reason": "" })]
            };
            let row = json!({
                "suite": self.suite, "case_id": self.id, "target": self.target, "repeat": self.trial,
                "thresholds": { "pass": self.pass_line, "borderline": null }, "grader": name,
                "standing": { "weight": self.weighting.0, "required": self.weighting.1, "min_score": null, "negate": false },
                "criterion": {
                    "id": "grader", "text": "the grader as a whole", "weight": 1.0, "scale": "checklist", "gate": null,
                    "operator": "correctness", "may_not_apply": false,
                },
                "grader_result": { "score": score, "error": null, "notes": notes },
                "outcome": "graded", "raw_score": null, "reason": "", "confidence": null,
                "evidence": [], "judge": self.judge(), "ungraded": null, "attempts": 0,
                "tokens": { "input": null, "cached": null, "output": null }, "latency_ms": null,
                "cost_usd": null, "replies": [],
            });
            serde_json::from_value::<JudgementRow>(row).expect("a judgement row").into()
        })
    }

    pub(crate) fn record(&self) -> CaseRecord {
        let decisions = self
            .criteria
            .iter()
            .map(|(id, text, weight, value)| {
                let row = json!({
                    "suite": self.suite, "case_id": self.id, "target": self.target, "repeat": self.trial,
                    "thresholds": { "pass": self.pass_line, "borderline": null }, "grader": "rubrics",
                    "standing": {
                        "weight": self.weighting.0, "required": self.weighting.1, "min_score": null, "negate": false,
                    },
                    "criterion": {
                        "id": id, "text": text, "weight": weight, "scale": "checklist", "gate": null,
                        "operator": "correctness", "may_not_apply": false,
                    },
                    "outcome": Self::outcome(*value), "raw_score": null, "reason": "", "confidence": null,
                    "evidence": [], "judge": self.judge(), "ungraded": null, "attempts": 1,
                    "tokens": { "input": null, "cached": null, "output": null }, "latency_ms": null,
                    "cost_usd": null, "replies": [], "judging": self.judging,
                });
                serde_json::from_value::<JudgementRow>(row).expect("a judgement row").into()
            })
            .chain(self.check_decisions())
            .collect();
        CaseRecord { result: self.row(), decisions }
    }
}

/// A run of these cases.
pub(crate) fn run(label: &str, cases: &[Case], names: &mut NameTable) -> RunFacts {
    let facts = cases.iter().map(|case| CaseFact::from_record(&case.record(), names)).collect();
    RunFacts::new(label.to_owned(), facts, names).expect("one answer a case")
}

/// Cases `c0`, `c1`, … with these scores.
pub(crate) fn scored(scores: &[f64]) -> Vec<Case> {
    scores.iter().enumerate().map(|(at, score)| case(format!("c{at}"), *score)).collect()
}

/// Cases with these verdicts.
pub(crate) fn passing(passes: &[bool]) -> Vec<Case> {
    scored(&passes.iter().map(|pass| f64::from(u8::from(*pass))).collect::<Vec<_>>())
}

#[track_caller]
pub(crate) fn close(found: Option<f64>, expected: f64) {
    let found = found.expect("a figure");
    assert!((found - expected).abs() < 1e-6, "{found} instead of {expected}");
}
