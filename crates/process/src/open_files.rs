//! Limit on the open files and connections of this process.

/// Raises this process's limit of open files to `wanted`, as far as the system allows. Returns the new limit; `None` if
/// it is unknown.
#[cfg(unix)]
pub fn open_files(wanted: u64) -> Option<u64> {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).ok()?;
    let reachable = wanted.min(hard);
    if soft >= reachable || setrlimit(Resource::RLIMIT_NOFILE, reachable, hard).is_err() {
        return Some(soft);
    }

    Some(reachable)
}

/// Other systems have no relevant limit.
#[cfg(not(unix))]
pub fn open_files(_wanted: u64) -> Option<u64> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_raised_as_far_as_it_goes_and_never_lowered() {
        let Some(before) = open_files(0) else { return };
        let after = open_files(before + 1).expect("it is known");
        assert!(before >= 3 && (after == before || after == before + 1), "{before} {after}");
        assert_eq!(open_files(3), Some(after));
    }
}
