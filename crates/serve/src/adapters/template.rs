//! Templates of OpenAI graders: `{{ item.x }}` and `{{ sample.output_text }}`.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use assize_limits::GRADER_REFERENCES as MAX_REFERENCES;
use assize_limits::GRADER_TEXT_BYTES as MAX_FILLED_BYTES;
use assize_limits::GRADER_TEXTS_BYTES as MAX_BYTES_TOGETHER;
use serde_json::Value;

/// Values that templates refer to.
#[derive(Debug)]
pub(crate) struct TemplateValues {
    item: Value,
    pub(crate) sample: String,
    /// The sample parsed as JSON, when a reference needs it; `None` if it is not JSON.
    sample_json: OnceLock<Option<Value>>,
    /// Bytes of the texts filled so far.
    bytes: AtomicUsize,
}

/// The value of a reference.
enum ReferredValue<'v> {
    Text(&'v String),
    Json(&'v Value),
}

impl TemplateValues {
    pub(crate) const fn new(item: Value, sample: String) -> Self {
        Self { item, sample, sample_json: OnceLock::new(), bytes: AtomicUsize::new(0) }
    }

    pub(crate) const fn item(&self) -> &Value {
        &self.item
    }

    /// Finds the value of a reference; `None` if it does not exist.
    fn find(&self, reference: &str) -> Option<ReferredValue<'_>> {
        let mut parts = reference.split('.');
        match parts.next()? {
            "item" => walk(&self.item, parts).map(ReferredValue::Json),
            "sample" => match parts.next()? {
                "output_text" => parts.next().is_none().then_some(ReferredValue::Text(&self.sample)),
                "output_json" => {
                    let json = self.sample_json.get_or_init(|| serde_json::from_str(&self.sample).ok());
                    walk(json.as_ref()?, parts).map(ReferredValue::Json)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Text with its references filled in.
    ///
    /// # Errors
    /// With the first reference without a value, or when all texts together are too long.
    pub(crate) fn fill(&self, text: &str) -> Result<String, String> {
        let filled = replace(text, |reference| self.text(reference))?;
        self.count(filled.len())?;
        Ok(filled)
    }

    /// Adds the bytes of a text to the total.
    fn count(&self, bytes: usize) -> Result<(), String> {
        if self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes <= MAX_BYTES_TOGETHER {
            return Ok(());
        }

        let most = MAX_BYTES_TOGETHER >> 20;
        Err(format!("the values of references make the texts of the request longer than {most} MiB"))
    }

    /// Values of the references in a text, by name, to be shown as data.
    ///
    /// # Errors
    /// With the first reference without a value, or when all texts together are too long.
    pub(crate) fn named_values(&self, text: &str) -> Result<Vec<(String, String)>, String> {
        let mut found: Vec<(String, String)> = Vec::new();
        let mut bytes = 0;
        replace(text, |reference| {
            if !found.iter().any(|(name, _)| name == reference) {
                let value = self.text(reference)?;
                bytes += value.len();
                check_length(bytes)?;
                found.push((reference.to_owned(), value));
            }
            Ok(String::new())
        })?;
        self.count(bytes)?;

        Ok(found)
    }

    /// Text of the value of a reference.
    fn text(&self, reference: &str) -> Result<String, String> {
        let value = self.find(reference).ok_or_else(|| format!("`{{{{ {reference} }}}}` has no value"))?;
        Ok(match value {
            ReferredValue::Text(text) | ReferredValue::Json(Value::String(text)) => text.clone(),
            ReferredValue::Json(other) => other.to_string(),
        })
    }

    /// Replaces the references of a text by names, so that values stay data: `item.x` for a value of the item, "the
    /// answer" for the sample.
    ///
    /// # Errors
    /// With the first reference without a value.
    pub(crate) fn name(&self, text: &str) -> Result<String, String> {
        replace(text, |reference| {
            self.find(reference).ok_or_else(|| format!("`{{{{ {reference} }}}}` has no value"))?;
            let is_answer = reference.starts_with("sample.output_text");
            Ok(if is_answer { "[the answer]".to_owned() } else { format!("[{reference}]") })
        })
    }
}

fn check_length(bytes: usize) -> Result<(), String> {
    if bytes <= MAX_FILLED_BYTES {
        return Ok(());
    }

    Err(format!("the values of its references make the text longer than {} MiB", MAX_FILLED_BYTES >> 20))
}

fn walk<'v, 'p>(value: &'v Value, mut parts: impl Iterator<Item = &'p str>) -> Option<&'v Value> {
    parts.try_fold(value, |value, part| match value {
        Value::Array(list) => list.get(part.parse::<usize>().ok()?),
        other => other.get(part),
    })
}

fn replace(text: &str, mut with: impl FnMut(&str) -> Result<String, String>) -> Result<String, String> {
    let mut result = String::with_capacity(text.len());
    let (mut rest, mut references) = (text, 0);
    while let Some(start) = rest.find("{{") {
        let Some(end) = rest[start..].find("}}") else { break };
        references += 1;
        if references > MAX_REFERENCES {
            return Err(format!("more than {MAX_REFERENCES} references in one text"));
        }

        result.push_str(&rest[..start]);
        let value = with(rest[start + 2..start + end].trim())?;
        check_length(result.len() + value.len())?;
        result.push_str(&value);
        rest = &rest[start + end + 2..];
    }
    result.push_str(rest);

    Ok(result)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references_are_filled_once_and_never_read_again() {
        let values = TemplateValues::new(
            json!({"a": {"b": ["x", "{{ item.secret }}"]}, "n": 3, "secret": "s"}),
            r#"{"k": "{{ item.secret }}"}"#.to_owned(),
        );
        assert_eq!(values.fill("{{item.a.b.0}} {{ item.n }}").unwrap(), "x 3");
        assert_eq!(
            values.fill("{{ item.a.b.1 }}|{{ sample.output_json.k }}").unwrap(),
            "{{ item.secret }}|{{ item.secret }}"
        );
        assert_eq!(
            values.name("Is {{ sample.output_text }} like {{ item.n }}?").unwrap(),
            "Is [the answer] like [item.n]?"
        );
        assert_eq!(
            values.named_values("{{ item.n }} {{item.n}} {{ sample.output_json.k }}").unwrap(),
            [("item.n", "3"), ("sample.output_json.k", "{{ item.secret }}")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
        );
        assert!(values.named_values("{{ item.none }}").is_err());
        for wrong in ["{{ item.none }}", "{{ env.HOME }}", "{{ sample.other }}", "{{}}"] {
            assert!(values.fill(wrong).is_err(), "{wrong}");
        }
        assert_eq!(values.fill("open {{ item.n").unwrap(), "open {{ item.n");
    }

    #[test]
    fn a_long_value_is_not_filled_in_again_and_again() {
        let values = TemplateValues::new(json!({"n": 3}), "a".repeat(1 << 20));
        let text = "{{ sample.output_text }}";
        assert!(values.fill(text).is_ok() && values.named_values(&text.repeat(10)).is_ok());
        assert!(values.fill(&text.repeat(10)).unwrap_err().contains("longer than 4 MiB"));
        let many = (0..40).find_map(|_| values.fill(text).err());
        assert!(many.unwrap().contains("longer than 32 MiB"), "many graders refer to it");
        assert!(
            values.fill(&"{{ item.n }}".repeat(1_001)).unwrap_err().contains("more than 1000 references")
        );
    }
}
