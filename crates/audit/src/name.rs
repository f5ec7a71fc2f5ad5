//! How the cases of an audit are named: the case, `@`, and what was changed.

use assize_evalfile::CaseId;

/// What stands after the `@` of a case in which nothing was changed.
pub const UNCHANGED: &str = "unchanged";

/// The id of a case with this change.
pub(crate) fn named(case: &CaseId, change: &str) -> CaseId {
    CaseId::new(format!("{case}@{change}"))
}

/// The case and the change in an id; `None` when it is not one of an audit.
pub(crate) fn parts(id: &str) -> Option<(&str, &str)> {
    id.rsplit_once('@')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_apart_again_whatever_the_case_is_called() {
        for case in ["refund", "a@b", "@"] {
            let id = named(&CaseId::new(case), "probe.append");
            assert_eq!(parts(id.as_str()), Some((case, "probe.append")));
        }
        assert_eq!(parts("refund"), None);
    }
}
