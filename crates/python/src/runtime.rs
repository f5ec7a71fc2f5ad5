//! The runtime of the process: created when first needed, and never used by a forked child.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::runtime::{Builder, Runtime};

use crate::failure::LibraryError;

/// The runtime, and the id of the process that has its threads.
static CURRENT: Mutex<Option<(u32, Arc<Runtime>)>> = Mutex::new(None);

/// The runtime of this process. A forked child gets its own one; its parent's is left alone, since the child
/// does not have those threads.
///
/// # Errors
/// When threads can't be started.
pub(crate) fn runtime() -> Result<Arc<Runtime>, LibraryError> {
    let process = std::process::id();
    let mut current = CURRENT.lock();
    if let Some((owner, runtime)) = &*current
        && *owner == process
    {
        return Ok(Arc::clone(runtime));
    }

    let made = Builder::new_multi_thread().thread_name("assize").enable_all().build();
    let made = made.map_err(|error| LibraryError::internal(format!("can't start threads: {error}")))?;
    let runtime = Arc::new(made);
    // Dropping the parent's runtime would wait for threads that this process does not have.
    std::mem::forget(current.replace((process, Arc::clone(&runtime))));

    Ok(runtime)
}
