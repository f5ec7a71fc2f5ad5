//! Ids of the cases of an audit: the case id, `@`, and the label of the change.

use assize_model::CaseId;

/// Label of an unchanged case.
pub const UNCHANGED: &str = "unchanged";

/// Builds the id of a case with this change.
pub(crate) fn variant_id(case: &CaseId, change: &str) -> CaseId {
    CaseId::new(format!("{case}@{change}"))
}

/// Splits an id into the case and the change; `None` if it is not an id of an audit case.
pub(crate) fn split_variant_id(id: &str) -> Option<(&str, &str)> {
    id.rsplit_once('@')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_apart_again_whatever_the_case_is_called() {
        for case in ["refund", "a@b", "@"] {
            let id = variant_id(&CaseId::new(case), "probe.append");
            assert_eq!(split_variant_id(id.as_str()), Some((case, "probe.append")));
        }
        assert_eq!(split_variant_id("refund"), None);
    }
}
