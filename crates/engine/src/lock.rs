//! Locks whose value stays usable after a panic of another holder.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, whether or not another holder has panicked: each change of what these protect is complete in itself.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
