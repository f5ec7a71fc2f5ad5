//! Variables that hold secrets or give access to models.

use std::collections::BTreeMap;

use assize_evalfile::looks_like_secret;
use assize_llm::{Redactor, key_variables};
use assize_model::{TargetSpec, TargetSpecKind};

/// Parts of the names of variables that hold secrets.
const SECRET_NAMES: [&str; 5] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"];

/// Names of the variables with API keys: the providers' own, and the ones that the targets file uses as keys.
pub(super) fn keys<'a>(
    variables: &'a BTreeMap<String, String>,
    specs: &'a [TargetSpec],
) -> impl Iterator<Item = String> + 'a {
    let of_file = |value: &str| {
        specs.iter().any(|spec| match &spec.kind {
            TargetSpecKind::Model(model) => {
                model.api_key.as_ref().is_some_and(|key| !value.is_empty() && key.expose() == value)
            }
            _ => false,
        })
    };

    let used = variables.iter().filter(move |(_, value)| of_file(value)).map(|(name, _)| name.clone());
    key_variables().map(str::to_owned).chain(used)
}

/// Whether the name of a variable suggests that its value is secret.
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRET_NAMES.iter().any(|part| name.contains(part))
}

/// A redactor for the values of all variables with a name or a value like a secret, and for further values.
pub(crate) fn redactor(
    variables: &BTreeMap<String, String>,
    further: impl IntoIterator<Item = String>,
) -> Redactor {
    let secrets = variables.iter().filter(|(name, value)| is_secret_name(name) || looks_like_secret(value));
    Redactor::new(secrets.map(|(_, value)| value.clone()).chain(further).map(Into::into))
}
