//! Turns an address, as people write it in a variable, into the base URL that a format's paths are added to.
//!
//! The habits differ: OpenAI's variable ends in `/v1` and Anthropic's does not, Ollama's may lack the scheme, Azure's
//! names only the resource. A text that is not a URL is passed on unchanged; the code that uses it reports the error.

use reqwest::Url;

use crate::aws;
use crate::config::{ConfigError, Lookup};

/// The variables that name Azure's API version. The first one that is set is used.
const AZURE_VERSION_VARIABLES: [&str; 3] =
    ["OPENAI_API_VERSION", "AZURE_OPENAI_API_VERSION", "AZURE_API_VERSION"];

/// The oldest stable version that supports reply schemas.
const AZURE_VERSION: &str = "2024-10-21";

/// The address as written, without a path that belongs to the request: addresses are often copied from an
/// example of a request.
#[expect(clippy::unnecessary_wraps, reason = "one signature for the addresses of all providers")]
pub(crate) fn plain(text: &str, _: Lookup<'_>) -> Result<String, ConfigError> {
    let text = text.trim();
    let copied = ENDPOINTS.iter().any(|end| text.trim_end_matches('/').ends_with(end));
    Ok(if copied { with_path(text, |path| without_endpoint(path).to_owned()) } else { text.to_owned() })
}

/// Paths that follow the base URL in examples of requests.
const ENDPOINTS: [&str; 7] =
    ["/chat/completions", "/responses", "/messages", "/models", "/embeddings", "/embed", "/moderations"];

fn without_endpoint(path: &str) -> &str {
    ENDPOINTS.iter().find_map(|end| path.strip_suffix(end)).unwrap_or(path)
}

/// Adds the usual path to an address that has none, such as `/v1` to `http://localhost:8000`. Only on the
/// provider's own server, or on a server of the user (`own`).
pub(crate) fn complete(url: &mut Url, usual: Option<&str>, own: bool) {
    let Some(usual) = usual.and_then(|usual| Url::parse(usual).ok()) else { return };
    if url.path() == "/" && (own || url.host_str() == usual.host_str()) {
        url.set_path(usual.path());
    }
}

/// Without a trailing `/v1`, which is part of Anthropic's paths.
#[expect(clippy::unnecessary_wraps, reason = "one signature for the addresses of all providers")]
pub(crate) fn anthropic(text: &str, _: Lookup<'_>) -> Result<String, ConfigError> {
    Ok(with_path(text, |path| {
        let path = without_endpoint(path);
        path.strip_suffix("/v1").unwrap_or(path).to_owned()
    }))
}

/// With the version that Google's own variable leaves out.
#[expect(clippy::unnecessary_wraps, reason = "one signature for the addresses of all providers")]
pub(crate) fn gemini(text: &str, _: Lookup<'_>) -> Result<String, ConfigError> {
    Ok(with_path(text, |path| {
        let last = path.rsplit('/').next().unwrap_or_default();
        let version =
            last.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        if version { path.to_owned() } else { format!("{path}/v1beta") }
    }))
}

/// With a scheme and a port, and without `/v1` or `/api`, which belong to paths. `0.0.0.0`, on which a server
/// listens everywhere, is replaced: one can't connect to it.
#[expect(clippy::unnecessary_wraps, reason = "one signature for the addresses of all providers")]
pub(crate) fn ollama(text: &str, _: Lookup<'_>) -> Result<String, ConfigError> {
    let text = text.trim();
    let mut address = match text.split_once("://") {
        Some(_) => text.to_owned(),
        None if text.starts_with(':') => format!("http://127.0.0.1{text}"),
        None => format!("http://{text}"),
    };
    if let Ok(mut url) = Url::parse(&address) {
        let failed = match url.port() {
            None if !text.contains("://") => url.set_port(Some(11434)).is_err(),
            _ => false,
        } || (url.host_str() == Some("0.0.0.0") && url.set_host(Some("127.0.0.1")).is_err());
        if !failed {
            address = url.to_string();
        }
    }

    Ok(with_path(&address, |path| {
        let path = path.strip_suffix("/api/chat").unwrap_or(without_endpoint(path));
        let path = path.strip_suffix("/v1").unwrap_or(path);
        path.strip_suffix("/api").unwrap_or(path).to_owned()
    }))
}

/// Adds `/openai` and the API version, unless the address is the unversioned API or already has a version.
///
/// # Errors
/// When the API version does not look like one.
pub(crate) fn azure(text: &str, env: Lookup<'_>) -> Result<String, ConfigError> {
    let address = with_path(text, |path| {
        // The deployment is named by the model, not by the address.
        let path = path.split_once("/deployments/").map_or(path, |(before, _)| before);
        let path = without_endpoint(path);
        if path.ends_with("/openai") || path.ends_with("/openai/v1") {
            path.to_owned()
        } else {
            format!("{path}/openai")
        }
    });

    let Ok(mut url) = Url::parse(&address) else { return Ok(address) };
    if azure_has_deployments(&url) && !url.query_pairs().any(|(name, _)| name == "api-version") {
        let chosen = AZURE_VERSION_VARIABLES.iter().find_map(|name| Some((*name, env(name)?)));
        if let Some((variable, version)) = &chosen
            && !looks_like_version(version)
        {
            return Err(ConfigError::BadApiVersion { variable: (*variable).to_owned() });
        }

        let version = chosen.map_or_else(|| AZURE_VERSION.to_owned(), |(_, version)| version);
        url.query_pairs_mut().append_pair("api-version", version.trim());
    }

    Ok(url.to_string())
}

/// Placeholder address of Bedrock without a region.
pub(crate) const BEDROCK: &str = "https://bedrock-runtime.amazonaws.com";

/// What Bedrock's address and its signatures lack.
pub(crate) const MISSING_REGION: ConfigError =
    ConfigError::MissingPlace { provider: "bedrock", what: "region", variable: "AWS_REGION" };

/// Vertex without a location.
pub(crate) const VERTEX: &str = "https://aiplatform.googleapis.com";

/// Replaces the placeholder address by the one of the region that the variables name.
///
/// # Errors
/// If there is no region, or it can't be part of an address.
pub(crate) fn bedrock(text: &str, env: Lookup<'_>) -> Result<String, ConfigError> {
    if text.trim().trim_end_matches('/') != BEDROCK {
        return plain(text, env);
    }

    let region = place("region", aws::region(env)?)?.ok_or(MISSING_REGION)?;
    Ok(format!("https://bedrock-runtime.{region}.amazonaws.com"))
}

/// Puts the project and location from the variables into the path, unless the address already has a path. The location
/// is also part of the usual host, except for `global`.
///
/// # Errors
/// If there is no project, or a name can't be part of an address.
pub(crate) fn vertex(text: &str, env: Lookup<'_>) -> Result<String, ConfigError> {
    let text = text.trim().trim_end_matches('/');
    if Url::parse(text).is_ok_and(|url| url.path().trim_end_matches('/').contains('/')) {
        return plain(text, env);
    }

    let first = |names: [&'static str; 2]| names.into_iter().find_map(|name| Some((name, env(name)?)));
    let project = place("project", first(["GOOGLE_CLOUD_PROJECT", "GOOGLE_VERTEX_PROJECT"]))?.ok_or(
        ConfigError::MissingPlace { provider: "vertex", what: "project", variable: "GOOGLE_CLOUD_PROJECT" },
    )?;
    let location = place("location", first(["GOOGLE_CLOUD_LOCATION", "GOOGLE_VERTEX_LOCATION"]))?;
    let location = location.unwrap_or_else(|| "global".to_owned());
    let host = match location.as_str() {
        _ if text != VERTEX => text.to_owned(),
        "global" => VERTEX.to_owned(),
        location => format!("https://{location}-aiplatform.googleapis.com"),
    };

    Ok(format!("{host}/v1/projects/{project}/locations/{location}/publishers/google"))
}

/// Checks the name of a region, location or project. `found` is the variable that it came from, and its value.
fn place(what: &'static str, found: Option<(&'static str, String)>) -> Result<Option<String>, ConfigError> {
    let Some((variable, value)) = found else { return Ok(None) };
    let name = value.trim();

    // Anything else could send the key to another host.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    if name.is_empty() || !name.bytes().all(is_plain) {
        return Err(ConfigError::BadPlace { what, variable });
    }

    Ok(Some(name.to_owned()))
}

/// Whether a base URL of Azure has a path for each deployment.
pub(crate) fn azure_has_deployments(url: &Url) -> bool {
    !url.path().trim_end_matches('/').ends_with("/openai/v1")
}

/// A date, perhaps with `-preview`. Anything else might be a secret in the wrong variable, and would end up in
/// the address.
fn looks_like_version(text: &str) -> bool {
    let text = text.trim();
    let date = text.strip_suffix("-preview").unwrap_or(text);
    date.len() == 10
        && date.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

fn with_path(text: &str, change: impl Fn(&str) -> String) -> String {
    match Url::parse(text.trim()) {
        Ok(mut url) if url.has_host() => {
            let path = change(url.path().trim_end_matches('/'));
            url.set_path(&path);
            url.to_string()
        }
        _ => text.trim().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn none(_: &str) -> Option<String> {
        None
    }

    #[test]
    fn anthropics_version_belongs_to_the_path() {
        for text in ["https://h", "https://h/", "https://h/v1", "https://h/v1/", "https://h/v1/messages"] {
            assert_eq!(anthropic(text, &none).unwrap(), "https://h/");
        }
        assert_eq!(anthropic("https://h/proxy/v1?a=1", &none).unwrap(), "https://h/proxy?a=1");
        assert_eq!(anthropic("h/v1", &none).unwrap(), "h/v1");
    }

    #[test]
    fn what_is_added_in_any_case_may_stand_there() {
        for (written, meant) in [
            ("https://h/v1/chat/completions", "https://h/v1"),
            ("https://h/v1/chat/completions/?v=1", "https://h/v1/chat/completions/?v=1"),
            (" https://h/v1/responses/ ", "https://h/v1"),
            ("https://h/v1/", "https://h/v1/"),
            ("https://h/models/m", "https://h/models/m"),
        ] {
            assert_eq!(plain(written, &none).unwrap(), meant, "{written}");
        }
    }

    #[test]
    fn a_path_is_added_where_there_is_no_other() {
        let completed = |url: &str, usual, own| {
            let mut url = Url::parse(url).unwrap();
            complete(&mut url, usual, own);
            url.to_string()
        };
        let openai = Some("https://api.openai.com/v1");
        assert_eq!(completed("https://api.openai.com", openai, false), "https://api.openai.com/v1");
        assert_eq!(completed("https://api.openai.com/v2", openai, false), "https://api.openai.com/v2");
        assert_eq!(completed("https://api.perplexity.ai", openai, false), "https://api.perplexity.ai/");
        let vllm = Some("http://127.0.0.1:8000/v1");
        assert_eq!(completed("http://box:9000", vllm, true), "http://box:9000/v1");
        assert_eq!(completed("http://box:9000", None, true), "http://box:9000/");
    }

    #[test]
    fn geminis_version_is_added_where_it_lacks() {
        assert_eq!(gemini("https://h", &none).unwrap(), "https://h/v1beta");
        assert_eq!(gemini("https://h/v1", &none).unwrap(), "https://h/v1");
        assert_eq!(gemini("https://h/x/v1alpha/", &none).unwrap(), "https://h/x/v1alpha");
        assert_eq!(gemini("https://h/vertex", &none).unwrap(), "https://h/vertex/v1beta");
    }

    #[test]
    fn ollamas_habits() {
        for (written, meant) in [
            ("localhost", "http://localhost:11434/"),
            ("0.0.0.0", "http://127.0.0.1:11434/"),
            ("127.0.0.1:8080", "http://127.0.0.1:8080/"),
            (":9000", "http://127.0.0.1:9000/"),
            ("http://box:11434/v1", "http://box:11434/"),
            ("http://box:11434/api/", "http://box:11434/"),
            ("http://box:11434/api/chat", "http://box:11434/"),
            ("http://box:11434/v1/chat/completions", "http://box:11434/"),
            ("https://ollama.com", "https://ollama.com/"),
        ] {
            assert_eq!(ollama(written, &none).unwrap(), meant, "{written}");
        }
    }

    #[test]
    fn bedrock_is_in_a_region_and_nowhere_else() {
        let region = |value: &'static str| move |name: &str| (name == "AWS_REGION").then(|| value.into());
        assert_eq!(
            bedrock(BEDROCK, &region("eu-west-1")).unwrap(),
            "https://bedrock-runtime.eu-west-1.amazonaws.com"
        );
        assert_eq!(bedrock("http://127.0.0.1:9/x", &none).unwrap(), "http://127.0.0.1:9/x");
        assert!(bedrock(BEDROCK, &none).unwrap_err().to_string().contains("AWS_REGION"));
        for hostile in ["x.evil.example/", "a@b", "a/b", "a#"] {
            let error = bedrock(BEDROCK, &move |name: &str| (name == "AWS_REGION").then(|| hostile.into()));
            assert!(matches!(error, Err(ConfigError::BadPlace { .. })), "{hostile}");
        }
    }

    #[test]
    fn vertex_has_project_and_location_in_its_path() {
        let env = |location: Option<&'static str>| {
            move |name: &str| match name {
                "GOOGLE_CLOUD_PROJECT" => Some("my-project".to_owned()),
                "GOOGLE_CLOUD_LOCATION" => location.map(str::to_owned),
                _ => None,
            }
        };
        assert_eq!(
            vertex(VERTEX, &env(None)).unwrap(),
            "https://aiplatform.googleapis.com/v1/projects/my-project/locations/global/publishers/google"
        );
        assert_eq!(
            vertex(VERTEX, &env(Some("europe-west4"))).unwrap(),
            "https://europe-west4-aiplatform.googleapis.com/v1/projects/my-project/locations/europe-west4/publishers/google"
        );
        assert_eq!(
            vertex("http://127.0.0.1:9/", &env(None)).unwrap(),
            "http://127.0.0.1:9/v1/projects/my-project/locations/global/publishers/google"
        );
        assert_eq!(vertex("http://h/v1/x", &none).unwrap(), "http://h/v1/x");
        assert!(vertex(VERTEX, &none).unwrap_err().to_string().contains("GOOGLE_CLOUD_PROJECT"));
    }

    #[test]
    fn azures_version_comes_from_the_address_the_variable_or_here() {
        let with =
            |version: &'static str| move |name: &str| (name == "OPENAI_API_VERSION").then(|| version.into());
        let base = "https://r.openai.azure.com";
        assert_eq!(azure(base, &none).unwrap(), format!("{base}/openai?api-version=2024-10-21"));
        assert_eq!(
            azure(base, &with("2025-04-01-preview")).unwrap(),
            format!("{base}/openai?api-version=2025-04-01-preview")
        );
        let copied = format!("{base}/openai/deployments/mine/chat/completions?api-version=2025-01-01");
        assert_eq!(azure(&copied, &none).unwrap(), format!("{base}/openai?api-version=2025-01-01"));
        let given = format!("{base}/openai?api-version=x");
        assert_eq!(azure(&given, &with("2025-04-01")).unwrap(), given);
        assert_eq!(azure(&format!("{base}/openai/v1/"), &none).unwrap(), format!("{base}/openai/v1"));
        let error = azure(base, &with("sk-secret")).unwrap_err().to_string();
        assert!(error.contains("OPENAI_API_VERSION") && !error.contains("sk-secret"), "{error}");
    }
}
