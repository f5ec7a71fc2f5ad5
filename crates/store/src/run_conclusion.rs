//! Facts that a reader must know beside the result of a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The scope of a run, the reasons that block it, and limitations of its result. Every output shows this beside the
/// exit code and its reason.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct RunConclusion {
    /// Scope in a sentence, such as "9 of 36 cases (`--filter refund-*`)"; null if everything was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// Hard gates that failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked_by: Vec<BlockingGate>,
    /// Decisions of judges that current labels of people contradict.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disputed: Vec<DisputedDecision>,
    /// Options that make the result easier to reach, each with its effect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relaxed_by: Vec<String>,
    /// Labels without a reviewer, which do not count: each names its case and benchmark.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub anonymous_labels: Vec<String>,
}

/// A hard gate that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlockingGate {
    /// Code of the benchmark or rubric.
    pub code: String,
    /// Its name; null if it has none.
    pub label: Option<String>,
    /// Cases that did not pass; empty for a rubric.
    pub failed: Vec<String>,
    /// Number of cases with a result.
    pub cases: u64,
}

/// A judge's decision that current labels of people contradict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DisputedDecision {
    /// Id of the case.
    pub case_id: String,
    /// Code of the benchmark.
    pub benchmark: String,
    /// The judge's decision, such as `pass`.
    pub judge: String,
    /// The people's decisions with their names.
    pub people: String,
    /// True if the decision belongs to a hard gate, which stays incomplete until a named person adjudicates.
    pub gate: bool,
}

impl RunConclusion {
    /// Returns true if there is nothing to add to the result.
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }

    /// Returns everything in a few words, to follow the result of a run in a list.
    pub fn brief(&self) -> Vec<String> {
        let count = |number: usize, text: &str| (number > 0).then(|| format!("{number} {text}"));
        let blocked = self.blocked_by.first().map(|first| match self.blocked_by.len() {
            1 => format!("blocked by {}", first.code),
            all => format!("blocked by {} and {} more", first.code, all - 1),
        });
        let options = self.relaxed_by.iter().map(|option| option.split(", ").next().unwrap_or(option));
        let options: Vec<&str> = options.collect();
        let relaxed = (!options.is_empty()).then(|| format!("weakened by {}", options.join(" and ")));
        let parts = [
            self.scope.clone(),
            blocked,
            count(self.disputed.len(), "disputed"),
            relaxed,
            count(self.anonymous_labels.len(), "not counted for lack of a reviewer"),
        ];

        parts.into_iter().flatten().collect()
    }

    /// Returns everything as sentences, the most important first.
    pub fn lines(&self) -> Vec<ConclusionLine> {
        let line = |kind, text: String| ConclusionLine { kind, text };
        let blocked = self.blocked_by.iter().map(|gate| line("blocked", format!("Blocked by {gate}")));
        let disputed = self.disputed.iter().map(|one| line("disputed", format!("Disputed: {one}")));
        let scope = self.scope.iter().map(|scope| line("scope", format!("Scope: {scope}")));
        let relaxed = self.relaxed_by.iter().map(|option| line("relaxed", format!("Weakened by {option}")));
        let anonymous = self.anonymous_labels.iter().map(|label| {
            line("label", format!("Not counted, because it names no reviewer: the label of {label}"))
        });

        blocked.chain(disputed).chain(scope).chain(relaxed).chain(anonymous).collect()
    }
}

/// A sentence of a [`RunConclusion`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConclusionLine {
    /// Id that does not change between runs: `blocked`, `disputed`, `scope`, `relaxed` or `label`.
    pub kind: &'static str,
    /// The sentence.
    pub text: String,
}

impl std::fmt::Display for BlockingGate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const MAX_NAMED: usize = 5;

        f.write_str(&self.code)?;
        if let Some(label) = &self.label {
            write!(f, " {label}")?;
        }
        if self.failed.is_empty() {
            return Ok(());
        }

        write!(f, ", {} of {} cases (", self.failed.len(), self.cases)?;
        f.write_str(&self.failed[..self.failed.len().min(MAX_NAMED)].join(", "))?;
        match self.failed.len().saturating_sub(MAX_NAMED) {
            0 => f.write_str(")"),
            more => write!(f, " and {more} more)"),
        }
    }
}

impl std::fmt::Display for DisputedDecision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { case_id, benchmark, judge, people, gate } = self;
        write!(f, "{benchmark} on {case_id}: the judge says {judge}, people say {people}")?;
        if *gate { f.write_str("; the gate is incomplete until a named person adjudicates") } else { Ok(()) }
    }
}
