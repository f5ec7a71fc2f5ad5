//! Samples in the form that Python passes: a text, or a dictionary with the keys of a sample of the grading
//! service.

use std::collections::BTreeMap;

use assize_diagnostic::did_you_mean;
use assize_engine::{GradingSample, SampleParts, SamplePlace};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use serde_json::Value;

use crate::failure::LibraryError;

/// Keys of a sample.
const KEYS: [&str; 8] =
    ["id", "input", "output", "messages", "reference", "expected_outcome", "vars", "group"];

/// A sample that was read.
pub(crate) struct ReadSample {
    pub(crate) place: SamplePlace,
    pub(crate) sample: GradingSample,
    pub(crate) vars: Option<BTreeMap<String, Value>>,
}

/// Reads samples; holds the JSON encoder for values that are not texts.
pub(crate) struct SampleReader<'py> {
    dumps: Option<Bound<'py, PyAny>>,
    py: Python<'py>,
}

impl<'py> SampleReader<'py> {
    pub(crate) fn new(py: Python<'py>) -> Self {
        Self { dumps: None, py }
    }

    /// Reads a sample.
    ///
    /// # Errors
    /// When it has no answer, an unknown key, or a value that can't be JSON.
    pub(crate) fn read(&mut self, index: usize, value: &Bound<'py, PyAny>) -> PyResult<ReadSample> {
        if let Ok(text) = value.cast::<PyString>() {
            let parts =
                SampleParts { output: Some(Value::from(text.to_string_lossy())), ..SampleParts::default() };
            return made(SamplePlace { index, id: index.to_string(), group: None }, parts, None);
        }
        let Ok(dict) = value.cast::<PyDict>() else {
            let found = value.get_type().name()?.to_string();
            return Err(problem(index, "", &format!("expected a text or a dictionary, found {found}")));
        };

        let mut parts = SampleParts::default();
        let (mut id, mut group, mut vars) = (None, None, None);
        for (key, value) in dict.iter() {
            let key = key.cast::<PyString>().map_err(|_| problem(index, "", "keys are texts"))?;
            let key = key.to_string_lossy();
            if value.is_none() {
                if !KEYS.contains(&&*key) {
                    return Err(unknown_key(index, &key));
                }
                continue;
            }
            match &*key {
                "id" => id = Some(value.str()?.to_string_lossy().into_owned()),
                "group" => group = Some(value.str()?.to_string_lossy().into_owned()),
                "input" => parts.input = Some(self.json(index, "input", &value)?),
                "output" => parts.output = Some(self.json(index, "output", &value)?),
                "reference" => parts.reference = Some(self.json(index, "reference", &value)?),
                "expected_outcome" => match self.json(index, "expected_outcome", &value)? {
                    Value::String(text) => parts.expected_outcome = Some(text),
                    _ => return Err(problem(index, "/expected_outcome", "expected a text")),
                },
                "messages" => match self.json(index, "messages", &value)? {
                    Value::Array(list) => parts.messages = Some(list),
                    _ => return Err(problem(index, "/messages", "expected a list of messages")),
                },
                "vars" => match self.json(index, "vars", &value)? {
                    Value::Object(map) => vars = Some(map.into_iter().collect()),
                    _ => return Err(problem(index, "/vars", "expected a dictionary")),
                },
                _ => return Err(unknown_key(index, &key)),
            }
        }

        match (&parts.output, &parts.messages) {
            (None, None) => {
                return Err(problem(index, "", "no answer: give it as `output`, or as `messages`"));
            }
            (Some(_), Some(_)) => {
                return Err(problem(index, "/messages", "the answer is given twice, as `output` too"));
            }
            _ => {}
        }
        made(SamplePlace { index, id: id.unwrap_or_else(|| index.to_string()), group }, parts, vars)
    }

    /// A Python value as JSON.
    fn json(&mut self, index: usize, key: &str, value: &Bound<'py, PyAny>) -> PyResult<Value> {
        if let Ok(text) = value.cast::<PyString>() {
            return Ok(Value::from(text.to_string_lossy()));
        }

        let dumps = match &self.dumps {
            Some(dumps) => dumps,
            None => self.dumps.insert(self.py.import("json")?.getattr("dumps")?),
        };
        let text =
            dumps.call1((value,)).map_err(|error| problem(index, &format!("/{key}"), &error.to_string()))?;
        let text = text.cast::<PyString>()?.to_string_lossy();
        serde_json::from_str(&text).map_err(|error| problem(index, &format!("/{key}"), &error.to_string()))
    }
}

fn made(
    place: SamplePlace,
    parts: SampleParts,
    vars: Option<BTreeMap<String, Value>>,
) -> PyResult<ReadSample> {
    let index = place.index;
    let sample = GradingSample::from_parts(place.id.clone(), parts)
        .map_err(|found| problem(index, &found.path, &found.message))?;
    Ok(ReadSample { place, sample, vars })
}

fn unknown_key(index: usize, key: &str) -> PyErr {
    let hint = match did_you_mean(key, KEYS) {
        Some(near) => format!("unknown key; did you mean `{near}`?"),
        None => format!("unknown key; known are {}", KEYS.join(", ")),
    };
    problem(index, &format!("/{key}"), &hint)
}

/// The exception about a sample or one of its values.
fn problem(index: usize, pointer: &str, message: &str) -> PyErr {
    LibraryError::usage(format!("samples[{index}]{pointer}: {message}")).into()
}
