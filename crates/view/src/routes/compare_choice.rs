//! Options of a comparison, as written in the address of its page.

use assize_analysis::compare::{ComparisonOptions, HeadlineMetric};
use assize_report::format_plain;
use assize_stats::multiplicity::PValueAdjustment;
use axum::http::Uri;
use url::form_urlencoded::Serializer;

use crate::page_reply::{PageError, query_value};

/// Metrics of the conclusion, with their `--metric` names.
pub(super) const METRICS: [(HeadlineMetric, &str, &str); 2] =
    [(HeadlineMetric::Score, "score", "mean score"), (HeadlineMetric::PassRate, "pass-rate", "pass rate")];
/// Adjustments of p values, with their `--adjust` names.
pub(super) const ADJUSTMENTS: [(Option<PValueAdjustment>, &str, &str); 3] = [
    (Some(PValueAdjustment::Holm), "holm", "Holm"),
    (Some(PValueAdjustment::BenjaminiHochberg), "bh", "Benjamini-Hochberg"),
    (None, "none", "none"),
];

/// Options of a comparison, and the cases that it covers.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct ComparisonChoice {
    pub(super) options: ComparisonOptions,
    pub(super) suite: Option<String>,
    pub(super) tag: Option<String>,
}

impl ComparisonChoice {
    /// Reads the query of an address.
    pub(super) fn from_query(uri: &Uri) -> Result<Self, PageError> {
        let mut options = ComparisonOptions::default();
        if let Some(wanted) = query_value(uri, "metric")
            && let Some((metric, ..)) = METRICS.into_iter().find(|(_, name, _)| *name == wanted)
        {
            options.headline = metric;
        }
        if let Some(wanted) = query_value(uri, "adjust")
            && let Some((adjustment, ..)) = ADJUSTMENTS.into_iter().find(|(_, name, _)| *name == wanted)
        {
            options.adjustment = adjustment;
        }
        if let Some(text) = query_value(uri, "margin") {
            let margin = text.trim().parse().ok().filter(|margin| (0.0..=1.0).contains(margin));
            let error = || PageError::refused("The margin is a number from 0 to 1, such as 0.02.");
            options.margin = Some(margin.ok_or_else(error)?);
        }

        Ok(Self { options, suite: query_value(uri, "suite"), tag: query_value(uri, "tag") })
    }

    /// Address of a comparison of two runs with these options.
    pub(super) fn url(&self, base: &str, candidate: &str) -> String {
        let default = ComparisonOptions::default();
        let mut query = Serializer::new(String::new());
        query.append_pair("base", base).append_pair("candidate", candidate);
        if self.options.headline != default.headline {
            query.append_pair("metric", self.metric());
        }
        if self.options.adjustment != default.adjustment {
            query.append_pair("adjust", self.adjustment());
        }
        if let Some(margin) = self.options.margin {
            query.append_pair("margin", &format_plain(margin));
        }
        for (key, value) in [("suite", &self.suite), ("tag", &self.tag)] {
            query.extend_pairs(value.iter().map(|value| (key, value)));
        }
        format!("/compare?{}", query.finish())
    }

    /// Heading of the p values, with the method of adjustment.
    pub(super) fn p_label(&self) -> String {
        let method = ADJUSTMENTS.iter().find(|(method, ..)| *method == self.options.adjustment);
        match method {
            Some((Some(_), _, name)) => format!("p ({name})"),
            _ => "p".to_owned(),
        }
    }

    fn metric(&self) -> &'static str {
        METRICS.iter().find(|(metric, ..)| *metric == self.options.headline).map_or("", |(_, name, _)| name)
    }

    fn adjustment(&self) -> &'static str {
        let found = ADJUSTMENTS.iter().find(|(adjustment, ..)| *adjustment == self.options.adjustment);
        found.map_or("", |(_, name, _)| name)
    }
}
