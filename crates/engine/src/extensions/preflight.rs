//! Extensions of suites in the planning of a run.

use assize_model::Suite;

use super::ExtensionUse;
use crate::preflight_report::PreflightReport;

impl PreflightReport {
    /// Notes the extensions of a suite, one of whose cases uses a target.
    pub(crate) fn note_extensions(&mut self, suite: &Suite, usage: ExtensionUse<'_>) {
        let Some(extensions) = &suite.extensions else { return };
        if let (ExtensionUse::Refused, false, Some(first)) =
            (usage, extensions.in_workspace, extensions.list.first())
        {
            self.problem(&first.place, "`extensions` only run with `assize eval` on a single machine");
            return;
        }

        for extension in &extensions.list {
            let language = extension.program.language.name();
            let what = format!("`{}` of `extensions` ({language} code)", extension.written);
            self.note_program(&extension.place, what);
        }
        // Extensions in a workspace run with the workspace, wherever that is.
        if extensions.in_workspace || !self.extended.insert(suite.path.clone()) {
            return;
        }

        if matches!(usage, ExtensionUse::Planned) {
            self.remark(format!(
                "{}: a plan does not run `extensions`, so it covers the tests as written",
                suite.path.display()
            ));
        }
    }

    /// Remarks on extensions that have no effect on a given answer.
    pub(crate) fn remark_idle_extensions(&mut self, suite: &Suite) {
        if let Some(extension) = suite.extensions.as_ref().and_then(|extensions| extensions.list.first()) {
            self.remark(format!("{}: `extensions` have no effect on given answers", extension.place));
        }
    }
}
