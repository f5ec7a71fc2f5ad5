//! Decoder of one criterion: a text, or a map with its details.

use assize_diagnostic::{Diagnostic, Span, Spanned};
use assize_rubric::{Criterion, CriterionId, Gate, Operator, Scale, Weight};

use super::bands::bands;
use super::gate::GateKeys;
use super::mistaken::text_became_map;
use crate::codes;
use crate::decode::grader::choice;
use crate::decode::object::{not_blank, string, wrong_type};
use crate::decode::{Context, Object};
use crate::model::{CriterionMarks, Format};
use crate::tree::{Data, Node};

/// Length in bytes from which a text gets a warning.
const LONG: usize = 20_000;

/// A decoded criterion, with the facts needed to check the whole rubric.
pub(super) struct Item {
    /// Criterion; `None` after an error, when the other fields still count.
    pub(super) criterion: Option<Criterion>,
    /// Id; `None` if it could not be decoded.
    pub(super) id: Option<CriterionId>,
    /// Span at which the criterion begins.
    pub(super) place: Span,
    /// Span of the id, or that at which the criterion begins.
    pub(super) id_place: Span,
    /// Span of `min_score: 1`, written without a decimal point.
    pub(super) bare_one: Option<Span>,
    /// True if it uses the scale from 0 to 10.
    pub(super) raw_scale: bool,
    /// Spans of its parts.
    pub(super) spans: ItemSpans,
}

/// Spans of the parts of a criterion.
#[derive(Default)]
pub(super) struct ItemSpans {
    head: Option<Span>,
    id: Option<Span>,
    text: Option<Span>,
    weight: Option<Span>,
    required: Option<Span>,
    minimum: Option<Span>,
    bands: Vec<Span>,
}

impl ItemSpans {
    /// Returns the spans in a form that outlives the sources.
    pub(super) fn marks(&self, cx: &Context) -> CriterionMarks {
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

/// Returns the span of key and value of an entry of the map `node`.
fn whole_entry(node: &Node, key: &str) -> Option<Span> {
    let entry = node.as_map()?.iter().find(|entry| entry.key == key && !entry.value.is_null())?;
    Some(entry.key_span.to(entry.value.place()))
}

/// Returns the key of the text of a criterion.
pub(super) const fn text_key(format: Format) -> &'static str {
    match format {
        Format::One => "expected_outcome",
        Format::Two => "outcome",
    }
}

/// Decodes the item at `index` of a rubric. Returns `None` after reporting an item that is not a criterion at
/// all.
pub(super) fn item(cx: &mut Context, node: &Node, index: usize, format: Format) -> Option<Item> {
    match &node.data {
        Data::Str(text) => plain(cx, node, text, index),
        Data::Map(_) => object(cx, node, index, format),
        _ => {
            let mut diagnostic = wrong_type(node, "a criterion", "a text or a map");
            if matches!(node.data, Data::Bool(_) | Data::Int(_) | Data::Float(_)) {
                let written = format!("\"{}\"", cx.sources.slice(node.place()));
                diagnostic = diagnostic.with_suggestion("put it in quotes", node.place(), written);
            }
            cx.problems.add(diagnostic);
            None
        }
    }
}

/// Decodes a plain text: required, weight 1, in both formats.
fn plain(cx: &mut Context, node: &Node, text: &str, index: usize) -> Option<Item> {
    let place = node.place();
    if text.trim().is_empty() {
        cx.problems.add(
            Diagnostic::error(codes::EMPTY_TEXT, "a criterion is empty", place, "nothing here")
                .with_help("write what a good answer must do, or remove the item"),
        );
        return None;
    }
    warn_if_long(cx, text, place);
    let id = CriterionId::by_position(index);
    let criterion = Criterion {
        id: id.clone(),
        text: text.to_owned(),
        weight: Weight::ONE,
        scale: Scale::Checklist,
        gate: Some(Gate::Met),
        operator: Operator::Correctness,
        may_not_apply: false,
    };
    Some(Item {
        criterion: Some(criterion),
        id: Some(id),
        place,
        id_place: place,
        bare_one: None,
        raw_scale: false,
        spans: ItemSpans { head: Some(place), text: Some(place), ..ItemSpans::default() },
    })
}

fn object(cx: &mut Context, node: &Node, index: usize, format: Format) -> Option<Item> {
    if let Some(mistaken) = text_became_map(cx, node) {
        cx.problems.add(mistaken);
        return None;
    }
    let errors = cx.problems.errors();
    let mut object = Object::new(node, "a criterion", &mut cx.problems)?;
    let place = object.head();
    let id = object.text("id", &mut cx.problems);
    let text = text_of(cx, &mut object, format);
    let weight = weight(cx, &mut object);
    let ranges = object.entry("score_ranges").filter(|entry| !entry.value.is_null());
    let banded = ranges.is_some();
    let keys = GateKeys::read(cx, &mut object, banded, format);
    let mut band_spans = Vec::new();
    let scale = match ranges {
        Some(entry) => bands(cx, entry, format).map(|(bands, places)| {
            band_spans = places;
            Scale::Bands(bands)
        }),
        None => Some(Scale::Checklist),
    };
    let operator = operator(cx, &mut object, banded);
    let may_not_apply = object.boolean("allow_not_applicable", &mut cx.problems);
    if text.is_none() && !banded && cx.problems.errors() == errors {
        cx.problems.add(
            Diagnostic::error(
                codes::MISSING_TEXT,
                "this criterion does not say what is checked",
                place,
                "no text here",
            )
            .with_help(format!("add `{}`: what a good answer must do", text_key(format))),
        );
    }
    object.finish(&mut cx.problems);
    let id_place = id.as_ref().map_or(place, |id| id.span);
    let id = match id {
        Some(id) => Some(CriterionId::new(id.value)),
        None if node.get("id").is_none_or(Node::is_null) => Some(CriterionId::by_position(index)),
        None => None,
    };
    let mut item = Item {
        criterion: None,
        id: id.clone(),
        place,
        id_place,
        bare_one: keys.bare_one,
        raw_scale: keys.raw_scale || banded,
        spans: ItemSpans {
            head: Some(place),
            id: (id_place != place).then_some(id_place),
            text: text.as_ref().map(|text| text.span),
            weight: whole_entry(node, "weight"),
            required: whole_entry(node, "required"),
            minimum: whole_entry(node, "min_score").or_else(|| whole_entry(node, "required_min_score")),
            bands: band_spans,
        },
    };
    if cx.problems.errors() == errors
        && let (Some(id), Some(scale)) = (id, scale)
    {
        let gate = keys.resolve(cx, banded, weight.is_penalty(), format == Format::One);
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

/// Decodes the text of a criterion or of a score range, in the spelling of either format. Returns `None` if
/// it is absent, or after adding a diagnostic.
pub(super) fn text_of(cx: &mut Context, object: &mut Object<'_>, format: Format) -> Option<Spanned<String>> {
    let keys: [&'static str; 3] = match format {
        Format::One => ["expected_outcome", "description", "outcome"],
        Format::Two => ["outcome", "expected_outcome", "description"],
    };
    let entry = object.one_of(&keys, &mut cx.problems)?;
    let foreign = match format {
        Format::One => entry.key == "outcome",
        Format::Two => entry.key != "outcome",
    };
    if foreign {
        cx.problems.add(
            Diagnostic::warning(
                codes::OTHER_SPELLING,
                format!("`{}` is the other format's key", entry.key),
                entry.key_span,
                format!("format {} writes `{}`", format.number(), keys[0]),
            )
            .with_help("it is read all the same")
            .with_suggestion("use this format's key", entry.key_span, keys[0]),
        );
    }
    if entry.value.is_null() {
        cx.problems.add(
            Diagnostic::error(
                codes::EMPTY_TEXT,
                format!("`{}` is empty", entry.key),
                entry.key_span,
                "nothing follows",
            )
            .with_help("write the text, or remove the key"),
        );
        return None;
    }
    let text = string(&entry.value, &entry.key, &mut cx.problems)?;
    let text = not_blank(text, &entry.key, &mut cx.problems)?;
    warn_if_long(cx, &text.value, text.span);
    Some(text)
}

fn weight(cx: &mut Context, object: &mut Object<'_>) -> Weight {
    let Some(written) = object.number("weight", &mut cx.problems) else { return Weight::ONE };
    let weight = Weight::new(written.value).unwrap_or(Weight::ONE);
    if weight.is_penalty() {
        cx.problems.add(
            Diagnostic::warning(
                codes::PENALTY_WEIGHT,
                "a negative weight makes this criterion a penalty",
                written.span,
                "meeting it costs points",
            )
            .with_note("score = sum of weight times value / sum of positive weights, kept within 0 and 1")
            .with_help("if no penalty is meant, write a positive weight"),
        );
    }
    weight
}

fn operator(cx: &mut Context, object: &mut Object<'_>, banded: bool) -> Operator {
    let Some(node) = object.value("operator") else { return Operator::Correctness };
    let word = choice(node, "operator", &["correctness", "contradiction"], &mut cx.problems);
    if banded && word.is_some() {
        cx.problems.add(
            Diagnostic::error(
                codes::OPERATOR_WITH_RANGES,
                "`operator` has no meaning beside `score_ranges`",
                node.place(),
                "the ranges say how the answer is scored",
            )
            .with_help("remove `operator`, or make it a checklist criterion without `score_ranges`"),
        );
    }
    match word {
        Some("contradiction") => Operator::Contradiction,
        _ => Operator::Correctness,
    }
}

pub(super) fn warn_if_long(cx: &mut Context, text: &str, span: Span) {
    if text.len() > LONG {
        cx.problems.add(
            Diagnostic::warning(
                codes::LONG_CRITERION,
                "this text is very long for a criterion",
                span.start_point(),
                format!("{} kB begin here", text.len() / 1000),
            )
            .with_help("judges decide best on one short statement; consider splitting it"),
        );
    }
}
