//! Decoder of one criterion: a string, or a map with details.

use assize_diagnostic::{Diagnostic, Span};
use assize_document::{MapReader, NodeValue, TreeNode, codes, wrong_type};
use assize_model::{CriterionMarks, EvalFileFormat};
use assize_rubric::{Criterion, CriterionId, CriterionOperator, CriterionScale, Gate, Weight};

use super::bands::decode_bands;
use super::criterion_text::{decode_criterion_text, text_key, warn_if_long};
use super::gate::GateKeys;
use super::text_as_map::detect_text_as_map;
use crate::decode::DecodeContext;
use crate::decode::common::refuse_foreign_keys;
use crate::decode::grader::decode_choice;

/// A decoded criterion, with the facts that are needed to check the whole rubric.
pub(super) struct DecodedCriterion {
    /// The criterion; `None` after an error. The other fields are used in either case.
    pub(super) criterion: Option<Criterion>,
    /// Id; `None` if it could not be decoded.
    pub(super) id: Option<CriterionId>,
    /// Span at which the criterion begins.
    pub(super) place: Span,
    /// Span of the id, else the span at which the criterion begins.
    pub(super) id_place: Span,
    /// Span of `min_score: 1`, written without a decimal point.
    pub(super) bare_one: Option<Span>,
    /// True if it uses the scale from 0 to 10.
    pub(super) raw_scale: bool,
    /// Spans of its parts.
    pub(super) spans: CriterionSpans,
}

/// Spans of the parts of a criterion.
#[derive(Default)]
pub(super) struct CriterionSpans {
    head: Option<Span>,
    id: Option<Span>,
    text: Option<Span>,
    weight: Option<Span>,
    required: Option<Span>,
    minimum: Option<Span>,
    bands: Vec<Span>,
}

impl CriterionSpans {
    /// Returns the spans in a form that does not need the sources.
    pub(super) fn to_marks(&self, cx: &DecodeContext) -> CriterionMarks {
        let mark = |span: &Option<Span>| span.map(|span| cx.mark(span));
        CriterionMarks {
            head: mark(&self.head),
            id: mark(&self.id),
            text: mark(&self.text),
            weight: mark(&self.weight),
            required: mark(&self.required),
            minimum: mark(&self.minimum),
            bands: self.bands.iter().map(|span| cx.mark(*span)).collect(),
        }
    }
}

/// Returns the span of an entry of the map `node`, key and value.
fn find_entry_span(node: &TreeNode, key: &str) -> Option<Span> {
    let entry = node.as_map()?.iter().find(|entry| entry.key == key && !entry.value.is_null())?;
    Some(entry.key_span.to(entry.value.use_span()))
}

/// Decodes the item at `index` of a rubric. Returns `None` after reporting an item that is not a criterion at
/// all.
pub(super) fn decode_criterion(
    cx: &mut DecodeContext,
    node: &TreeNode,
    index: usize,
) -> Option<DecodedCriterion> {
    match &node.data {
        NodeValue::Str(text) => decode_plain_criterion(cx, node, text, index),
        NodeValue::Map(_) => decode_criterion_map(cx, node, index),
        _ => {
            let mut diagnostic = wrong_type(node, "a criterion", "a text or a map");
            if matches!(node.data, NodeValue::Bool(_) | NodeValue::Int(_) | NodeValue::Float(_)) {
                let written = format!("\"{}\"", cx.sources.slice(node.use_span()));
                diagnostic = diagnostic.with_suggestion("put it in quotes", node.use_span(), written);
            }

            cx.problems.add(diagnostic);
            None
        }
    }
}

/// Decodes a plain string. In both formats it is required and has the weight 1.
fn decode_plain_criterion(
    cx: &mut DecodeContext,
    node: &TreeNode,
    text: &str,
    index: usize,
) -> Option<DecodedCriterion> {
    let place = node.use_span();
    if text.trim().is_empty() {
        Diagnostic::error(codes::EMPTY_TEXT, "a criterion is empty")
            .at(place, "nothing here")
            .with_help("write what a good answer must do, or remove the item")
            .add_to(&mut cx.problems);
        return None;
    }

    warn_if_long(cx, text, place);
    let id = CriterionId::from_position(index);
    let criterion = Criterion {
        id: id.clone(),
        text: text.to_owned(),
        weight: Weight::ONE,
        scale: CriterionScale::Checklist,
        gate: Some(Gate::Met),
        operator: CriterionOperator::Correctness,
        may_not_apply: false,
    };
    Some(DecodedCriterion {
        criterion: Some(criterion),
        id: Some(id),
        place,
        id_place: place,
        bare_one: None,
        raw_scale: false,
        spans: CriterionSpans { head: Some(place), text: Some(place), ..CriterionSpans::default() },
    })
}

/// Advice for a range without texts.
const RANGE_HELP: &str = "write the range of the score with a text for each part of it: \
                          `score_ranges: [{score_range: [0, 4], expected_outcome: TEXT}, ...]`, from 0 to 10";
/// Keys that people and other tools use for the text of a criterion, each with advice: in the `evalcases`
/// format, then in the `tests` format.
const FOREIGN_TEXT_KEYS_ONE: &[(&str, &str)] = &[
    ("criterion", "write the text as `expected_outcome`"),
    ("text", "write the text as `expected_outcome`"),
    ("requirement", "write the text as `expected_outcome`"),
    ("name", "write the name as `id`, and the text as `expected_outcome`"),
    ("range", RANGE_HELP),
];
const FOREIGN_TEXT_KEYS_TWO: &[(&str, &str)] = &[
    ("criterion", "write the text as `outcome`"),
    ("text", "write the text as `outcome`"),
    ("requirement", "write the text as `outcome`"),
    ("name", "write the name as `id`, and the text as `outcome`"),
    ("range", RANGE_HELP),
];

fn decode_criterion_map(cx: &mut DecodeContext, node: &TreeNode, index: usize) -> Option<DecodedCriterion> {
    if let Some(mistaken) = detect_text_as_map(cx, node) {
        cx.problems.add(mistaken);
        return None;
    }

    let errors = cx.problems.error_count();
    let mut object = MapReader::new(node, "a criterion", &mut cx.problems)?;
    let place = object.head();
    refuse_foreign_keys(cx, &mut object, cx.format.choose(FOREIGN_TEXT_KEYS_ONE, FOREIGN_TEXT_KEYS_TWO));

    let id = object.text("id", &mut cx.problems);
    let gate_keys = ["required", "min_score", "required_min_score", "score_ranges"];
    let leaves_gate_open = gate_keys.iter().all(|key| node.get(key).is_none());
    let text = decode_criterion_text(cx, &mut object, leaves_gate_open);
    let weight = decode_criterion_weight(cx, &mut object);
    let ranges = object.entry("score_ranges").filter(|entry| !entry.value.is_null());
    let banded = ranges.is_some();
    let keys = GateKeys::decode(cx, &mut object, banded);
    let mut band_spans = Vec::new();
    let scale = match ranges {
        Some(entry) => decode_bands(cx, entry).map(|(bands, places)| {
            band_spans = places;
            CriterionScale::Bands(bands)
        }),
        None => Some(CriterionScale::Checklist),
    };

    let operator = decode_operator(cx, &mut object, banded);
    let may_not_apply = object.boolean("allow_not_applicable", &mut cx.problems);

    if text.is_none() && !banded && cx.problems.error_count() == errors {
        Diagnostic::error(codes::MISSING_TEXT, "this criterion has no text")
            .at(place, "no text here")
            .with_help(format!("add `{}`: what a good answer must do", text_key(cx.format)))
            .add_to(&mut cx.problems);
    }

    object.finish(&mut cx.problems);
    let id_place = id.as_ref().map_or(place, |id| id.span);
    let id = match id {
        Some(id) => Some(CriterionId::new(id.value)),
        None if node.get("id").is_none_or(TreeNode::is_null) => Some(CriterionId::from_position(index)),
        None => None,
    };
    let mut item = DecodedCriterion {
        criterion: None,
        id: id.clone(),
        place,
        id_place,
        bare_one: keys.bare_one,
        raw_scale: keys.raw_scale || banded,
        spans: CriterionSpans {
            head: Some(place),
            id: (id_place != place).then_some(id_place),
            text: text.as_ref().map(|text| text.span),
            weight: find_entry_span(node, "weight"),
            required: find_entry_span(node, "required"),
            minimum: find_entry_span(node, "min_score")
                .or_else(|| find_entry_span(node, "required_min_score")),
            bands: band_spans,
        },
    };
    if cx.problems.error_count() == errors
        && let (Some(id), Some(scale)) = (id, scale)
    {
        let gate = keys.resolve(cx, banded, weight.is_penalty(), cx.format == EvalFileFormat::One);
        item.criterion = Some(Criterion {
            id,
            text: text.map(|text| text.value).unwrap_or_default(),
            weight,
            scale,
            gate,
            operator,
            may_not_apply: may_not_apply.is_some_and(|flag| flag.value),
        });
    }

    Some(item)
}

fn decode_criterion_weight(cx: &mut DecodeContext, object: &mut MapReader<'_>) -> Weight {
    let Some(written) = object.number("weight", &mut cx.problems) else { return Weight::ONE };
    let weight = Weight::new(written.value).unwrap_or(Weight::ONE);
    if weight.is_penalty() {
        Diagnostic::warning(codes::PENALTY_WEIGHT, "a negative weight makes this criterion a penalty")
            .at(written.span, "if met, it costs points")
            .with_note("score = sum of weight times value / sum of positive weights, clamped to 0 and 1")
            .with_help("if this is not a penalty, write a positive weight")
            .add_to(&mut cx.problems);
    }

    weight
}

fn decode_operator(cx: &mut DecodeContext, object: &mut MapReader<'_>, banded: bool) -> CriterionOperator {
    let Some(node) = object.value("operator") else { return CriterionOperator::Correctness };
    let operator = decode_choice(node, "operator", &CriterionOperator::NAMES, &mut cx.problems)
        .and_then(CriterionOperator::from_name);
    if banded && operator.is_some() {
        Diagnostic::error(codes::OPERATOR_WITH_RANGES, "`operator` has no effect with `score_ranges`")
            .at(node.use_span(), "the ranges define the score")
            .with_help("remove `operator`, or make it a checklist criterion without `score_ranges`")
            .add_to(&mut cx.problems);
    }

    operator.unwrap_or_default()
}
