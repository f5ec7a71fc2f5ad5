//! Which values of the environment a target sends to an address that its file names.
//!
//! A value may go to an address that the user chose: a usual server of a provider, or an address that is itself a variable
//! of the user's environment. Everything else is noted, and needs consent.

use assize_evalfile::EnvironmentLookup;
use assize_llm::{FILE_VARIABLES, ModelName, is_home_of};
use assize_model::{HttpBody, HttpTargetSpec, ModelTargetSpec, SettingVariable, TargetSpec};

/// Settings of a target that stay on this machine.
const LOCAL_SETTINGS: [&str; 9] = [
    "use_target", "grader_target", "judge_target", "fallback_targets", "workers", "max_retries",
    "timeout_seconds", "cwd", "context_tokens",
];

/// Beginning of the settings of retries, which stay on this machine too.
const RETRY_SETTINGS: &str = "retry_";

/// Setting with the address of a health check, which is called before the target.
pub(super) const HEALTH_SETTING: &str = "healthcheck";

/// The variables that the user set, as opposed to variables from a file in the working folder.
pub(super) struct UserVariables<'a> {
    lookup: &'a EnvironmentLookup,
    of_file: String,
}

/// Who chose the address of a model.
enum AddressChoice {
    /// The user, in the environment.
    User,
    /// Nobody: the provider has one address.
    Provider,
    /// A file.
    File,
}

impl<'a> UserVariables<'a> {
    pub(super) fn new(lookup: &'a EnvironmentLookup) -> Self {
        Self { lookup, of_file: lookup(FILE_VARIABLES).unwrap_or_default() }
    }

    /// The value of a variable, if the user set it.
    fn value(&self, name: &str) -> Option<String> {
        let is_of_file = self.of_file.split(' ').any(|known| known == name);
        (self.lookup)(name).filter(|_| !is_of_file).map(|value| value.trim().to_owned())
    }

    /// The variables of a model target that go to an address of a file.
    pub(super) fn sent_to_model<'s>(
        &self,
        spec: &'s TargetSpec,
        model: &ModelTargetSpec,
        name: &ModelName,
        address: &str,
    ) -> Vec<&'s SettingVariable> {
        let choice = self.choice(spec, model, name);
        let leaves = |used: &&SettingVariable| match choice {
            AddressChoice::User => false,
            AddressChoice::Provider => {
                let variable = used.variable.as_str();
                assize_llm::key_variables().any(|key| key == variable)
                    && !name.key_variables().contains(&variable)
                    && !is_home_of(variable, address)
            }
            AddressChoice::File => !is_home_of(&used.variable, address),
        };
        sendable(spec).filter(leaves).collect()
    }

    fn choice(&self, spec: &TargetSpec, model: &ModelTargetSpec, name: &ModelName) -> AddressChoice {
        let Some(url) = &model.base_url else {
            let mut set = name.base_url_variables().iter().filter(|name| (self.lookup)(name).is_some());
            return match set.next() {
                None => AddressChoice::Provider,
                Some(name) if self.value(name).is_some() => AddressChoice::User,
                Some(_) => AddressChoice::File,
            };
        };

        // The address, or the resource that is its only part.
        let url = url.trim_end_matches('/');
        let resource = url.strip_prefix("https://").and_then(|host| host.strip_suffix(".openai.azure.com"));
        let is_whole = |used: &SettingVariable| {
            self.value(&used.variable).is_some_and(|value| {
                value.trim_end_matches('/') == url || used.setting == "resource" && Some(&*value) == resource
            })
        };
        if spec.variables.iter().any(is_whole) { AddressChoice::User } else { AddressChoice::File }
    }

    /// The variables that an HTTP target sends to an address from a file, without the variable that is the address
    /// itself. `address` is the part of the address that is the same for all cases.
    pub(super) fn sent_to_server<'s>(
        &self,
        spec: &'s TargetSpec,
        http: &HttpTargetSpec,
        address: &str,
    ) -> Vec<&'s SettingVariable> {
        let is_address = |used: &SettingVariable| match used.setting.as_str() {
            "url" => self.is_beginning(&used.variable, address),
            "env" => {
                let begins = http.environment.keys().any(|name| {
                    let inner = http.url.trim_start().strip_prefix("{{").unwrap_or_default();
                    let inner = inner.trim_start_matches(['-', ' ']).strip_prefix("env.").unwrap_or_default();
                    inner.strip_prefix(name.as_str()).is_some_and(|rest| rest.trim_start().starts_with("}}"))
                        && http.environment.get(name).map(|value| value.expose().trim().to_owned())
                            == self.value(&used.variable)
                });
                begins && mentions_of_environment(http) == 1 && self.is_beginning(&used.variable, address)
            }
            _ => false,
        };
        sendable(spec).filter(|used| !is_address(used)).collect()
    }

    /// The variables in the address of a health check that go to an address of a file.
    pub(super) fn sent_to_health_check<'s>(
        &self,
        spec: &'s TargetSpec,
        address: &str,
    ) -> Vec<&'s SettingVariable> {
        let of_check = spec.variables.iter().filter(|used| used.setting == HEALTH_SETTING);
        of_check.filter(|used| !self.is_beginning(&used.variable, address)).collect()
    }

    /// Whether the value of a variable is the beginning of an address up to its host and port, or further.
    fn is_beginning(&self, variable: &str, address: &str) -> bool {
        let Some(value) = self.value(variable) else { return false };
        let Some(rest) = address.trim().strip_prefix(value.as_str()) else { return false };
        let host = value.split_once("://").map_or("", |(_, rest)| rest).split(['/', '?', '#']).next();
        host.is_some_and(|host| !host.is_empty())
            && (rest.is_empty() || rest.starts_with(['/', '?', '#']) || value.ends_with('/'))
    }
}

/// The variables in settings that are sent with requests of the target itself.
fn sendable(spec: &TargetSpec) -> impl Iterator<Item = &SettingVariable> {
    spec.variables.iter().filter(|used| {
        let setting = used.setting.as_str();
        setting != HEALTH_SETTING
            && !LOCAL_SETTINGS.contains(&setting)
            && !setting.starts_with(RETRY_SETTINGS)
    })
}

/// How often the texts of a request mention the environment.
fn mentions_of_environment(http: &HttpTargetSpec) -> usize {
    let body = match &http.body {
        None => String::new(),
        Some(HttpBody::Json(value)) => value.to_string(),
        Some(HttpBody::Form(fields)) => serde_json::Value::Object(fields.clone()).to_string(),
        Some(HttpBody::JsonText(text) | HttpBody::Text(text)) => text.clone(),
    };
    let pairs = http.headers.iter().chain(&http.query).flat_map(|(name, text)| [name, text]);
    let texts = pairs.chain([&http.url, &body]);
    texts.map(|text| text.matches("env").count()).sum()
}
