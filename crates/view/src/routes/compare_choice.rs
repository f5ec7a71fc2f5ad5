//! Options of a comparison, as written in the address of its page.

use assize_analysis::compare::{ComparisonOptions, HeadlineMetric};
use assize_report::format_plain;
use assize_stats::multiplicity::PValueAdjustment;
use axum::http::Uri;
use url::form_urlencoded::Serializer;

use super::compared_run::ComparedSide;
use super::run::is_comparable;
use super::run_header::part_names;
use super::{PageError, query_value};
use crate::library::RunLibrary;
use crate::pages::{ChoiceField, ComparisonForm};
use crate::text::{minute, visible};

/// Metrics of the conclusion, with their `--metric` names.
const METRICS: [(HeadlineMetric, &str, &str); 2] =
    [(HeadlineMetric::Score, "score", "mean score"), (HeadlineMetric::PassRate, "pass-rate", "pass rate")];
/// Adjustments of p values, with their `--adjust` names.
const ADJUSTMENTS: [(Option<PValueAdjustment>, &str, &str); 3] = [
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

    /// The form that changes these options.
    pub(super) fn form(
        &self,
        library: &RunLibrary,
        base: &ComparedSide,
        candidate: &ComparedSide,
    ) -> Result<ComparisonForm, PageError> {
        let (mut suites, mut tags) = (Vec::new(), Vec::new());
        for side in [base, candidate] {
            let choices = side.run.choices(&*side.run.index()?)?;
            suites.extend(choices.suites.iter().cloned());
            tags.extend(choices.tags.iter().cloned());
        }
        for names in [&mut suites, &mut tags] {
            names.sort();
            names.dedup();
        }
        if suites.len() < 2 {
            suites.clear();
        }

        let fields = [
            ChoiceField::new(("suite", "Suite", "all suites"), &suites, self.suite.as_ref()),
            ChoiceField::new(("tag", "Tag", "any tag"), &tags, self.tag.as_ref()),
        ];
        Ok(ComparisonForm {
            runs: [base, candidate].map(|side| run_options(library, side)),
            metrics: METRICS
                .map(|(metric, name, text)| (name, text, metric == self.options.headline))
                .to_vec(),
            adjustments: ADJUSTMENTS
                .map(|(adjustment, name, text)| (name, text, adjustment == self.options.adjustment))
                .to_vec(),
            margin: self.options.margin.map(format_plain).unwrap_or_default(),
            fields: fields.into_iter().flatten().collect(),
        })
    }
}

/// Comparable runs to choose from, and the answers of each target or prompt of runs with several: value, text, and
/// whether it is selected.
fn run_options(library: &RunLibrary, side: &ComparedSide) -> Vec<(String, String, bool)> {
    let chosen = side.name.as_str();
    let mut options = Vec::new();
    for run in library.list() {
        let Some(info) = run.info.ok().filter(|info| is_comparable(info, &side.info)) else { continue };
        let detail = format!("{}, {}", super::run_header::suite_names(&info), minute(&info.started_at));
        options.push((run.slug.clone(), format!("{} ({detail})", visible(&run.name))));
        let parts = part_names(&info);
        options.extend(parts.map(|name| {
            (format!("{}@{name}", run.slug), format!("{}@{}", visible(&run.name), visible(name)))
        }));
    }
    if !options.iter().any(|(value, _)| value == chosen) {
        options.insert(0, (chosen.to_owned(), visible(chosen)));
    }

    options.into_iter().map(|(value, text)| (value.clone(), text, value == chosen)).collect()
}
