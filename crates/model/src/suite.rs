//! The model of one eval file.

use std::path::PathBuf;
use std::sync::Arc;

use assize_rubric::{DerivedMetricSpec, EvidencePolicy, JudgingMode, TruncationMode, UnitInterval};
use serde_json::Value;

use super::{
    FilePosition, FilePreprocessor, Grader, NamedProgram, PanelSpec, SourceMark, SuiteExtensions, TargetRef,
    TargetSpec, TextVariable, ThresholdOverrides, Trials, UnsupportedFeature, WorkspaceSpec,
};

/// Format of an eval file. Detected by its keys, never by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EvalFileFormat {
    /// The `evalcases` format.
    One,
    /// The `tests` format, with `assertions`.
    Two,
}

impl EvalFileFormat {
    /// Returns `one` or `two` by the format, for example its spelling of a key.
    pub fn choose<T>(self, one: T, two: T) -> T {
        match self {
            Self::One => one,
            Self::Two => two,
        }
    }

    /// Returns the number used in records: 1 or 2.
    pub fn number(self) -> u8 {
        self.choose(1, 2)
    }

    /// Returns the key of the list of cases, which names the format in messages.
    pub fn case_list(self) -> &'static str {
        self.choose("evalcases", "tests")
    }

    /// Returns the default borderline threshold. Only the `evalcases` format has one.
    pub fn default_borderline(self) -> Option<UnitInterval> {
        self.choose(UnitInterval::new(assize_rubric::VerdictThresholds::DEFAULT_BORDERLINE).ok(), None)
    }
}

/// An eval file, loaded and checked, without its cases.
#[derive(Debug, Clone, PartialEq)]
pub struct Suite {
    /// Format of the file.
    pub format: EvalFileFormat,
    /// Value of `name` (format 1: `dataset`), else the file name without its extensions.
    pub name: String,
    /// Position of `name`; `None` if the suite is named after its file.
    pub name_place: Option<FilePosition>,
    /// Path of the file.
    pub path: PathBuf,
    /// Description of the suite.
    pub description: Option<String>,
    /// Tags for selecting suites.
    pub tags: Vec<String>,
    /// Metadata of the author (`metadata`, `version`, `author`, `license`, `category`, `governance`,
    /// `requires`), by key.
    pub metadata: serde_json::Map<String, Value>,
    /// Graders that every case gets unless it opts out. Cases contain them as well.
    pub graders: Vec<Arc<Grader>>,
    /// Settings for the run.
    pub settings: SuiteSettings,
    /// Workspace settings (`workspace`).
    pub workspace: Option<Arc<WorkspaceSpec>>,
    /// Converters for files that answers contain (`preprocessors`).
    pub preprocessors: Arc<[FilePreprocessor]>,
    /// Targets that the file itself defines. They take precedence over the targets file.
    pub defined_targets: Vec<TargetSpec>,
    /// Code that runs around the tests (`extensions`).
    pub extensions: Option<Arc<SuiteExtensions>>,
    /// Metrics that are computed from the named scores of the cases (`derivedMetrics`), in order.
    pub derived_metrics: Vec<DerivedMetricSpec>,
    /// Parts that are decoded and checked but not supported by runs yet.
    pub unbuilt: Vec<UnsupportedFeature>,
    /// Programs that write the cases. They were not run, because the user had not consented when the file was read.
    pub unrun_code: Vec<NamedProgram>,
    /// Environment variables whose values are part of the suite's texts or of its cases' texts.
    pub variables: Vec<TextVariable>,
    /// True for a file that names its targets as `providers`.
    pub has_providers: bool,
}

impl Suite {
    /// Creates a suite with a name and default settings.
    pub fn new(format: EvalFileFormat, name: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        Self {
            format,
            name: name.into(),
            name_place: None,
            path: path.into(),
            description: None,
            tags: Vec::new(),
            metadata: serde_json::Map::new(),
            graders: Vec::new(),
            settings: SuiteSettings::default(),
            workspace: None,
            preprocessors: Arc::default(),
            defined_targets: Vec::new(),
            extensions: None,
            derived_metrics: Vec::new(),
            unbuilt: Vec::new(),
            unrun_code: Vec::new(),
            variables: Vec::new(),
            has_providers: false,
        }
    }
}

/// Run settings of a suite (`execution` and its older locations).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SuiteSettings {
    /// Targets to run against, in order; empty when the suite names none.
    pub targets: Vec<TargetRef>,
    /// Number of worker slots (`workers`), 1 to 50.
    pub workers: Option<usize>,
    /// Values of `threshold` and `borderline`.
    pub thresholds: ThresholdOverrides,
    /// Range of the value of `threshold`.
    pub threshold_mark: Option<SourceMark>,
    /// Grouping of criteria into calls.
    pub judging: Option<JudgingMode>,
    /// Policy for evidence that is not found in the answer.
    pub evidence: Option<EvidencePolicy>,
    /// Policy for material that exceeds a judge's limit.
    pub truncate: Option<TruncationMode>,
    /// Name of the judge (`execution.judge`): a model name, `offline`, or a target's name.
    pub judge: Option<String>,
    /// Position of the judge's name.
    pub judge_place: Option<FilePosition>,
    /// Several judges, or one asked several times (`execution.panel`).
    pub panel: PanelSpec,
    /// Budget in US dollars after which no further case is started (`budget_usd`).
    pub budget_usd: Option<f64>,
    /// Whether the reply cache is used (`cache`). With `false`, every call is sent to its model again.
    pub cache: Option<bool>,
    /// Path of the cache as written (`cache_path`).
    pub cache_path: Option<PathBuf>,
    /// True if the first error ends the run (`fail_on_error`).
    pub fail_on_error: Option<bool>,
    /// Trials of each case (`trials`).
    pub trials: Option<Trials>,
}
