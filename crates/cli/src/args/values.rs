//! Values that are checked as they are read.

use assize_audit::injection::Place;
use assize_rubric::{Judging, Unit};

/// A number from 0 to 1.
pub(super) fn unit(text: &str) -> Result<Unit, String> {
    text.parse::<f64>()
        .ok()
        .and_then(|value| Unit::new(value).ok())
        .ok_or_else(|| "expected a number from 0 to 1, such as 0.8".to_owned())
}

/// `per-criterion`, `batched` or `batched:N`.
pub(super) fn judging(text: &str) -> Result<Judging, String> {
    match text {
        "per-criterion" => return Ok(Judging::PerCriterion),
        "batched" => return Ok(Judging::Batched(None)),
        _ => {}
    }
    text.strip_prefix("batched:")
        .and_then(|size| size.parse().ok())
        .map(|size| Judging::Batched(Some(size)))
        .ok_or_else(|| "expected `per-criterion`, `batched` or `batched:N` with N at least 1".to_owned())
}

/// A place in an answer.
pub(super) fn place(text: &str) -> Result<Place, String> {
    Place::of_name(text).ok_or_else(|| format!("`{text}` is not one of append, prepend, inject"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn judging_modes_are_read() {
        assert_eq!(judging("per-criterion"), Ok(Judging::PerCriterion));
        assert_eq!(judging("batched"), Ok(Judging::Batched(None)));
        assert_eq!(judging("batched:4"), Ok(Judging::Batched(std::num::NonZeroUsize::new(4))));
        assert!(judging("batched:0").is_err());
        assert!(judging("all").is_err());
    }

    #[test]
    fn thresholds_lie_between_zero_and_one() {
        assert!(unit("0.8").is_ok());
        assert!(unit("80").is_err());
        assert!(unit("nan").is_err());
    }
}
