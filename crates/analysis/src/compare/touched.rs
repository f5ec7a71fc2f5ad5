//! Metrics that a difference in how two runs were measured touches.

use std::collections::BTreeSet;

use super::mismatch::ComparisonAspect;
use crate::facts::{CaseFact, NameTable};

/// A metric, or the metrics that share a name, that a difference touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MetricPart {
    /// Every metric of the case.
    Everything,
    /// The pass rate.
    PassRate,
    /// The mean score, and with it those of the suite and the tags of the case.
    Score,
    /// The score of a grader.
    Grader(u32),
    /// The value of a criterion: its grader, id and wording.
    Criterion(u32, u32, u64),
}

/// Metrics that an aspect touches, over all cases.
#[derive(Debug, Default)]
pub(crate) struct TouchedMetrics {
    parts: BTreeSet<MetricPart>,
    suites: BTreeSet<u32>,
    tags: BTreeSet<u32>,
}

impl TouchedMetrics {
    pub(crate) fn add(&mut self, part: MetricPart, case: &CaseFact) {
        match part {
            MetricPart::Everything => {
                for part in [MetricPart::PassRate, MetricPart::Score] {
                    self.add(part, case);
                }
                let graders = case.graders.iter().map(|grader| MetricPart::Grader(grader.name));
                let criteria = case.criteria.iter().map(|criterion| {
                    MetricPart::Criterion(criterion.grader, criterion.id, criterion.wording)
                });
                self.parts.extend(graders.chain(criteria));
                return;
            }
            MetricPart::Score => {
                self.suites.insert(case.suite);
                self.tags.extend(case.tags.iter());
            }
            MetricPart::PassRate | MetricPart::Grader(_) | MetricPart::Criterion(..) => {}
        }

        self.parts.insert(part);
    }

    /// Names the metrics; suites and tags are parts of the mean score.
    pub(crate) fn describe(&self, names: &NameTable) -> Vec<String> {
        let name = |part: &MetricPart| match *part {
            MetricPart::Everything => "everything".to_owned(),
            MetricPart::PassRate => "pass rate".to_owned(),
            MetricPart::Score => "mean score".to_owned(),
            MetricPart::Grader(grader) => format!("grader `{}`", names.text(grader)),
            MetricPart::Criterion(grader, id, _) => {
                format!("criterion `{}/{}`", names.text(grader), names.text(id))
            }
        };
        let mut found: Vec<String> = self.parts.iter().map(name).collect();
        found.dedup();

        found
    }
}

/// Metrics that are not compared, each with the first aspect that touches it.
#[derive(Debug, Default)]
pub(crate) struct WithheldMetrics(Vec<(ComparisonAspect, TouchedMetrics)>);

impl WithheldMetrics {
    pub(crate) fn add(&mut self, respect: ComparisonAspect, touched: TouchedMetrics) {
        self.0.push((respect, touched));
    }

    fn find(&self, is_touched: impl Fn(&TouchedMetrics) -> bool) -> Option<ComparisonAspect> {
        self.0.iter().find(|(_, touched)| is_touched(touched)).map(|(respect, _)| *respect)
    }

    /// The aspect for which a metric is not compared; `None` if it is.
    pub(crate) fn reason(&self, part: MetricPart) -> Option<ComparisonAspect> {
        self.find(|touched| touched.parts.contains(&part))
    }

    pub(crate) fn suite_reason(&self, suite: u32) -> Option<ComparisonAspect> {
        self.find(|touched| touched.suites.contains(&suite))
    }

    pub(crate) fn tag_reason(&self, tag: u32) -> Option<ComparisonAspect> {
        self.find(|touched| touched.tags.contains(&tag))
    }
}

/// Aspects in which two runs may differ and are compared all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AllowedAspects(u8);

impl AllowedAspects {
    /// No difference is allowed.
    pub const NONE: Self = Self(0);
    /// Every difference is allowed.
    pub const ALL: Self = Self(u8::MAX);

    /// Adds an aspect.
    #[must_use]
    pub const fn with(self, respect: ComparisonAspect) -> Self {
        Self(self.0 | 1 << respect as u8)
    }

    /// Returns true if the aspect is among them.
    pub const fn contains(self, respect: ComparisonAspect) -> bool {
        self.0 & (1 << respect as u8) != 0
    }
}
