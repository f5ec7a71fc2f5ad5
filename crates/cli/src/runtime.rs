//! The program's only asynchronous runtime.

use std::future::Future;

use crate::failure::CommandFailure;

/// Runs a future to completion.
pub(crate) fn block_on<T, E: Into<CommandFailure>>(
    future: impl Future<Output = Result<T, E>>,
) -> Result<T, CommandFailure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("can't start: {error}"))?;
    let result = runtime.block_on(Box::pin(future));

    // A hanging DNS lookup must not delay the exit.
    runtime.shutdown_background();
    result.map_err(Into::into)
}
