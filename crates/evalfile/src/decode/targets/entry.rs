//! An entry of a targets file while it is decoded.

use std::path::Path;

use assize_diagnostic::{Diagnostic, Span};
use assize_document::{DiagnosticCollector, MapReader, codes};
use assize_model::{FilePosition, MissingVariable, TargetSpec, UnsupportedFeature};

use super::variables::ExpandedMap;

/// Inputs and collected results of reading a targets file.
pub(super) struct TargetsContext<'a> {
    pub(super) environment: &'a crate::EnvironmentLookup,
    /// Absolute path of the file's folder.
    pub(super) folder: &'a Path,
    /// Converts a span to a position.
    pub(super) place: &'a dyn Fn(Span) -> FilePosition,
    /// Spans of values that must not be shown.
    pub(super) secrets: Vec<Span>,
    pub(super) problems: &'a mut DiagnosticCollector,
    /// Number of errors that only concern single targets.
    pub(super) entry_errors: usize,
}

/// An entry being decoded.
pub(super) struct TargetEntryReader<'a, 'n, 'p> {
    pub(super) object: MapReader<'n>,
    pub(super) problems: &'p mut DiagnosticCollector,
    pub(super) environment: &'a crate::EnvironmentLookup,
    pub(super) folder: &'a Path,
    pub(super) expanded: &'n ExpandedMap,
    pub(super) place: &'a dyn Fn(Span) -> FilePosition,
    pub(super) spec: TargetSpec,
    /// Span of the setting that runs a command once for all cases.
    pub(super) batching: Option<Span>,
}

impl TargetEntryReader<'_, '_, '_> {
    /// Returns true if the value of a key came from the environment.
    pub(super) fn depends(&self, key: &str) -> bool {
        self.expanded.depends_on_variable(key)
    }

    /// Returns true if one of `keys` has a value, or would have one if its variable were set.
    pub(super) fn given(&mut self, keys: &[&'static str]) -> bool {
        keys.iter().any(|key| self.expanded.is_unset(key) || self.object.value(key).is_some())
    }

    /// Reports that none of `keys` has a value, unless that is because of an unset variable.
    pub(super) fn demand(&mut self, keys: &[&'static str], title: &str, example: &str) {
        if self.given(keys) {
            return;
        }

        let label = format!("in target `{}`", self.spec.name);
        Diagnostic::error(codes::MISSING_SETTING, title)
            .at(self.object.head(), label)
            .with_help(format!("write it like `{example}`"))
            .add_to(self.problems);
    }

    pub(super) fn unbuilt(&mut self, feature: &'static str, span: Span) {
        self.spec.unbuilt.push(UnsupportedFeature { feature: feature.into(), place: (self.place)(span) });
    }

    pub(super) fn without_effect(&mut self, feature: &'static str, span: Span) {
        self.spec
            .without_effect
            .push(UnsupportedFeature { feature: feature.into(), place: (self.place)(span) });
    }

    pub(super) fn missing(&mut self, name: &str, setting: &str, span: Span) {
        let place = (self.place)(span);
        self.spec.missing_variables.push(MissingVariable {
            name: name.to_owned(),
            setting: setting.to_owned(),
            place,
        });
    }
}
