//! The conclusion of a run. Every output takes the exit code, the reason and the notes with them from here, and adds no
//! others.
//!
//! Design: `docs/design/scorecards.md`.

use assize_rubric::{LabelAccount, MissingPolicy, ScorecardNodeKind, UnitInterval, at_least};
use assize_store::{BlockingGate, DisputedDecision, RunConclusion, RunInfo, RunSettings, RunSummary};

use crate::exit::ExitStatus;
use crate::facts::RunFacts;
use crate::scorecard::{ScorecardRun, ScorecardTreeError, ScoredCard};

/// Setting of a scorecard run: how cases without a result count, if not as unknown.
const TREAT_MISSING: &str = "treat_missing";
/// Setting of a scorecard run: the smallest share of the weight that results must cover.
const MIN_COVERAGE: &str = "min_coverage";
/// Setting of a scorecard run: a weight set other than the one that the index names.
const WEIGHTS: &str = "weights";

/// Exit code of a run, its reason, and the notes that a reader must see with them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunResult {
    /// Exit code.
    pub exit: ExitStatus,
    /// Reason for the exit code.
    pub reason: String,
    /// Scope, blocking gates, disputes, and options that make the result weaker.
    pub conclusion: RunConclusion,
}

impl RunResult {
    /// Writes the result into a summary.
    #[must_use]
    pub fn into_summary(self, summary: RunSummary) -> RunSummary {
        RunSummary {
            exit_code: self.exit.code(),
            exit_reason: self.reason,
            conclusion: self.conclusion,
            ..summary
        }
    }
}

/// Concludes a run. `exit` and `reason` describe its cases, or its scorecard, as far as they were run; `not_run` counts
/// selected cases without a result.
///
/// A selection of cases can't decide about a release, so the run of a scorecard with `--filter` or `--tag` is
/// incomplete. A shard is concluded when it is merged.
pub fn conclude_run(
    info: &RunInfo,
    exit: ExitStatus,
    reason: String,
    not_run: usize,
    card: Option<(&ScorecardRun, &ScoredCard<'_>)>,
) -> RunResult {
    let selection = describe_selection(info);
    let decides_nothing = info.scorecard.is_some() && info.shard.is_none() && selection.is_some();
    let (exit, reason) = if decides_nothing {
        let why = "a selection of cases decides nothing about the scorecard";
        match exit {
            ExitStatus::Passed => (ExitStatus::Incomplete, format!("incomplete: {why}; {reason}")),
            _ => (ExitStatus::strongest([exit, ExitStatus::Incomplete]), format!("{reason}; {why}")),
        }
    } else {
        (exit, reason)
    };

    let mut scope: Vec<String> = selection.into_iter().collect();
    if let Some(shard) = &info.shard {
        scope.push(format!("shard {} of {}", shard.number, shard.count));
    }
    if let Some(merged) = info.merged.as_ref().filter(|merged| !merged.missing.is_empty()) {
        let present = (merged.count as usize).saturating_sub(merged.missing.len());
        scope.push(format!("{present} of {} shards", merged.count));
    }
    if not_run > 0 {
        // A run passes without some of its cases only if they could not have changed that.
        let why = if exit == ExitStatus::Passed { "not needed for the result" } else { "not run" };
        scope.push(format!("{not_run} {why}"));
    }
    if info.finished_at.is_none() {
        scope.push("the cases that were finished before the run stopped".to_owned());
    }

    let conclusion = RunConclusion {
        scope: (!scope.is_empty()).then(|| scope.join(", ")),
        blocked_by: card.map(|(run, scored)| blocking_gates(run, scored)).unwrap_or_default(),
        disputed: card.map(|(run, _)| disputed_decisions(run)).unwrap_or_default(),
        relaxed_by: relaxing_options(info),
        anonymous_labels: card.map(|(run, _)| anonymous_labels(run)).unwrap_or_default(),
    };

    RunResult { exit, reason, conclusion }
}

/// The result of a run in one line, for lists: a word, then notes.
pub fn brief_result(info: &RunInfo) -> String {
    let Some(summary) = &info.summary else { return "not finished".to_owned() };
    let word = ExitStatus::from_code(summary.exit_code).map_or("unknown", ExitStatus::word);
    let parts = std::iter::once(word.to_owned()).chain(summary.conclusion.brief());
    parts.collect::<Vec<_>>().join(", ")
}

impl RunFacts {
    /// Adds the facts that are not in the rows. `info` must have the run's current conclusion.
    #[must_use]
    pub fn of_run(mut self, info: &RunInfo) -> Self {
        self.ended_by_result = info.ended_by_result();
        self.has_judges = !info.judges.is_empty();
        self.result = brief_result(info);
        self
    }
}

/// Notes to show with the metrics of a run when they stand next to another run's metrics: its conclusion, and that it is
/// unfinished. `verb` says how the finished cases are used, such as `compared`.
pub fn run_notes(info: &RunInfo, verb: &str) -> Vec<String> {
    let mut notes = Vec::new();
    if info.finished_at.is_none() {
        notes.push(format!("the run has not finished: only its finished cases are {verb}"));
    } else if info.ended_by_result() {
        notes.push(
            "the run was stopped because its result was clear, so only its anytime interval is valid"
                .to_owned(),
        );
    }
    if let Some(summary) = &info.summary {
        let is_decided =
            [ExitStatus::Passed, ExitStatus::Failed].iter().any(|exit| exit.code() == summary.exit_code);
        notes.extend((!is_decided).then(|| summary.exit_reason.clone()));
        notes.extend(summary.conclusion.lines().into_iter().map(|line| line.text));
    }
    notes
}

/// How cases without a result count in a run of a scorecard.
pub fn missing_policy(settings: &RunSettings) -> MissingPolicy {
    let stored = settings.other.get(TREAT_MISSING);
    stored.and_then(|name| MissingPolicy::from_name(name)).unwrap_or_default()
}

/// The smallest share of the weight that results must cover in a run of a scorecard.
pub fn min_coverage(settings: &RunSettings) -> Option<UnitInterval> {
    UnitInterval::new(settings.other.get(MIN_COVERAGE)?.parse().ok()?).ok()
}

impl<'a> ScoredCard<'a> {
    /// Scores a stored run with the options that it was concluded with.
    ///
    /// # Errors
    ///
    /// If the stored tree is damaged.
    pub fn of_stored(run: &'a ScorecardRun, settings: &RunSettings) -> Result<Self, ScorecardTreeError> {
        Self::of_run(run, None, missing_policy(settings), min_coverage(settings))
    }
}

/// The weight set of a run of a scorecard, if it is not the one that the index names.
pub fn chosen_weights(settings: &RunSettings) -> Option<&str> {
    settings.other.get(WEIGHTS).map(String::as_str)
}

/// Stores the options that a run of a scorecard is concluded with. `weights` is the weight set, if it is not the one
/// that the index names.
pub fn store_scorecard_options(
    settings: &mut RunSettings,
    policy: MissingPolicy,
    coverage: Option<UnitInterval>,
    weights: Option<&str>,
) {
    let policy = (policy != MissingPolicy::default()).then(|| policy.name().to_owned());
    let coverage = coverage.map(|coverage| coverage.get().to_string());
    for (key, value) in
        [(TREAT_MISSING, policy), (MIN_COVERAGE, coverage), (WEIGHTS, weights.map(str::to_owned))]
    {
        match value {
            Some(value) => settings.other.insert(key.to_owned(), value),
            None => settings.other.remove(key),
        };
    }
}

/// Describes which cases of the files were selected; `None` if all were.
fn describe_selection(info: &RunInfo) -> Option<String> {
    let RunSettings { filter, tags, other, .. } = &info.settings;
    let excluded = other.get("exclude_tags").map(|tags| format!("`--exclude-tag {tags}`"));
    let options: Vec<String> = (filter.iter().map(|pattern| format!("`--filter {pattern}`")))
        .chain(tags.iter().map(|tag| format!("`--tag {tag}`")))
        .chain(excluded)
        .chain(other.get("limit").map(|limit| format!("`--limit {limit}`")))
        .collect();
    let selected: usize = info.suites.iter().map(|suite| suite.cases).sum();
    let all: Option<usize> = info.suites.iter().map(|suite| suite.all_cases).sum();

    match (all, options.is_empty()) {
        (Some(all), true) if selected < all => Some(format!("{selected} of {all} cases")),
        (_, true) => None,
        (Some(all), false) => Some(format!("{selected} of {all} cases ({})", options.join(", "))),
        (None, false) => Some(format!("{selected} selected cases ({})", options.join(", "))),
    }
}

/// Options that make a result easier to reach, each with its effect.
fn relaxing_options(info: &RunInfo) -> Vec<String> {
    let option = |key: &str, value: &str| info.settings.other.get(key).is_some_and(|stored| stored == value);
    let fixed = [
        (
            option(TREAT_MISSING, MissingPolicy::Skip.name()),
            "`--treat-missing skip`, so cases without a result are not counted",
        ),
        (
            option("unbound_labels", "accepted"),
            "`--accept-unbound-labels`, so labels count that may be about another answer",
        ),
        (option("people", "override"), "`--people override`, so people decide where they contradict a judge"),
        (option("combine", "any"), "`--combine any`, so the pass of one judge is enough"),
        (option("ties", "pass"), "`--ties pass`, so tied judges pass"),
    ];
    let mut found: Vec<String> =
        fixed.into_iter().filter(|(given, _)| *given).map(|(_, text)| text.to_owned()).collect();
    if let Some(set) = chosen_weights(&info.settings) {
        found.push(format!("`--weights {set}`, which is not the weight set that the index names"));
    }
    if let Some(threshold) = info.settings.threshold {
        found.push(format!("`--threshold {threshold}`, which replaces the thresholds of the files"));
    }

    found
}

fn blocking_gates(run: &ScorecardRun, scored: &ScoredCard<'_>) -> Vec<BlockingGate> {
    let mut gates = Vec::new();
    for (tree, scores) in scored.scores() {
        let root = scores.card().root();
        let own = scores.root().gate_failed.then_some(root);
        for id in own.into_iter().chain(scores.blockers(root)) {
            let (Some(node), Some(place)) = (scores.card().node(id), tree.places.get(id.index())) else {
                continue;
            };
            let is_benchmark = matches!(node.kind, ScorecardNodeKind::Benchmark { .. });
            let part = run.parts.get(*place).filter(|_| is_benchmark);
            let scores = part.into_iter().flat_map(|part| part.cases.iter());
            let scores: Vec<(&str, f64)> =
                scores.filter_map(|(case, found)| Some((case, found.score?.get()))).collect();
            let failed = scores.iter().filter(|(_, score)| !at_least(*score, node.line.get()));
            gates.push(BlockingGate {
                code: node.code.to_string(),
                label: run.info.nodes.get(*place).and_then(|node| node.label.clone()),
                failed: failed.map(|(case, _)| (*case).to_owned()).collect(),
                cases: scores.len() as u64,
            });
        }
    }

    gates
}

fn disputed_decisions(run: &ScorecardRun) -> Vec<DisputedDecision> {
    let disputed = labelled_cases(run).filter_map(|(place, code, case, account)| {
        let judge = account.disputes.as_ref()?;
        Some(DisputedDecision {
            case_id: case.to_owned(),
            benchmark: code.to_owned(),
            judge: match judge.score.map(UnitInterval::get) {
                None => judge.state.name().replace('_', " "),
                Some(1.0) => "pass".to_owned(),
                Some(0.0) => "fail".to_owned(),
                Some(score) => format!("{score:.2}"),
            },
            people: account.words(),
            gate: run.info.is_gate(place),
        })
    });

    disputed.collect()
}

fn anonymous_labels(run: &ScorecardRun) -> Vec<String> {
    let labels = labelled_cases(run).flat_map(|(_, code, case, account)| {
        account.anonymous.iter().map(move |_| format!("{code} on {case}"))
    });
    labels.collect()
}

/// The labelled cases of all parts, each with the position and the code of its part.
fn labelled_cases(run: &ScorecardRun) -> impl Iterator<Item = (usize, &str, &str, &LabelAccount)> {
    run.info.nodes.iter().zip(&run.parts).enumerate().flat_map(|(place, (node, part))| {
        let cases = part.cases.iter();
        cases.filter_map(move |(case, found)| Some((place, &*node.code, case, found.labels.as_deref()?)))
    })
}
