//! Metrics that are touched by a difference in how two runs were measured.

use std::collections::BTreeSet;

use super::aspect::ComparisonAspect;
use crate::facts::{CaseFact, NameTable};

/// A metric, or several that are named together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MetricPart {
    /// Every metric of the case.
    Everything,
    /// The pass rate.
    PassRate,
    /// The mean score, and with it the mean scores of the case's suite and tags.
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
    pub(super) suites: BTreeSet<u32>,
    pub(super) tags: BTreeSet<u32>,
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

    /// Names the metrics. Suites and tags are not named, because they belong to the mean score.
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

/// Metrics that are not compared, by the aspect that touches them. The first aspect that touches a metric is
/// its reason.
#[derive(Debug, Default)]
pub(crate) struct WithheldMetrics(Vec<(ComparisonAspect, TouchedMetrics)>);

impl WithheldMetrics {
    pub(crate) fn add(&mut self, aspect: ComparisonAspect, touched: TouchedMetrics) {
        self.0.push((aspect, touched));
    }

    /// Returns the first aspect that touches a metric, if any does.
    pub(crate) fn find(&self, is_touched: impl Fn(&TouchedMetrics) -> bool) -> Option<ComparisonAspect> {
        self.0.iter().find(|(_, touched)| is_touched(touched)).map(|(aspect, _)| *aspect)
    }

    /// Returns the aspect that makes a metric incomparable; `None` if it is comparable.
    pub(crate) fn reason(&self, part: MetricPart) -> Option<ComparisonAspect> {
        self.find(|touched| touched.parts.contains(&part))
    }
}

/// Aspects in which two runs may differ and are compared anyway.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AllowedAspects(u8);

impl AllowedAspects {
    /// No difference is allowed.
    pub const NONE: Self = Self(0);
    /// Every difference is allowed.
    pub const ALL: Self = Self(u8::MAX);

    /// Adds an aspect.
    #[must_use]
    pub const fn with(self, aspect: ComparisonAspect) -> Self {
        Self(self.0 | 1 << aspect as u8)
    }

    /// Returns true if the aspect is allowed.
    pub const fn contains(self, aspect: ComparisonAspect) -> bool {
        self.0 & (1 << aspect as u8) != 0
    }
}
