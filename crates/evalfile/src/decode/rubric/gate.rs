//! Decoder of the gate of a criterion: `required`, `min_score` and `required_min_score`.

use assize_diagnostic::{Diagnostic, Span, SpannedValue};
use assize_document::{MapEntry, MapReader, NodeValue, codes, number};
use assize_model::EvalFileFormat;
use assize_rubric::{Gate, RawScore, UnitInterval};

use crate::decode::DecodeContext;

/// The gate keys of a criterion, as written.
pub(super) struct GateKeys {
    required: Option<SpannedValue<bool>>,
    /// The minimum, with the span of its key and value.
    minimum: Option<(Gate, Span)>,
    /// Span of the value of `min_score` if it is the integer 1.
    pub(super) bare_one: Option<Span>,
    /// True if `required_min_score` is given.
    pub(super) raw_scale: bool,
}

impl GateKeys {
    /// Decodes the three keys. `banded` is true if the criterion has score ranges.
    pub(super) fn decode(cx: &mut DecodeContext, object: &mut MapReader<'_>, banded: bool) -> Self {
        let required = object.boolean("required", &mut cx.problems);
        let min_score = object.entry("min_score").filter(|entry| !entry.value.is_null());
        let raw_minimum = object.entry("required_min_score").filter(|entry| !entry.value.is_null());
        if let (Some(unit), Some(raw)) = (min_score, raw_minimum) {
            let (first, second) =
                if unit.key_span.start < raw.key_span.start { (unit, raw) } else { (raw, unit) };
            Diagnostic::error(codes::TWO_MINIMUMS, "a criterion can have only one minimum")
                .at(second.key_span, "second minimum")
                .with_secondary(first.key_span, "first minimum")
                .with_help("keep `min_score` (0 to 1) or `required_min_score` (0 to 10)")
                .add_to(&mut cx.problems);
        }

        let unit = min_score.and_then(|entry| decode_min_score(cx, entry, banded));
        // If there are two minimums, one must be removed. A warning about the spelling of this one would be
        // pointless.
        let spelling = if min_score.is_some() { EvalFileFormat::One } else { cx.format };
        let raw = raw_minimum.and_then(|entry| decode_raw_minimum(cx, entry, banded, spelling));
        Self {
            required,
            minimum: unit.or(raw),
            bare_one: min_score
                .filter(|entry| entry.value.data == NodeValue::Int(1))
                .map(|entry| entry.value.use_span()),
            raw_scale: raw_minimum.is_some(),
        }
    }

    /// Combines the keys to a gate. `default` is true if checklist criteria are required by default.
    pub(super) fn resolve(
        &self,
        cx: &mut DecodeContext,
        banded: bool,
        penalty: bool,
        default: bool,
    ) -> Option<Gate> {
        let explicit = self.required.as_ref().map(|required| required.value);

        if let (Some(SpannedValue { value: false, span }), Some((_, minimum))) =
            (&self.required, &self.minimum)
        {
            return Diagnostic::warning(codes::GATE_TURNED_OFF, "this minimum has no effect")
                .at(*minimum, "never fails the case")
                .with_secondary(*span, "`required: false` disables it")
                .with_help("remove one of the two keys")
                .reject_in(&mut cx.problems);
        }

        if penalty && let Some(SpannedValue { value: true, span }) = self.required {
            Diagnostic::warning(codes::REQUIRED_PENALTY, "a penalty is required")
                .at(span, "the case would fail unless this penalty is incurred")
                .with_help("remove `required`, or invert the text and give it a positive weight")
                .add_to(&mut cx.problems);
        }

        match (explicit, &self.minimum) {
            (Some(false), _) => None,
            (_, Some((gate, _))) if banded => Some(*gate),
            (_, Some((gate, span))) => {
                let diagnostic = Diagnostic::warning(
                    codes::MIN_SCORE_ON_CHECKLIST,
                    "a checklist criterion is either met or unmet",
                )
                .at(*span, "every minimum above 0 means that it must be met")
                .with_help("write `required: true`, or add `score_ranges`");

                cx.problems.add(match explicit {
                    Some(_) => diagnostic,
                    None => diagnostic.with_suggestion("write `required: true`", *span, "required: true"),
                });
                Some(if explicit == Some(true) { Gate::Met } else { *gate })
            }
            (Some(true), None) if banded => {
                if let Some(required) = &self.required {
                    Diagnostic::warning(codes::REQUIRED_WITHOUT_MINIMUM, "a required score needs a minimum")
                        .at(required.span, "required, but without a minimum")
                        .with_note("the criterion must reach the pass threshold")
                        .with_help(
                            "set the lowest acceptable score: `min_score: 0.7` or `required_min_score: 7`",
                        )
                        .add_to(&mut cx.problems);
                }
                Some(Gate::PassLine)
            }
            (Some(true), None) => Some(Gate::Met),
            // A penalty is met by bad answers only, so it is never required by default.
            (None, None) => (default && !banded && !penalty).then_some(Gate::Met),
        }
    }
}

fn decode_min_score(cx: &mut DecodeContext, entry: &MapEntry, banded: bool) -> Option<(Gate, Span)> {
    let whole = entry.key_span.to(entry.value.use_span());
    let value = number(&entry.value, "min_score", &mut cx.problems)?.value;
    if let Ok(unit) = UnitInterval::new(value) {
        return Some((Gate::MinValue(unit), whole));
    }

    let mut diagnostic = Diagnostic::error(codes::MIN_SCORE_SCALE, "`min_score` runs from 0 to 1")
        .at(entry.value.use_span(), format!("found {value}"));

    diagnostic = if value.fract() == 0.0 && (2.0..=10.0).contains(&value) {
        if banded {
            diagnostic
                .with_help("a minimum on the scale from 0 to 10 is written `required_min_score`")
                .with_suggestion("use the other key", whole, format!("required_min_score: {value}"))
        } else {
            diagnostic
                .with_help(format!(
                    "with `score_ranges`, a minimum from 0 to 10 is `required_min_score: {value}`"
                ))
                .with_help("a checklist criterion is either met or unmet: write `required: true`")
                .with_suggestion("require that it is met", whole, "required: true")
        }
    } else if (2.0..=100.0).contains(&value) {
        let scale = if value <= 10.0 { 10.0 } else { 100.0 };
        diagnostic
            .with_help(format!("if {value} of {scale} was meant, write {}", value / scale))
            .with_suggestion(
                "use the scale from 0 to 1",
                entry.value.use_span(),
                format!("{}", value / scale),
            )
    } else {
        diagnostic.with_help("write a number such as 0.7")
    };

    cx.problems.reject(diagnostic)
}

fn decode_raw_minimum(
    cx: &mut DecodeContext,
    entry: &MapEntry,
    banded: bool,
    format: EvalFileFormat,
) -> Option<(Gate, Span)> {
    let whole = entry.key_span.to(entry.value.use_span());
    if !banded {
        return Diagnostic::error(codes::MINIMUM_WITHOUT_RANGES, "`required_min_score` needs `score_ranges`")
            .at(whole, "this criterion is met or not; it has no score")
            .with_help("write `required: true`, or describe the scores with `score_ranges`")
            .with_suggestion("require that it is met", whole, "required: true")
            .reject_in(&mut cx.problems);
    }

    let value = number(&entry.value, "required_min_score", &mut cx.problems)?.value;
    let raw = (value.fract() == 0.0 && (0.0..=10.0).contains(&value)).then_some(value as u8);
    let Some(raw) = raw.and_then(|raw| RawScore::new(raw).ok()) else {
        let mut diagnostic =
            Diagnostic::error(codes::MIN_SCORE_SCALE, "`required_min_score` is a whole number from 0 to 10")
                .at(entry.value.use_span(), format!("found {value}"));

        diagnostic = if value > 0.0 && value < 1.0 {
            diagnostic.with_help("a minimum from 0 to 1 is written `min_score`").with_suggestion(
                "use the other key",
                whole,
                format!("min_score: {value}"),
            )
        } else {
            diagnostic.with_help("judges give whole scores from 0 to 10")
        };

        return cx.problems.reject(diagnostic);
    };
    if format == EvalFileFormat::Two {
        Diagnostic::warning(codes::OTHER_SPELLING, "the `tests` format writes minimums as `min_score`")
            .at(entry.key_span, "the key of the `evalcases` format")
            .with_help(format!("write `min_score: {}`", raw.value()))
            .with_suggestion(
                "use the key of the `tests` format",
                whole,
                format!("min_score: {}", raw.value()),
            )
            .add_to(&mut cx.problems);
    }

    Some((Gate::MinRaw(raw), whole))
}
