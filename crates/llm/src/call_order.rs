//! The order in which calls that wait for the same account are sent.

tokio::task_local! {
    static PLACE: u64;
}

/// Runs work whose calls are sent before the calls of work with a higher `place`, no matter when they were made. So
/// when a server is slow or a budget ends, the case that began first is also finished first, its repairs included.
pub async fn in_order_of<F: Future>(place: u64, work: F) -> F::Output {
    PLACE.scope(place, work).await
}

/// The place of the present work; the first one if it has none.
pub(crate) fn place() -> u64 {
    PLACE.try_with(|place| *place).unwrap_or(0)
}
