//! Progress of a call, told to clients that ask for it.

use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;
use tokio::sync::watch;

/// Cases of a call, and those that have finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct CallProgress {
    pub(crate) cases: usize,
    pub(crate) finished: usize,
}

/// Tells the client of progress until there is no more, if its request asks for that.
pub(crate) async fn tell_progress(
    mut progress: watch::Receiver<CallProgress>,
    context: &RequestContext<RoleServer>,
) {
    let Some(token) = context.meta.get_progress_token() else { return };
    while progress.changed().await.is_ok() {
        let CallProgress { cases, finished } = *progress.borrow_and_update();
        if finished == 0 {
            continue;
        }

        let mut told = ProgressNotificationParam::new(token.clone(), finished as f64);
        told.total = (cases > 0).then_some(cases as f64);
        told.message = Some(format!("{finished} of {cases} cases are finished"));
        if context.peer.notify_progress(told).await.is_err() {
            return;
        }
    }
}
