//! Result of loading an eval file.

use assize_diagnostic::{Diagnostic, SourceMap};
use assize_document::finish_diagnostics;
use assize_model::Suite;

use crate::cases::SuiteCases;
use crate::decode::{DecodeContext, mask_secrets};
use crate::load_options::ReadTotals;

/// A loaded eval file.
#[derive(Debug)]
pub struct LoadedSuite {
    /// Suite, unless its top level could not be decoded at all.
    pub suite: Option<Suite>,
    /// Valid cases. Invalid ones are excluded; a run that continues despite errors runs these.
    pub cases: SuiteCases,
    /// Texts that the diagnostics point into.
    pub sources: SourceMap,
    /// All diagnostics, sorted by file and position. The file must not be run if any is an error.
    pub diagnostics: Vec<Diagnostic>,
    /// What this file and those before it have taken.
    pub totals: ReadTotals,
}

impl LoadedSuite {
    /// Combines the loaded parts with every diagnostic of the load.
    pub fn new(cx: DecodeContext, loaded: Option<(Suite, SuiteCases)>) -> Self {
        let (suite, cases) = match loaded {
            Some((mut suite, cases)) => {
                // The variables of a rubric are in the list already.
                suite.variables.extend(cx.reach.environment.in_texts());
                (Some(suite), cases)
            }
            None => (None, SuiteCases::default()),
        };
        let DecodeContext { sources, problems, secrets, totals, script_time, .. } = cx;
        let spent_time = script_time.is_spent().then_some(script_time);
        let totals = ReadTotals { spent_time, ..totals };
        let sources = match secrets {
            Some(secrets) => mask_secrets(&sources, &secrets),
            None => sources,
        };
        let diagnostics = finish_diagnostics(problems, &sources);
        Self { suite, cases, sources, diagnostics, totals }
    }

    /// Returns true if the file has errors.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|d| d.severity == assize_diagnostic::Severity::Error)
    }
}
