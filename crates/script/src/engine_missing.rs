//! Stands in for the engine in a build without one.

use std::time::Duration;

use serde_json::Value;

use crate::es_module::looks_like_es_module;
use crate::{Script, ScriptError, ScriptValue};

pub(crate) fn check(_: &Script, _: &[&str]) -> Result<(), ScriptError> {
    Err(ScriptError::NoEngine)
}

pub(crate) fn call(
    _: &Script,
    _: &[(&str, &Value)],
    _: Duration,
    _: bool,
) -> Result<ScriptValue, ScriptError> {
    Err(ScriptError::NoEngine)
}

/// Whether the text of a file looks like an ES module. Without an engine, it can't be compiled to find out.
pub fn is_es_module(text: &str) -> bool {
    looks_like_es_module(text)
}
