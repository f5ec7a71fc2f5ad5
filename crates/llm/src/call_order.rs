//! The order in which calls go out that wait for the same account.

tokio::task_local! {
    static PLACE: u64;
}

/// Runs work whose calls go out before those of work with a higher place, whenever they were made. So a case that was
/// begun first is finished first, its repairs included, when a server is slow or a budget ends.
pub async fn in_order_of<F: Future>(place: u64, work: F) -> F::Output {
    PLACE.scope(place, work).await
}

/// The place of the present work; the first one if it has none.
pub(crate) fn place() -> u64 {
    PLACE.try_with(|place| *place).unwrap_or(0)
}
