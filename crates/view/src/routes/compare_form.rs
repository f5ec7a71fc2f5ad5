//! The form with the options of a comparison.

use assize_report::format_plain;

use super::compare_choice::{ADJUSTMENTS, ComparisonChoice, METRICS};
use super::compared_run::ComparedSide;
use super::run_header::{is_comparable, part_names, suite_names};
use crate::library::RunLibrary;
use crate::page_reply::PageError;
use crate::pages::{ChoiceField, ComparisonForm};
use crate::text::{minute, visible};

impl ComparisonChoice {
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
        let detail = format!("{}, {}", suite_names(&info), minute(&info.started_at));
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
