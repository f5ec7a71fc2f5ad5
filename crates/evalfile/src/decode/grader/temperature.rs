//! The temperature of a judge.

use assize_diagnostic::Diagnostic;
use assize_document::{MapReader, codes};

use crate::decode::DecodeContext;

/// Decodes `temperature`, from 0 to 2.
pub(super) fn temperature(cx: &mut DecodeContext, object: &mut MapReader<'_>) -> Option<f64> {
    let value = object.number("temperature", &mut cx.problems)?;
    if (0.0..=2.0).contains(&value.value) {
        return Some(value.value);
    }

    Diagnostic::error(codes::OUT_OF_RANGE, "`temperature` is out of range")
        .at(value.span, format!("found {}", value.value))
        .with_help("use a number from 0 to 2")
        .reject_in(&mut cx.problems)
}
