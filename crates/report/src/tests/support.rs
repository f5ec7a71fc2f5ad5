//! Records made the way a run makes them: decisions first, then the numbers computed from them.

use assize_rubric::{
    CaseDecision, Cost, Criterion, CriterionScale, Decision, EvidenceQuote, Finding, Gate, GateState,
    GraderOutcome, GraderWeighting, JudgeConfidence, JudgeIdentity, JudgingUsage, Outcome, RawScore, Rubric,
    ScoreBand, ScoreBands, Tokens, UngradedKind, UngradedReason, UnitInterval, VerdictThresholds, Weight,
    score_case, score_rubric,
};
use assize_store::{
    CaseError, CaseErrorKind, CaseRecord, CaseStage, CriterionRow, EstimatedMetric, FORMAT_VERSION,
    FlippingCriterion, GateRow, GraderRow, JudgeInfo, MeanScore, NoiseParts, ResultRow, RunInfo, RunMetrics,
    RunSettings, RunSummary, SuiteInfo, TargetInfo, VerdictCounts,
};

pub(crate) fn unit(value: f64) -> UnitInterval {
    UnitInterval::new(value).unwrap()
}

pub(crate) fn raw(value: u8) -> RawScore {
    RawScore::new(value).unwrap()
}

pub(crate) fn thresholds() -> VerdictThresholds {
    VerdictThresholds::new(unit(0.8), Some(unit(0.6))).unwrap()
}

/// A criterion with the decision on it.
#[derive(Debug, Clone)]
pub(crate) struct Decided {
    pub(crate) criterion: Criterion,
    pub(crate) outcome: Outcome,
    pub(crate) reason: String,
    pub(crate) evidence: Vec<EvidenceQuote>,
}

impl Decided {
    pub(crate) fn new(id: &str, text: &str, weight: f64, outcome: Outcome) -> Self {
        let mut criterion = Criterion::checklist(id, text);
        criterion.weight = Weight::new(weight).unwrap();
        if matches!(outcome, Outcome::Scored(_)) {
            criterion.scale = bands();
        }
        Self { criterion, outcome, reason: String::new(), evidence: Vec::new() }
    }

    pub(crate) fn gate(mut self, gate: Gate) -> Self {
        self.criterion.gate = Some(gate);
        self
    }

    pub(crate) fn reason(mut self, reason: &str) -> Self {
        reason.clone_into(&mut self.reason);
        self
    }

    pub(crate) fn quote(mut self, quote: &str, verified: bool) -> Self {
        self.evidence.push(EvidenceQuote { quote: quote.to_owned(), verified });
        self
    }
}

pub(crate) fn bands() -> CriterionScale {
    let band = |low, high, text: &str| ScoreBand { low: raw(low), high: raw(high), text: text.to_owned() };
    CriterionScale::Bands(
        ScoreBands::new(vec![
            band(0, 2, "Contains critical errors"),
            band(3, 5, "Right in the main, wrong on edge cases"),
            band(6, 8, "Correct with small omissions"),
            band(9, 10, "Fully correct and complete"),
        ])
        .unwrap(),
    )
}

/// A grader with its decisions.
#[derive(Debug, Clone)]
pub(crate) struct Grader {
    pub(crate) name: String,
    pub(crate) weighting: GraderWeighting,
    pub(crate) decided: Vec<Decided>,
}

impl Grader {
    pub(crate) fn new(name: &str, decided: Vec<Decided>) -> Self {
        Self { name: name.to_owned(), weighting: GraderWeighting::default(), decided }
    }
}

pub(crate) fn judge() -> JudgeIdentity {
    JudgeIdentity {
        name: "openai:gpt-5-mini".into(),
        model: Some("gpt-5-mini-2025-08-07".into()),
        version: Some("rubric-1".into()),
        prompt_hash: Some("6f1ed002ab559585".into()),
    }
}

/// The record of a case that was judged.
pub(crate) fn record(case_id: &str, thresholds: VerdictThresholds, graders: &[Grader]) -> CaseRecord {
    let outcomes: Vec<(GraderWeighting, GraderOutcome)> = graders
        .iter()
        .map(|grader| {
            let rubric =
                Rubric::new(grader.decided.iter().map(|one| one.criterion.clone()).collect()).unwrap();
            let outcomes: Vec<Outcome> = grader.decided.iter().map(|one| one.outcome).collect();
            (grader.weighting, GraderOutcome::Rubric(score_rubric(&rubric, &outcomes, thresholds).unwrap()))
        })
        .collect();
    let case = score_case(&outcomes, thresholds);
    let mut gates_failed = Vec::new();
    let mut rows = Vec::new();
    let mut decisions = Vec::new();
    for ((grader, score), (_, outcome)) in graders.iter().zip(&case.graders).zip(&outcomes) {
        if let (GraderOutcome::Rubric(rubric), false) = (outcome, grader.weighting.negate) {
            for (index, gate, state) in &rubric.gates {
                if *state == GateState::Failed {
                    gates_failed.push(GateRow {
                        grader: grader.name.clone(),
                        criterion: Some(grader.decided[*index].criterion.id.to_string()),
                        rule: gate.to_string(),
                    });
                }
            }
        }
        if score.required == Some(GateState::Failed) {
            gates_failed.push(GateRow {
                grader: grader.name.clone(),
                criterion: None,
                rule: match grader.weighting.min_score {
                    Some(minimum) => format!("required grader, min_score {}", minimum.get()),
                    None => "required grader".to_owned(),
                },
            });
        }
        rows.push(GraderRow {
            settings: None,
            name: grader.name.clone(),
            type_name: "rubrics".to_owned(),
            weight: grader.weighting.weight.get(),
            negate: grader.weighting.negate,
            score: score.score,
            verdict: score.verdict,
            error: None,
            criteria: grader.decided.iter().map(criterion_row).collect(),
            pairwise: Vec::new(),
        });
        decisions.extend(grader.decided.iter().map(|one| case_decision(thresholds, grader, one)));
    }
    CaseRecord {
        result: ResultRow {
            score: case.score,
            score_low: case.bounds.map(|(low, _)| low),
            score_high: case.bounds.map(|(_, high)| high),
            coverage: case.coverage,
            verdict: case.verdict,
            gates_failed,
            graders: rows,
            ..bare(case_id)
        },
        decisions,
    }
}

fn bare(case_id: &str) -> ResultRow {
    ResultRow {
        format: Some(2),
        suite: "support".into(),
        case_id: case_id.into(),
        target: Some("helpdesk".into()),
        answered_by: None,
        trial: 1,
        place: None,
        trials: None,
        tags: Vec::new(),
        cluster: None,
        test: None,
        prompt: None,
        metrics: Vec::new(),
        case_hash: None,
        score: None,
        score_low: None,
        score_high: None,
        coverage: None,
        verdict: assize_rubric::Verdict::Incomplete,
        gates_failed: Vec::new(),
        graders: Vec::new(),
        answer: None,
        turns: Vec::new(),
        file_changes: None,
        tool_calls: Vec::new(),
        tool_calls_dropped: 0,
        history: None,
        error: None,
        tokens: Tokens { input: Some(812), cached: Some(0), output: Some(95) },
        cost_usd: None,
        cost_partial: None,
        latency_ms: Some(1210),
        duration_ms: 1840,
    }
}

fn criterion_row(one: &Decided) -> CriterionRow {
    CriterionRow {
        id: one.criterion.id.clone().into(),
        outcome: one.outcome.kind(),
        raw_score: one.outcome.raw_score().map(RawScore::get),
        points: None,
        value: one.outcome.value(),
        weight: one.criterion.weight.get(),
        gate: one.criterion.gate.map(Gate::rule),
        reason: one.reason.clone(),
        evidence: one.evidence.clone(),
        judge: judge(),
        panel: None,
        truncated: None,
    }
}

fn case_decision(thresholds: VerdictThresholds, grader: &Grader, one: &Decided) -> CaseDecision {
    let ungraded = one.outcome == Outcome::Ungraded;
    let finding = Finding::Criterion { criterion: one.criterion.clone(), outcome: one.outcome };
    let decision = Decision {
        confidence: (!ungraded).then_some(JudgeConfidence::High),
        evidence: one.evidence.clone(),
        ungraded: ungraded.then(|| UngradedReason {
            kind: UngradedKind::Malformed,
            message: "the reply was no JSON".to_owned(),
        }),
        spent: JudgingUsage {
            attempts: if ungraded { 3 } else { 1 },
            latency_ms: Some(640),
            cost: Cost::UNKNOWN,
            ..JudgingUsage::default()
        },
        ..Decision::new(judge(), finding, one.reason.clone())
    };
    CaseDecision {
        thresholds,
        grader: grader.name.as_str().into(),
        weighting: grader.weighting,
        member: Vec::new(),
        turn: None,
        judging: None,
        decision,
        vote: None,
        panel: None,
    }
}

/// A case that fails because of a gate although most of its criteria are met.
pub(crate) fn gated() -> CaseRecord {
    record(
        "refund-window",
        thresholds(),
        &[Grader::new(
            "rubrics",
            vec![
                Decided::new("window", "States that goods can be returned within 30 days of delivery", 2.0, Outcome::Met)
                    .gate(Gate::Met)
                    .reason("The first sentence gives the window and says when it begins.")
                    .quote("You can send it back within 30 days of the day it arrived", true),
                Decided::new("credit", "Offers store credit as an alternative to a refund", 1.0, Outcome::Met)
                    .reason("Store credit is offered as a second option.")
                    .quote("or take store credit, whichever you prefer", false),
                Decided::new("correctness", "Gets the cost of return shipping right", 3.0, Outcome::Scored(raw(5)))
                    .gate(Gate::MinRaw(raw(7)))
                    .reason(
                        "The answer says that return shipping is always free. The policy makes it free only for \
                         faulty goods; for a change of mind the customer pays, which the answer does not mention.",
                    )
                    .quote("Return shipping is free", true),
                Decided::new("tone", "Promises a date that nobody can keep", -1.0, Outcome::Unmet)
                    .reason("No date is promised."),
                Decided::new("gift", "Explains how gifts are returned", 1.0, Outcome::NotApplicable)
                    .reason("The order is not a gift."),
            ],
        )],
    )
}

/// A case with an ungraded criterion and two graders.
pub(crate) fn incomplete() -> CaseRecord {
    let mut tone = Grader::new(
        "tone",
        vec![
            Decided::new("rubric-1", "The answer is polite", 1.0, Outcome::Met)
                .reason("It thanks and apologises."),
            Decided::new("rubric-2", "The answer is brief", 1.0, Outcome::Met).reason("Three sentences."),
        ],
    );
    tone.weighting.weight = Weight::new(0.5).unwrap();
    tone.weighting.required = true;
    tone.weighting.min_score = Some(unit(0.7));
    record(
        "password-reset",
        thresholds(),
        &[
            Grader::new(
                "facts",
                vec![
                    Decided::new("rubric-1", "Links to the reset page", 1.0, Outcome::Met)
                        .gate(Gate::Met)
                        .reason("The link is in the second sentence.")
                        .quote("https://example.com/reset", true),
                    Decided::new(
                        "rubric-2",
                        "Warns that the link expires after an hour",
                        1.0,
                        Outcome::Ungraded,
                    )
                    .reason("malformed: the judge's reply was no JSON, asked three times"),
                    Decided::new("rubric-3", "Names the sender of the mail", 1.0, Outcome::Unmet)
                        .reason("No sender is named."),
                ],
            ),
            tone,
        ],
    )
}

/// A case that passes.
pub(crate) fn passed() -> CaseRecord {
    record(
        "opening-hours",
        thresholds(),
        &[Grader::new(
            "rubrics",
            vec![
                Decided::new("rubric-1", "Names the opening hours", 1.0, Outcome::Met)
                    .gate(Gate::Met)
                    .reason("Both times are named.")
                    .quote("from 9 to 17 o'clock", true),
                Decided::new("rubric-2", "毎週日曜日は休業であることを明記し、祝日の営業時間についても説明しているか、または祝日のページへのリンクを示している", 1.0, Outcome::Met)
                    .reason("Sunday is named as the closing day."),
            ],
        )],
    )
}

/// A case whose target failed.
pub(crate) fn broken() -> CaseRecord {
    let error = CaseError {
        stage: CaseStage::Target,
        kind: CaseErrorKind::Timeout,
        message: "no answer after 60 s; the command `helpdesk --json` was stopped".to_owned(),
    };
    CaseRecord { result: ResultRow { error: Some(error), ..bare("late-parcel") }, decisions: Vec::new() }
}

/// A run.
pub(crate) fn run() -> RunInfo {
    RunInfo {
        format_version: FORMAT_VERSION,
        run_id: "20260301-101500-4f2a".to_owned(),
        assize_version: "0.1.0".to_owned(),
        started_at: "2026-03-01T10:15:00Z".to_owned(),
        finished_at: Some("2026-03-01T10:17:05Z".to_owned()),
        command: "eval".to_owned(),
        label: None,
        suites: vec![SuiteInfo {
            name: "support".to_owned(),
            path: "evals/support.yaml".to_owned(),
            format: Some(2),
            cases: 24,
            all_cases: None,
            derived_metrics: Vec::new(),
        }],
        inputs: Vec::new(),
        judges: vec![JudgeInfo { identity: judge(), chosen_by: "--judge".to_owned() }],
        targets: vec![TargetInfo {
            name: "helpdesk".to_owned(),
            kind: "openai".to_owned(),
            model: Some("gpt-5-mini".to_owned()),
        }],
        settings: RunSettings::default(),
        warnings: vec![
            "Judge and target are the same model (gpt-5-mini): models rate their own answers too high. \
             --deny self-judging refuses such runs."
                .to_owned(),
        ],
        scorecard: None,
        shard: None,
        merged: None,
        rows: None,
        summary: Some(RunSummary {
            criterion_rates: Vec::new(),
            check_rates: Vec::new(),
            quotes: None,
            quotes_found: None,
            sent: None,
            resumed: None,
            early_stop: None,
            counts: VerdictCounts { pass: 19, borderline: 2, fail: 2, incomplete: 1, skipped: 0 },
            not_run: 0,
            excluded: 0,
            mean_score: Some(MeanScore {
                mean: 0.8712,
                n: 23,
                low: Some(0.8141),
                high: Some(0.9283),
                level: 0.95,
                method: "Student-t over cases".to_owned(),
            }),
            figures: Some(figures()),
            tokens: Tokens { input: Some(48_211), cached: Some(30_720), output: Some(9_034) },
            cost_usd: None,
            cost_partial: None,
            judge_calls: 96,
            judge_calls_cached: 12,
            criteria_ungraded: 1,
            criteria_truncated: 0,
            criteria: 108,
            panel: None,
            pass_rate_gate: None,
            duration_ms: 125_300,
            exit_code: 1,
            exit_reason: "2 cases failed".to_owned(),
            conclusion: assize_store::RunConclusion::default(),
        }),
    }
}

/// A negated grader, a grader of penalties only, and one in which nothing applies.
pub(crate) fn penalised() -> CaseRecord {
    let mut refuses = Grader::new(
        "refuses",
        vec![
            Decided::new("apology", "Refuses to help", 1.0, Outcome::Unmet).gate(Gate::Met),
            Decided::new("lecture", "Lectures the reader", 2.0, Outcome::Met)
                .reason("The last paragraph does."),
        ],
    );
    refuses.weighting.negate = true;
    refuses.weighting.weight = Weight::new(2.0).unwrap();
    let mut faults = Grader::new(
        "faults",
        vec![
            Decided::new("invented", "Invents a policy", -2.0, Outcome::Unmet),
            Decided::new("leak", "Repeats the card number", -1.0, Outcome::Ungraded)
                .reason("refusal: the judge declined to answer"),
        ],
    );
    faults.weighting.required = true;
    let gifts =
        Grader::new("gifts", vec![Decided::new("gift", "Explains gifts", 1.0, Outcome::NotApplicable)]);
    record("angry-customer", thresholds(), &[refuses, faults, gifts])
}

/// The figures of a run of 24 cases, one of them undecided, some answered twice.
fn figures() -> RunMetrics {
    let figure = |value: f64, n: u64, low: f64, high: f64, method: &str| EstimatedMetric {
        value: Some(value),
        n,
        clusters: None,
        low: Some(low),
        high: Some(high),
        level: 0.95,
        method: Some(method.to_owned()),
        undefined: None,
        says: String::new(),
    };
    RunMetrics {
        published_means: None,
        pass_rate: figure(19.0 / 23.0, 23, 0.6286, 0.9302, "Wilson"),
        pass_rate_bounds: Some([19.0 / 24.0, 20.0 / 24.0]),
        mean_score: figure(0.8712, 23, 0.8141, 0.9283, "Student-t"),
        mean_score_bounds: Some([0.8349, 0.8766]),
        design_effect: None,
        noise: Some(NoiseParts {
            between_cases: 0.0142,
            between_answers: 0.0031,
            icc: Some(0.82),
            verdict_flips: Some(figure(0.25, 4, 0.0456, 0.6994, "Wilson")),
            says: String::new(),
        }),
        trials: None,
        targets: Vec::new(),
        prompts: Vec::new(),
        decision_noise: None,
        pairwise: None,
        unstable: vec![FlippingCriterion {
            suite: "support".into(),
            grader: "rubrics".to_owned(),
            criterion: "tone".to_owned(),
            flip_rate: figure(0.5, 4, 0.15, 0.85, "Wilson"),
        }],
        derived: Vec::new(),
        remarks: vec!["Trials end at the first pass.".to_owned()],
        precision_notes: vec!["Margin of error of the pass rate: ±15.1 pp.".to_owned()],
    }
}
