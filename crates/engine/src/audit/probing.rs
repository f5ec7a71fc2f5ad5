//! Audits of order, length and self-preference: do decisions change under changes that should not matter?

use std::collections::BTreeMap;
use std::sync::Arc;

use assize_analysis::{ExitStatus, RunEnding};
use assize_audit::length::{LengthFacts, length_edits, length_report};
use assize_audit::order::order_report;
use assize_audit::self_preference::{ModelFamilies, SelfPreferenceFacts, self_preference_report};
use assize_audit::{AuditReport, CaseVariant, build_audit_items, choose_cases, length, order, pair_records};
use assize_rubric::{JudgingMode, TOLERANCE};
use assize_run::{ItemError, WorkItem};
use assize_store::{RunFolder, RunInfo, VerdictCounts};

use crate::error::EngineError;
use crate::exit::exit_of_audit;
use crate::mode::{Items, RunMode};
use crate::options::RunOptions;
use crate::stored_records::stored_records;

/// Prefix of the settings that store given families in the record of a run: `family NAME`.
const FAMILY_PREFIX: &str = "family ";

/// Kind of audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbingKind {
    /// Criteria of a call in other orders.
    Order,
    /// Answers are made longer and shorter without a change of their content.
    Length,
    /// Judges of several families judge answers of several targets.
    OwnFamily,
}

impl ProbingKind {
    const ALL: [Self; 3] = [Self::Order, Self::Length, Self::OwnFamily];

    /// The command's name, which also identifies a stored audit.
    const fn command(self) -> &'static str {
        match self {
            Self::Order => "audit order",
            Self::Length => "audit length",
            Self::OwnFamily => "audit self",
        }
    }

    /// The kind of audit of a stored run; `None` if it is not such an audit.
    pub fn from_run(info: &RunInfo) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.command() == info.command)
    }

    /// Metrics of a stored audit of this kind.
    ///
    /// # Errors
    /// When the run can't be read.
    pub fn report(self, folder: &RunFolder, info: &RunInfo) -> Result<AuditReport, EngineError> {
        match self {
            Self::Order => Ok(order_report(&pair_records(stored_records(folder)?)?)),
            Self::Length => {
                let mut facts = LengthFacts::default();
                let seen = stored_records(folder)?.inspect(|record| {
                    if let Ok(record) = record {
                        facts.add(record);
                    }
                });
                let compared = pair_records(seen)?;
                Ok(length_report(&compared, &facts))
            }
            Self::OwnFamily => {
                let given = info.settings.other.iter().filter_map(|(key, family)| {
                    Some((key.strip_prefix(FAMILY_PREFIX)?.to_owned(), family.clone()))
                });
                let families = ModelFamilies::new(given.collect(), &info.targets);
                let mut facts = SelfPreferenceFacts::default();
                for record in stored_records(folder)? {
                    facts.add(&record?, &families);
                }

                Ok(self_preference_report(&facts))
            }
        }
    }

    /// The exit code of an audit and its reason. The verdicts of its cases do not count.
    pub fn conclusion(report: &AuditReport, limit: Option<f64>, ending: RunEnding) -> (ExitStatus, String) {
        let found = match (limit, &report.worst) {
            (Some(limit), Some((value, name))) if *value > limit + TOLERANCE => {
                vec![(ExitStatus::Failed, format!("{name}: {value:.3}, more than {limit}"))]
            }
            (_, None) => vec![(ExitStatus::Incomplete, "nothing was measured".to_owned())],
            _ => Vec::new(),
        };

        exit_of_audit(ending, found, report.is_incomplete())
    }
}

/// Options of audits that compare decisions.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProbingOptions {
    /// How often the unchanged answer is judged again.
    pub repeats: u32,
    /// Maximum number of cases, chosen at random if there are more.
    pub max_cases: Option<usize>,
    /// Seed of all random choices.
    pub seed: u64,
    /// The highest value that may be measured without failing the audit.
    pub limit: Option<f64>,
}

/// An audit that compares decisions.
#[derive(Debug, Clone)]
pub struct ProbingAudit {
    kind: ProbingKind,
    permutations: usize,
    families: BTreeMap<String, String>,
    options: ProbingOptions,
}

impl ProbingAudit {
    /// Creates an audit of the order of criteria, with this number of other orders. All criteria go into one
    /// call, unless `run` sets a number.
    ///
    /// # Errors
    /// If each call has a single criterion.
    pub fn order(
        permutations: usize,
        options: ProbingOptions,
        run: &mut RunOptions,
    ) -> Result<Self, EngineError> {
        match run.judging {
            Some(JudgingMode::PerCriterion) => {
                return Err(EngineError::usage(
                    "criteria judged one by one have no order: remove `--judging per-criterion`",
                ));
            }
            Some(JudgingMode::Batched(_)) => {}
            None => run.judging = Some(JudgingMode::Batched(None)),
        }

        Ok(Self { permutations, ..Self::new(ProbingKind::Order, options) })
    }

    /// Creates an audit of the length of answers.
    pub fn length(options: ProbingOptions) -> Self {
        Self::new(ProbingKind::Length, options)
    }

    /// Creates an audit of judges on answers of their own model family. `families` are pairs of a name and its family.
    ///
    /// # Errors
    /// When a name has two families.
    pub fn own_family(families: &[(String, String)], options: ProbingOptions) -> Result<Self, EngineError> {
        let mut known = BTreeMap::new();
        for (name, family) in families {
            if known.insert(name.clone(), family.clone()).is_some_and(|other| other != *family) {
                return Err(EngineError::usage(format!("`--family` names two families for `{name}`")));
            }
        }

        Ok(Self { families: known, ..Self::new(ProbingKind::OwnFamily, options) })
    }

    fn new(kind: ProbingKind, options: ProbingOptions) -> Self {
        Self { kind, permutations: 0, families: BTreeMap::new(), options }
    }

    fn variants(&self, item: &WorkItem) -> Vec<CaseVariant> {
        match self.kind {
            ProbingKind::Order => order::order_variants(item, self.permutations, self.options.seed),
            ProbingKind::Length => length::length_variants(item, &length_edits()),
            ProbingKind::OwnFamily => Vec::new(),
        }
    }

    /// Replaces an item of a plain run by its variants; empty if there is nothing to measure.
    fn of_item(&self, item: &WorkItem) -> Vec<WorkItem> {
        let variants = self.variants(item);
        if self.kind == ProbingKind::Order && variants.is_empty() {
            return Vec::new();
        }
        build_audit_items(item, self.options.repeats, &variants).unwrap_or_default()
    }
}

/// An item and its position in the run.
type PlacedItem = (usize, Result<WorkItem, ItemError>);

/// A random sample of cases, each with the items of all its targets. Judges of a family are compared on the
/// answers of several targets to the same case, so these must stay together.
#[derive(Default)]
struct WholeCases {
    /// Items by the random number of their case, and by the case.
    drawn: BTreeMap<(u64, Arc<str>, Arc<str>), Vec<PlacedItem>>,
    failed: Vec<PlacedItem>,
}

impl WholeCases {
    /// The items of at most `most` cases, drawn uniformly at random, in their original order. Deterministic for
    /// a seed.
    fn draw(items: Items<'_>, most: usize, seed: u64) -> Vec<Result<WorkItem, ItemError>> {
        let mut cases = Self::default();
        for (place, item) in items.enumerate() {
            match item {
                Ok(item) => cases.add(place, item, most, seed),
                Err(error) => cases.failed.push((place, Err(error))),
            }
        }

        let mut taken: Vec<PlacedItem> = cases.drawn.into_values().flatten().chain(cases.failed).collect();
        taken.sort_by_key(|(place, _)| *place);
        taken.into_iter().map(|(_, item)| item).collect()
    }

    fn add(&mut self, place: usize, item: WorkItem, most: usize, seed: u64) {
        let mut hasher = blake3::Hasher::new_derive_key("assize 2026-11 draw of whole cases");
        hasher.update(&seed.to_le_bytes());
        hasher.update(&(item.suite.len() as u64).to_le_bytes());
        hasher.update(item.suite.as_bytes());
        hasher.update(item.case.id.as_str().as_bytes());
        let mut number = [0; 8];
        hasher.finalize_xof().fill(&mut number);

        let key = (u64::from_le_bytes(number), Arc::clone(&item.suite), Arc::from(item.case.id.clone()));
        self.drawn.entry(key).or_default().push((place, Ok(item)));
        // A dropped case never belongs to the final sample, because the largest random number that is kept only
        // decreases.
        if self.drawn.len() > most {
            self.drawn.pop_last();
        }
    }
}

impl RunMode for ProbingAudit {
    fn command(&self) -> &'static str {
        self.kind.command()
    }

    fn items<'i>(&'i self, items: Items<'i>, count: usize) -> Items<'i> {
        if let (ProbingKind::OwnFamily, Some(most)) = (self.kind, self.options.max_cases) {
            let taken = WholeCases::draw(items, most, self.options.seed);
            return Box::new(taken.into_iter().flat_map(|item| match item {
                Err(error) => vec![Err(error)],
                Ok(item) => self.of_item(&item).into_iter().map(Ok).collect(),
            }));
        }

        let mut places = choose_cases(count, self.options.max_cases.unwrap_or(usize::MAX), self.options.seed)
            .into_iter()
            .peekable();
        let taken = items.enumerate().filter(move |(at, _)| places.next_if_eq(at).is_some());
        Box::new(taken.flat_map(|(_, item)| match item {
            Err(error) => vec![Err(error)],
            Ok(item) => self.of_item(&item).into_iter().map(Ok).collect(),
        }))
    }

    fn total(&self, _: usize, mut items: Items<'_>) -> Result<usize, EngineError> {
        let total = items.try_fold(0, |sum, item| item.map(|_| sum + 1))?;

        match (total, self.kind) {
            (0, ProbingKind::Order) => {
                Err(EngineError::usage("no rubric has more than one criterion, so there is no order to test"))
            }
            (0, _) => Err(EngineError::usage("no case has a rubric, so there are no criteria to audit")),
            (total, _) => Ok(total),
        }
    }

    fn settings(&self) -> BTreeMap<String, String> {
        let mut settings: BTreeMap<String, String> = self
            .families
            .iter()
            .map(|(name, family)| (format!("{FAMILY_PREFIX}{name}"), family.clone()))
            .collect();
        settings.insert("repeats".to_owned(), self.options.repeats.to_string());
        settings.insert("seed".to_owned(), self.options.seed.to_string());

        if self.kind == ProbingKind::Order {
            settings.insert("permutations".to_owned(), self.permutations.to_string());
        }
        if let Some(cases) = self.options.max_cases {
            settings.insert("max_cases".to_owned(), cases.to_string());
        }

        settings
    }

    fn exit(&self, folder: &RunFolder, _: VerdictCounts, ending: RunEnding) -> (ExitStatus, String) {
        let found = folder.info().map_err(EngineError::from).and_then(|info| self.kind.report(folder, &info));

        match found {
            Ok(report) => ProbingKind::conclusion(&report, self.options.limit, ending),
            Err(error) => (ExitStatus::Incomplete, error.message),
        }
    }
}
