//! Parses the criteria in a model's reply, without guesses, rounding or corrections.

use assize_rubric::{Criterion, CriterionId, CriterionScale, Gate, RawScore, ScoreBand, ScoreBands, Weight};
use serde_json::{Map, Value};

use super::RubricForm;

/// Largest weight that a draft may give.
const MAX_WEIGHT: f64 = 10.0;
/// Longest text of a criterion or a range, in characters.
const MAX_TEXT: usize = 400;
/// Longest id.
const MAX_ID: usize = 48;

/// Parses the criteria of a reply. Every problem is reported, worded for the model and the user.
pub(super) fn read(reply: &Value, form: RubricForm) -> Result<Vec<Criterion>, Vec<String>> {
    let mut problems = Vec::new();
    let Some(items) = reply.get("criteria").and_then(Value::as_array) else {
        return Err(vec!["`criteria` is not a list".to_owned()]);
    };
    let mut criteria = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let mut reader = CriteriaReader { name: format!("criterion {}", index + 1), problems: &mut problems };
        match item.as_object() {
            Some(map) => criteria.extend(reader.criterion(map, form)),
            None => reader.say("is not an object"),
        }
    }

    if problems.is_empty() { Ok(criteria) } else { Err(problems) }
}

struct CriteriaReader<'p> {
    name: String,
    problems: &'p mut Vec<String>,
}

impl CriteriaReader<'_> {
    fn say(&mut self, what: impl std::fmt::Display) {
        self.problems.push(format!("{}: {what}", self.name));
    }

    fn criterion(&mut self, map: &Map<String, Value>, form: RubricForm) -> Option<Criterion> {
        let known: &[&str] = match form {
            RubricForm::Checklist => &["id", "text", "weight", "required"],
            RubricForm::Ranges => &["id", "text", "weight", "minimum", "ranges"],
        };
        for key in map.keys().filter(|key| !known.contains(&key.as_str())) {
            self.say(format!("`{key}` is not part of the form"));
        }

        let id = self.id(map.get("id"));
        let text = self.text(map.get("text"), "text");
        let weight = self.weight(map.get("weight"));
        let (scale, gate) = match form {
            RubricForm::Checklist => (Some(CriterionScale::Checklist), self.required(map.get("required"))),
            RubricForm::Ranges => {
                let bands = self.bands(map.get("ranges"));
                let gate = self.minimum(map.get("minimum"), bands.as_ref());
                (bands.map(CriterionScale::Bands), gate)
            }
        };

        Some(Criterion { weight: weight?, scale: scale?, gate, ..Criterion::checklist(id?, text?) })
    }

    fn id(&mut self, value: Option<&Value>) -> Option<String> {
        let Some(id) = value.and_then(Value::as_str) else {
            self.say("`id` is missing or not a text");
            return None;
        };
        let part = |part: &str| {
            !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        };
        if id.len() > MAX_ID || !id.split('-').all(part) {
            self.say(format!("the id `{}` is not a few lower-case words joined by hyphens", shown(id)));
            return None;
        }

        self.name = format!("criterion `{id}`");
        Some(id.to_owned())
    }

    fn text(&mut self, value: Option<&Value>, key: &str) -> Option<String> {
        let Some(text) = value.and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty()) else {
            self.say(format!("`{key}` is missing, empty or not a text"));
            return None;
        };
        let unfit = if text.chars().any(char::is_control) {
            Some("must be a single line")
        } else if text.chars().count() > MAX_TEXT {
            Some("is longer than 400 characters; a criterion is one short sentence")
        } else if text.contains("{{") || text.contains("{%") {
            // It would be filled in when the file is read.
            Some("must not contain template braces")
        } else {
            None
        };
        if let Some(why) = unfit {
            self.say(format!("`{key}` {why}"));
            return None;
        }

        Some(text.to_owned())
    }

    fn weight(&mut self, value: Option<&Value>) -> Option<Weight> {
        let number = value.and_then(Value::as_f64).filter(|n| *n > 0.0 && *n <= MAX_WEIGHT);
        let weight = number.and_then(|number| Weight::new(number).ok());
        if weight.is_none() {
            self.say("`weight` must be a number above 0 and at most 10");
        }

        weight
    }

    fn required(&mut self, value: Option<&Value>) -> Option<Gate> {
        let required = value.and_then(Value::as_bool);
        if required.is_none() {
            self.say("`required` must be true or false");
        }
        required.unwrap_or(false).then_some(Gate::Met)
    }

    fn minimum(&mut self, value: Option<&Value>, bands: Option<&ScoreBands>) -> Option<Gate> {
        let value = value.filter(|value| !value.is_null())?;
        let Some(raw) = raw(value).filter(|raw| *raw > RawScore::MIN) else {
            self.say("`minimum` must be a whole number from 1 to 10, or null");
            return None;
        };
        if bands.is_some_and(|bands| bands.band_for(raw).low != raw) {
            self.say(format!("`minimum` {} is not the first number of a range", raw.get()));
        }

        Some(Gate::MinRaw(raw))
    }

    fn bands(&mut self, value: Option<&Value>) -> Option<ScoreBands> {
        let Some(items) = value.and_then(Value::as_array) else {
            self.say("`ranges` must be a list");
            return None;
        };
        if !(2..=5).contains(&items.len()) {
            self.say(format!("has {} ranges; give 2 to 5", items.len()));
            return None;
        }

        let mut bands = Vec::new();
        for item in items {
            let low = item.get("low").and_then(raw);
            let high = item.get("high").and_then(raw);
            let text = self.text(item.get("text"), "text of a range");

            if low.is_none() || high.is_none() {
                self.say("`low` and `high` of a range must be whole numbers from 0 to 10");
            }

            bands.extend(low.zip(high).zip(text).map(|((low, high), text)| ScoreBand { low, high, text }));
        }

        if bands.len() < items.len() {
            return None;
        }

        match ScoreBands::new(bands) {
            Ok(bands) => Some(bands),
            Err(errors) => {
                for error in &errors {
                    self.say(error);
                }
                None
            }
        }
    }
}

fn raw(value: &Value) -> Option<RawScore> {
    value.as_u64().and_then(|n| u8::try_from(n).ok()).and_then(|n| RawScore::new(n).ok())
}

fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(40).collect()
}

/// An id that no criterion has yet, based on `wish`.
pub(super) fn free_id(wish: &str, taken: &[Criterion]) -> CriterionId {
    let is_taken = |id: &str| taken.iter().any(|criterion| criterion.id.as_str() == id);
    let mut id = wish.to_owned();
    let mut number = 2u32;
    while is_taken(&id) {
        id = format!("{wish}-{number}");
        number += 1;
    }

    CriterionId::new(id)
}
