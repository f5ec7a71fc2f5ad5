//! Locks that stay usable after another holder has panicked.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex even if another holder has panicked. That is safe because each change of the protected values
/// is complete in itself.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
