//! One eval file.

use std::path::PathBuf;
use std::sync::Arc;

use assize_rubric::{EvidencePolicy, Judging, Truncate, Unit};
use serde_json::Value;

use super::{Grader, LineOverrides, Mark, PanelSpec, TargetRef, Trials, Unbuilt, WorkspaceSpec};

/// Which of the two formats a file is written in. Told by its keys, never by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// `evalcases`.
    One,
    /// `tests` with `assertions`.
    Two,
}

impl Format {
    /// The number used in records: 1 or 2.
    pub const fn number(self) -> u8 {
        match self {
            Self::One => 1,
            Self::Two => 2,
        }
    }

    /// The borderline line when nobody names one: format 1 has one, format 2 has none.
    pub fn default_borderline(self) -> Option<Unit> {
        match self {
            Self::One => Unit::new(assize_rubric::Lines::DEFAULT_BORDERLINE).ok(),
            Self::Two => None,
        }
    }
}

/// An eval file, read and checked, without its cases.
#[derive(Debug, Clone, PartialEq)]
pub struct Suite {
    /// Which format it is written in.
    pub format: Format,
    /// `name` (format 1: `dataset`), else the file name without its endings.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// What the suite is about.
    pub description: Option<String>,
    /// Labels for selecting suites.
    pub tags: Vec<String>,
    /// Free data of the author (`metadata`, `version`, `author`, `license`, `category`,
    /// `governance`, `requires`), by key.
    pub metadata: serde_json::Map<String, Value>,
    /// Graders that every case gets unless it opts out. The cases hold them too.
    pub graders: Vec<Arc<Grader>>,
    /// Settings for the run.
    pub settings: SuiteSettings,
    /// The folder the cases are worked on in (`workspace`).
    pub workspace: Option<Arc<WorkspaceSpec>>,
    /// Conversions of attachments (`preprocessors`), as written.
    pub preprocessors: Option<Value>,
    /// Parts that are read and checked but that a run cannot honour yet, with the feature's name.
    pub unbuilt: Vec<Unbuilt>,
}

/// What a suite says about running it (`execution` and its older places).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SuiteSettings {
    /// Targets to run against, in order; empty when the suite names none.
    pub targets: Vec<TargetRef>,
    /// `workers`: how many cases at once, 1 to 50.
    pub workers: Option<usize>,
    /// `threshold` and `borderline`.
    pub lines: LineOverrides,
    /// Where the value of `threshold` is written.
    pub threshold_mark: Option<Mark>,
    /// How criteria are put to the judge.
    pub judging: Option<Judging>,
    /// Whether evidence must be found in the answer.
    pub evidence: Option<EvidencePolicy>,
    /// What is done when a judge can't read all there is to be judged.
    pub truncate: Option<Truncate>,
    /// Name of the judge (`execution.judge`): a model name, `offline`, or a target's name.
    pub judge: Option<String>,
    /// Several judges, or one asked several times (`execution.panel`).
    pub panel: PanelSpec,
    /// `budget_usd`: US dollars after which no further case is started.
    pub budget_usd: Option<f64>,
    /// `cache`: `false` asks every model anew; replies are remembered otherwise.
    pub cache: Option<bool>,
    /// `cache_path`: where the cache is, as written.
    pub cache_path: Option<PathBuf>,
    /// `fail_on_error`: whether the first error ends the run.
    pub fail_on_error: Option<bool>,
    /// `trials`: several runs of each case.
    pub trials: Option<Trials>,
}
