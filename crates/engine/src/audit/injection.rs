//! Audit of prompt injection: texts in answers that try to influence the judge.

use std::collections::{BTreeMap, BTreeSet};

use assize_analysis::{ExitStatus, RunEnding};
use assize_audit::injection::{InjectionProbe, InjectionReport, InsertPosition, builtin_probes};
use assize_audit::{CaseVariant, build_audit_items, pair_records};
use assize_run::WorkItem;
use assize_store::{RunFolder, VerdictCounts};

use super::ProbingOptions;
use super::probing::{NO_CRITERIA, count_items, replace_each};
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
    /// Repeats and choice of cases; the limit is the highest share of decisions that attacks may win.
    pub options: ProbingOptions,
}

impl InjectionAudit {
    /// Name of the command, and of stored audits.
    pub const COMMAND: &str = "audit injection";

    /// Creates an audit with the probes of these names, or with all probes if no name is given.
    ///
    /// # Errors
    /// When there is no probe of a name.
    pub fn new(
        names: &[String],
        places: BTreeSet<InsertPosition>,
        options: ProbingOptions,
    ) -> Result<Self, EngineError> {
        Ok(Self { probes: chosen(names)?, places, options })
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
        limit: Option<f64>,
        ending: RunEnding,
    ) -> (ExitStatus, String) {
        let mut found = Vec::new();

        if let Some(limit) = limit {
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
        replace_each(self.options.draw(items, count), |item| {
            build_audit_items(item, self.options.repeats, &self.variants(item)).unwrap_or_default()
        })
    }

    fn total(&self, _: usize, items: Items<'_>) -> Result<usize, EngineError> {
        count_items(items, NO_CRITERIA)
    }

    fn settings(&self) -> BTreeMap<String, String> {
        let list = |names: Vec<&str>| names.join(",");
        let mut settings = self.options.settings();
        settings.extend([
            ("probes".to_owned(), list(self.probes.iter().map(|probe| probe.name.as_str()).collect())),
            ("places".to_owned(), list(self.places.iter().map(|place| place.name()).collect())),
        ]);

        settings
    }

    fn exit(&self, folder: &RunFolder, _: VerdictCounts, ending: RunEnding) -> (ExitStatus, String) {
        match Self::report(folder) {
            Ok(report) => Self::conclusion(&report, self.options.limit, ending),
            Err(error) => (ExitStatus::Incomplete, error.message),
        }
    }
}
