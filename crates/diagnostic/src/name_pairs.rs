//! Lists of `name=value` pairs of the command line, such as the columns of a table.

use crate::did_you_mean;

/// Invalid list of pairs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NamePairError {
    /// Not of the form `name=column`.
    Form(String),
    /// There is no such name.
    Unknown {
        /// Name as written.
        name: String,
        /// Known names.
        known: String,
        /// The most similar known name.
        hint: String,
    },
    /// A pair is given twice.
    Twice(String),
    /// Two pairs can't both hold.
    Conflict {
        /// The first pair, such as `answer=a`.
        first: String,
        /// The second pair, such as `answer=b`.
        second: String,
    },
}

impl NamePairError {
    /// Error for a name that is none of `known`.
    pub fn unknown<'n>(name: &str, known: impl Iterator<Item = &'n str> + Clone) -> Self {
        let hint = did_you_mean(name, known.clone()).map(|near| format!("; did you mean `{near}`?"));
        Self::Unknown {
            name: name.to_owned(),
            known: known.collect::<Vec<_>>().join(", "),
            hint: hint.unwrap_or_default(),
        }
    }

    /// Error for a second pair with the name or the value of the first.
    pub fn conflict(first: (&str, &str), second: (&str, &str)) -> Self {
        let pair = |(name, value): (&str, &str)| format!("{name}={value}");
        if first == second {
            Self::Twice(pair(first))
        } else {
            Self::Conflict { first: pair(first), second: pair(second) }
        }
    }
}

impl std::fmt::Display for NamePairError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Form(text) => write!(f, "`{text}` is not of the form NAME=COLUMN"),
            Self::Unknown { name, known, hint } => {
                write!(f, "there is no field `{name}`; the fields are {known}{hint}")
            }
            Self::Twice(name) => write!(f, "`{name}` is given twice"),
            Self::Conflict { first, second } => {
                write!(f, "`{first}` and `{second}` contradict each other: keep one of them")
            }
        }
    }
}

impl std::error::Error for NamePairError {}

/// Parses `case=item_id,label=verdict`: name and value, separated by commas.
pub fn parse_name_pairs(text: &str) -> Result<Vec<(String, String)>, NamePairError> {
    text.split(',')
        .map(|part| {
            let form = || NamePairError::Form(part.trim().to_owned());
            let (name, value) = part.split_once('=').ok_or_else(form)?;
            let (name, value) = (name.trim(), value.trim());
            if name.is_empty() || value.is_empty() {
                return Err(form());
            }

            Ok((name.to_owned(), value.to_owned()))
        })
        .collect()
}
