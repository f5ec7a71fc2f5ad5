//! Results of scripts.

use serde_json::Value;

/// Result of a script.
#[derive(Debug, Clone, PartialEq)]
pub enum ScriptValue {
    /// `undefined`, or a function.
    Undefined,
    /// A number, which may be infinite or NaN.
    Number(f64),
    /// Any other value that JSON can represent.
    Json(Value),
}

impl ScriptValue {
    /// Returns the value as JSON; `None` if JSON can't represent it.
    pub fn into_json(self) -> Option<Value> {
        match self {
            Self::Undefined => None,
            Self::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
                Some(Value::from(number as i64))
            }
            Self::Number(number) => serde_json::Number::from_f64(number).map(Value::Number),
            Self::Json(value) => Some(value),
        }
    }
}
