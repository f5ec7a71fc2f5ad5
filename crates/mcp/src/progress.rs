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
pub(crate) struct ProgressTeller<'a> {
    progress: watch::Receiver<CallProgress>,
    told: CallProgress,
    context: &'a RequestContext<RoleServer>,
}

impl<'a> ProgressTeller<'a> {
    pub(crate) fn new(
        progress: watch::Receiver<CallProgress>,
        context: &'a RequestContext<RoleServer>,
    ) -> Self {
        Self { progress, told: CallProgress::default(), context }
    }

    /// Reports every change. Never returns; the caller drops it when the work is done.
    pub(crate) async fn tell_changes(&mut self) {
        while self.progress.changed().await.is_ok() {
            self.tell().await;
        }
        std::future::pending::<()>().await;
    }

    /// Reports the current state unless the client knows it. A finished call does this before its reply, since
    /// no progress may be reported after it.
    pub(crate) async fn tell(&mut self) {
        let newest = *self.progress.borrow();
        let Some(token) = self.context.meta.get_progress_token() else { return };
        if newest.finished == 0 || newest == self.told {
            return;
        }

        let CallProgress { cases, finished } = newest;
        let mut told = ProgressNotificationParam::new(token, finished as f64);
        told.total = (cases > 0).then_some(cases as f64);
        told.message = Some(format!("{finished} of {cases} cases are finished"));
        // If the client is gone, sending the reply will notice.
        let _ = self.context.peer.notify_progress(told).await;
        self.told = newest;
    }
}
