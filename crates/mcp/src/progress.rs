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

/// Tells a client of the progress of its call, if its request asks for that.
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

    /// Tells of each change; does not end, so that the work decides when that is over.
    pub(crate) async fn tell_changes(&mut self) {
        while self.progress.changed().await.is_ok() {
            self.tell().await;
        }
        std::future::pending::<()>().await;
    }

    /// Tells of the newest state unless the client knows it. A call that is done calls this before its reply: nothing is told
    /// of a call that is answered.
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
        // A client that is gone is noticed where the reply is sent.
        let _ = self.context.peer.notify_progress(told).await;
        self.told = newest;
    }
}
