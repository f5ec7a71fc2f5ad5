//! Runs blocking work on the file system outside the async threads.

use crate::WorkspaceError;

/// Runs blocking file operations on a thread for such work.
pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, WorkspaceError> + Send + 'static,
) -> Result<T, WorkspaceError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(_) => Err(WorkspaceError::new("cancelled", "work on the workspace was cancelled")),
    }
}
