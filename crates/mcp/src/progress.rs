//! Reports the progress of a call to clients that ask for it.

use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;
use tokio::sync::watch;

/// Number of cases of a call, and of finished ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct CallProgress {
    pub(crate) cases: usize,
    pub(crate) finished: usize,
}

/// Reports the progress of a call to the client, if its request asks for that.
pub(crate) struct ProgressReporter<'a> {
    progress: watch::Receiver<CallProgress>,
    reported: CallProgress,
    context: &'a RequestContext<RoleServer>,
}

impl<'a> ProgressReporter<'a> {
    pub(crate) fn new(
        progress: watch::Receiver<CallProgress>,
        context: &'a RequestContext<RoleServer>,
    ) -> Self {
        Self { progress, reported: CallProgress::default(), context }
    }

    /// Reports every change. Never returns; the caller drops it when the work is done.
    pub(crate) async fn report_changes(&mut self) {
        while self.progress.changed().await.is_ok() {
            self.report().await;
        }
        std::future::pending::<()>().await;
    }

    /// Reports the current state unless the client already has it. A finished call does this before its reply, because
    /// no progress may be reported after the reply.
    pub(crate) async fn report(&mut self) {
        let newest = *self.progress.borrow();
        let Some(token) = self.context.meta.get_progress_token() else { return };
        if newest.finished == 0 || newest == self.reported {
            return;
        }

        let CallProgress { cases, finished } = newest;
        let mut notification = ProgressNotificationParam::new(token, finished as f64);
        notification.total = (cases > 0).then_some(cases as f64);
        notification.message = Some(format!("{finished} of {cases} cases are finished"));
        // If the client is gone, sending the reply will notice.
        let _ = self.context.peer.notify_progress(notification).await;
        self.reported = newest;
    }
}
