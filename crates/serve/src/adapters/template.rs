//! Templates of OpenAI graders: `{{ item.x }}` and `{{ sample.output_text }}`.

use serde_json::Value;

/// Values that templates refer to.
#[derive(Debug)]
pub(crate) struct TemplateValues {
    pub(crate) item: Value,
    pub(crate) sample: String,
}

impl TemplateValues {
    /// Value of a reference; `None` for one that leads nowhere.
    fn find(&self, reference: &str) -> Option<Value> {
        let mut parts = reference.split('.');
        match parts.next()? {
            "item" => walk(&self.item, parts),
            "sample" => match parts.next()? {
                "output_text" => parts.next().is_none().then(|| Value::from(self.sample.as_str())),
                "output_json" => walk(&serde_json::from_str(&self.sample).ok()?, parts),
                _ => None,
            },
            _ => None,
        }
    }

    /// Text with the values in the place of the references.
    ///
    /// # Errors
    /// With the first reference that leads nowhere.
    pub(crate) fn fill(&self, text: &str) -> Result<String, String> {
        replace(text, |reference| self.text(reference))
    }

    /// Values of the references in a text, by their names, for those who show them as data.
    ///
    /// # Errors
    /// With the first reference that leads nowhere.
    pub(crate) fn named_values(&self, text: &str) -> Result<Vec<(String, String)>, String> {
        let mut found: Vec<(String, String)> = Vec::new();
        replace(text, |reference| {
            let value = self.text(reference)?;
            if !found.iter().any(|(name, _)| name == reference) {
                found.push((reference.to_owned(), value));
            }
            Ok(String::new())
        })?;

        Ok(found)
    }

    /// Text of a reference.
    fn text(&self, reference: &str) -> Result<String, String> {
        let value = self.find(reference).ok_or_else(|| format!("`{{{{ {reference} }}}}` leads nowhere"))?;
        Ok(match value {
            Value::String(text) => text,
            other => other.to_string(),
        })
    }

    /// Text with references named instead of filled, so that values stay data: those of the item as `item.x`, that of the
    /// sample as "the answer".
    ///
    /// # Errors
    /// With the first reference that leads nowhere.
    pub(crate) fn name(&self, text: &str) -> Result<String, String> {
        replace(text, |reference| {
            self.find(reference).ok_or_else(|| format!("`{{{{ {reference} }}}}` leads nowhere"))?;
            let is_answer = reference.starts_with("sample.output_text");
            Ok(if is_answer { "[the answer]".to_owned() } else { format!("[{reference}]") })
        })
    }
}

fn walk<'p>(value: &Value, mut parts: impl Iterator<Item = &'p str>) -> Option<Value> {
    let found = parts.try_fold(value, |value, part| match value {
        Value::Array(list) => list.get(part.parse::<usize>().ok()?),
        other => other.get(part),
    });
    found.cloned()
}

fn replace(text: &str, mut with: impl FnMut(&str) -> Result<String, String>) -> Result<String, String> {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("{{") {
        let Some(end) = rest[start..].find("}}") else { break };
        result.push_str(&rest[..start]);
        result.push_str(&with(rest[start + 2..start + end].trim())?);
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
        let values = TemplateValues {
            item: json!({"a": {"b": ["x", "{{ item.secret }}"]}, "n": 3, "secret": "s"}),
            sample: r#"{"k": "{{ item.secret }}"}"#.to_owned(),
        };
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
}
