//! The runtime of the process: made when it is first needed, and never used by a forked child of the process that made it.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::runtime::{Builder, Runtime};

use crate::failure::LibraryError;

/// The runtime, and the process whose threads it has.
static CURRENT: Mutex<Option<(u32, Arc<Runtime>)>> = Mutex::new(None);

/// The runtime of this process. A child of a fork gets its own; that of its parent is left alone, since its threads are
/// not there.
///
/// # Errors
/// When threads can't be started.
pub(crate) fn runtime() -> Result<Arc<Runtime>, LibraryError> {
    let process = std::process::id();
    let mut current = CURRENT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((owner, runtime)) = &*current
        && *owner == process
    {
        return Ok(Arc::clone(runtime));
    }

    let made = Builder::new_multi_thread().thread_name("assize").enable_all().build();
    let made = made.map_err(|error| LibraryError::internal(format!("can't start threads: {error}")))?;
    let runtime = Arc::new(made);
    // Dropping the runtime of the parent would wait for threads that do not exist.
    std::mem::forget(current.replace((process, Arc::clone(&runtime))));

    Ok(runtime)
}
