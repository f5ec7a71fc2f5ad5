//! The workspaces of a run: which one each case works in, and their end.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;

use assize_model::{Case, HookEvent, Suite, TargetRef, WorkspaceSpec};
use assize_process::{Environment, ProgramConsent};
use assize_rubric::IdentityWriter;
use assize_targets::TargetKind;
use assize_workspace::{RedactText, Workspace, WorkspaceSetup};
use parking_lot::Mutex;

use crate::engine::Engine;
use crate::targets::redactor;

/// Time limit for the commands after all cases when the run was interrupted.
const INTERRUPTED_TIMEOUT: Duration = Duration::from_secs(10);

/// The workspaces of a run. Each is made when it is first needed.
pub(crate) struct WorkspacePool {
    setup: Arc<WorkspaceSetup>,
    made: Mutex<BTreeMap<WorkspaceKey, HeldWorkspace>>,
}

/// The names of a suite and of a target, and the identity of the workspace.
type WorkspaceKey = (String, String, Vec<u8>);

/// A suite's workspace exists until the end of the run. A workspace of a single case is removed with the case,
/// unless it has commands for the end of the run: there may be thousands of them.
enum HeldWorkspace {
    UntilTheEnd(Arc<Workspace>),
    ByItsCase(Weak<Workspace>),
}

impl WorkspacePool {
    /// With `keep`, workspaces stay after the run. Their commands need `consent`.
    pub(crate) fn new(keep: bool, consent: Option<ProgramConsent>, engine: &Engine) -> Self {
        let redactor = redactor(engine.process().variables(), None);
        let hide: RedactText = Arc::new(move |text| redactor.redact(text).into_owned());
        let env = Environment::from_vars(engine.process().variables());
        Self {
            setup: Arc::new(WorkspaceSetup::new(
                engine.process().temp_folder.clone(),
                keep,
                env,
                consent,
                hide,
            )),
            made: Mutex::default(),
        }
    }

    /// The workspace in which a target works on a case; `None` if there is none, or the target does not work in
    /// a folder.
    pub(crate) fn workspace_for(
        &self,
        suite: &Suite,
        case: &Case,
        target: &TargetRef,
        kind: TargetKind,
    ) -> Option<Arc<Workspace>> {
        if !works_in_folders(kind) {
            return None;
        }

        let spec = spec_of(suite, case)?;
        let mut identity = IdentityWriter::default();
        identity.field(&target.hooks);
        identity.field(&spec);

        let key = (suite.name.clone(), target.name.clone(), identity.into_bytes());
        let mut made = self.made.lock();
        match made.get(&key) {
            Some(HeldWorkspace::UntilTheEnd(place)) => return Some(Arc::clone(place)),
            Some(HeldWorkspace::ByItsCase(place)) => {
                if let Some(place) = place.upgrade() {
                    return Some(place);
                }
            }
            None => {}
        }

        let ends = [Some(&spec.hooks), target.hooks.as_deref()];
        let ends =
            ends.into_iter().flatten().any(|hooks| hooks.all_for_event(HookEvent::AfterAll).next().is_some());
        let place = Arc::new(Workspace::new(spec, target.hooks.clone(), Arc::clone(&self.setup)));
        let held = if case.workspace.is_some() && !ends {
            HeldWorkspace::ByItsCase(Arc::downgrade(&place))
        } else {
            HeldWorkspace::UntilTheEnd(Arc::clone(&place))
        };
        made.insert(key, held);

        Some(place)
    }

    /// Sets the run that they belong to.
    pub(crate) fn begin(&self, run: &str) {
        self.setup.set_run(run);
    }

    /// Runs the commands after all cases, and returns their failures.
    pub(crate) async fn finish(&self, interrupted: bool) -> Vec<String> {
        let places: Vec<Arc<Workspace>> = {
            let made = self.made.lock();
            let until_the_end = made.values().filter_map(|held| match held {
                HeldWorkspace::UntilTheEnd(place) => Some(Arc::clone(place)),
                HeldWorkspace::ByItsCase(_) => None,
            });
            until_the_end.collect()
        };

        let mut failed = Vec::new();
        let mut left = INTERRUPTED_TIMEOUT;
        for place in places {
            if !interrupted {
                failed.extend(place.finish().await.err().map(|error| error.to_string()));
                continue;
            }

            let begun = tokio::time::Instant::now();

            match tokio::time::timeout(left, place.finish()).await {
                Ok(done) => failed.extend(done.err().map(|error| error.to_string())),
                Err(_) => {
                    failed.push("a cleanup command took too long after the run was interrupted".to_owned());
                }
            }

            left = left.saturating_sub(begun.elapsed());
        }

        failed
    }

    /// Removes the workspaces. Returns their folder if they are kept.
    pub(crate) fn close(&self) -> Option<PathBuf> {
        self.setup.close()
    }
}

/// The workspace of a case, with its suite's workspace as the default.
pub(crate) fn spec_of(suite: &Suite, case: &Case) -> Option<WorkspaceSpec> {
    let spec = match (&case.workspace, &suite.workspace) {
        (Some(own), Some(all)) => Some(own.or(all)),
        (Some(one), None) | (None, Some(one)) => Some((**one).clone()),
        (None, None) => None,
    };
    spec.filter(WorkspaceSpec::describes_folder)
}

/// Whether targets of this kind work in a folder.
pub(crate) fn works_in_folders(kind: TargetKind) -> bool {
    match kind {
        TargetKind::Command | TargetKind::Mock => true,
        TargetKind::Model | TargetKind::Http | TargetKind::Given | TargetKind::Recorded => false,
    }
}
