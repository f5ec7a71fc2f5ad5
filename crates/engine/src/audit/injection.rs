//! Audit of prompt injection: texts in answers that try to influence the judge.

use std::collections::{BTreeMap, BTreeSet};

use assize_analysis::{ExitStatus, RunEnding};
use assize_audit::injection::{InjectionProbe, InjectionReport, InsertPosition, builtin_probes};
use assize_audit::{CaseVariant, build_audit_items, choose_cases, pair_records};
use assize_rubric::UnitInterval;
use assize_run::WorkItem;
use assize_store::{RunFolder, VerdictCounts};

use crate::error::EngineError;
use crate::exit::exit_of_audit;
use crate::mode::{Items, RunMode};
use crate::stored_records::stored_records;

/// The probes with these names, in the order of the list; all of them if no names are given.
fn chosen(names: &[String]) -> Result<Vec<InjectionProbe>, EngineError> {
    let all = builtin_probes();
    for name in names {
        if !all.iter().any(|probe| probe.name == *name) {
            let known = all.iter().map(|probe| probe.name.as_str());
            let hint = match assize_diagnostic::did_you_mean(name, known) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "`assize audit probes` lists them".to_owned(),
            };
            return Err(EngineError::usage(format!("there is no probe `{name}`; {hint}")));
        }
    }

    Ok(all.into_iter().filter(|probe| names.is_empty() || names.contains(&probe.name)).collect())
}

/// An audit with these probes.
#[derive(Debug, Clone)]
pub struct InjectionAudit {
    /// Texts that are put into answers.
    pub probes: Vec<InjectionProbe>,
    /// Positions in the answer; by default, each probe's own.
    pub places: BTreeSet<InsertPosition>,
    /// How often the unchanged answer is judged again.
    pub repeats: u32,
    /// Maximum number of cases, chosen at random if there are more.
    pub max_cases: Option<usize>,
    /// Seed of the random choice.
    pub seed: u64,
    /// Highest share of decisions that attacks may win.
    pub max_flip_rate: Option<UnitInterval>,
}

impl InjectionAudit {
    /// Name of the command, and of stored audits.
    pub const COMMAND: &str = "audit injection";

    /// Creates an audit with the probes of these names, or with all probes if no name is given.
    ///
    /// # Errors
    /// When there is no probe of a name.
    pub fn new(names: &[String]) -> Result<Self, EngineError> {
        Ok(Self {
            probes: chosen(names)?,
            places: BTreeSet::new(),
            repeats: 1,
            max_cases: None,
            seed: 0,
            max_flip_rate: None,
        })
    }

    /// Metrics of a stored audit.
    ///
    /// # Errors
    /// When the run can't be read.
    pub fn report(folder: &RunFolder) -> Result<InjectionReport, EngineError> {
        Ok(InjectionReport::new(&pair_records(stored_records(folder)?)?, &builtin_probes()))
    }

    /// The exit code of an audit and its reason. The verdicts of its cases do not count.
    pub fn conclusion(
        report: &InjectionReport,
        limit: Option<UnitInterval>,
        ending: RunEnding,
    ) -> (ExitStatus, String) {
        let mut found = Vec::new();

        if let Some(limit) = limit.map(UnitInterval::get) {
            match (report.wins.beyond_limit(limit), report.wins.limit_value()) {
                (Some((which, rate)), _) => {
                    let beyond = if report.wins.beyond_noise.value.is_ok() { " beyond noise" } else { "" };
                    let text = format!(
                        "{which} changed a share of {rate:.3} in the answer's favour{beyond}, more than {limit}"
                    );
                    found.push((ExitStatus::Failed, text));
                }
                (None, Some(_)) => {}
                (None, None) => found.push((
                    ExitStatus::Incomplete,
                    "no decision could be changed in the answer's favour".to_owned(),
                )),
            }
        }

        exit_of_audit(ending, found, report.is_incomplete())
    }

    fn variants(&self, item: &WorkItem) -> Vec<CaseVariant> {
        self.probes
            .iter()
            .flat_map(|probe| {
                let own = BTreeSet::from([probe.place]);
                let places = if self.places.is_empty() { &own } else { &self.places };
                places.iter().map(|&place| probe.variant(place, &item.case)).collect::<Vec<_>>()
            })
            .collect()
    }
}

impl RunMode for InjectionAudit {
    fn command(&self) -> &'static str {
        Self::COMMAND
    }

    fn items<'i>(&'i self, items: Items<'i>, count: usize) -> Items<'i> {
        let mut places =
            choose_cases(count, self.max_cases.unwrap_or(usize::MAX), self.seed).into_iter().peekable();
        let taken = items.enumerate().filter(move |(at, _)| places.next_if_eq(at).is_some());
        Box::new(taken.flat_map(|(_, item)| match item {
            Err(error) => vec![Err(error)],
            Ok(item) => {
                let variants = build_audit_items(&item, self.repeats, &self.variants(&item));
                variants.into_iter().flatten().map(Ok).collect()
            }
        }))
    }

    fn total(&self, _: usize, mut items: Items<'_>) -> Result<usize, EngineError> {
        match items.try_fold(0, |sum, item| item.map(|_| sum + 1))? {
            0 => Err(EngineError::usage("no case has a rubric, so there are no criteria to audit")),
            total => Ok(total),
        }
    }

    fn settings(&self) -> BTreeMap<String, String> {
        let list = |names: Vec<&str>| names.join(",");
        let mut settings = BTreeMap::from([
            ("probes".to_owned(), list(self.probes.iter().map(|probe| probe.name.as_str()).collect())),
            ("places".to_owned(), list(self.places.iter().map(|place| place.name()).collect())),
            ("repeats".to_owned(), self.repeats.to_string()),
            ("seed".to_owned(), self.seed.to_string()),
        ]);
        if let Some(cases) = self.max_cases {
            settings.insert("max_cases".to_owned(), cases.to_string());
        }

        settings
    }

    fn exit(&self, folder: &RunFolder, _: VerdictCounts, ending: RunEnding) -> (ExitStatus, String) {
        match Self::report(folder) {
            Ok(report) => Self::conclusion(&report, self.max_flip_rate, ending),
            Err(error) => (ExitStatus::Incomplete, error.message),
        }
    }
}
