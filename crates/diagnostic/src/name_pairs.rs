//! Lists of `name=value` pairs on the command line, such as the columns of a table.

use crate::did_you_mean;

/// Invalid list of pairs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NamePairError {
    /// A part does not have the form `name=column`.
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
    /// One name has two columns.
    TwoColumns {
        /// Name as written.
        name: String,
        /// The first column.
        first: String,
        /// The second column.
        second: String,
    },
    /// One column has two names.
    TwoNames {
        /// Column as written.
        column: String,
        /// The first name.
        first: String,
        /// The second name.
        second: String,
    },
}

impl NamePairError {
    /// Returns the error for a name that is not one of `known`.
    pub fn unknown<'n>(name: &str, known: impl Iterator<Item = &'n str> + Clone) -> Self {
        let hint = did_you_mean(name, known.clone()).map(|near| format!("; did you mean `{near}`?"));
        Self::Unknown {
            name: name.to_owned(),
            known: known.collect::<Vec<_>>().join(", "),
            hint: hint.unwrap_or_default(),
        }
    }

    /// Returns the error for a second pair that has the name or the value of the first.
    pub fn conflict(first: (&str, &str), second: (&str, &str)) -> Self {
        let (name, column) = second;
        if first == second {
            Self::Twice(format!("{name}={column}"))
        } else if first.0 == name {
            Self::TwoColumns { name: name.to_owned(), first: first.1.to_owned(), second: column.to_owned() }
        } else {
            Self::TwoNames { column: column.to_owned(), first: first.0.to_owned(), second: name.to_owned() }
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
            Self::TwoColumns { name, first, second } => {
                write!(f, "the field `{name}` has two columns, `{first}` and `{second}`; keep one of them")
            }
            Self::TwoNames { column, first, second } => {
                write!(
                    f,
                    "the column `{column}` is used for two fields, `{first}` and `{second}`; keep one of them"
                )
            }
        }
    }
}

impl std::error::Error for NamePairError {}

/// Parses a list such as `case=item_id,label=verdict`: pairs of a name and a value, separated by commas.
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
