//! How many files and connections this process may have open.

/// Sees to it that this process may have `wanted` files open, raising its own limit where the system lets it. The limit
/// as it stands where that is not enough.
#[cfg(unix)]
pub fn allow_open_files(wanted: u64) -> Result<(), u64> {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    // Where there is no such limit to be read, none is known to be too low.
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return Ok(()) };
    if soft >= wanted {
        return Ok(());
    }
    let reachable = wanted.min(hard);
    match setrlimit(Resource::RLIMIT_NOFILE, reachable, hard) {
        Ok(()) if reachable >= wanted => Ok(()),
        Ok(()) => Err(reachable),
        Err(_) => Err(soft),
    }
}

/// Other systems have no limit that matters here.
#[cfg(not(unix))]
pub fn allow_open_files(_wanted: u64) -> Result<(), u64> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_is_allowed_already_is_fine_and_what_no_system_allows_is_told() {
        assert_eq!(allow_open_files(3), Ok(()));
        if let Err(allowed) = allow_open_files(u64::MAX - 1) {
            assert!(allowed >= 3);
        }
    }
}
