//! Access keys of AWS, from variables or a profile, and requests that are signed with them.

use std::path::PathBuf;
use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url};
use secrecy::{ExposeSecret as _, SecretString};

use crate::config::{ConfigError, Lookup};

pub(crate) const KEY_ID: &str = "AWS_ACCESS_KEY_ID";
pub(crate) const SECRET: &str = "AWS_SECRET_ACCESS_KEY";
const TOKEN: &str = "AWS_SESSION_TOKEN";
const PROFILE: &str = "AWS_PROFILE";
const KEY_FILE: &str = "AWS_SHARED_CREDENTIALS_FILE";
const CONFIG_FILE: &str = "AWS_CONFIG_FILE";
const HOMES: [&str; 2] = ["HOME", "USERPROFILE"];

/// All variables that a key of Bedrock may come from.
pub(crate) const KEY_VARIABLES: &[&str] =
    &["AWS_BEARER_TOKEN_BEDROCK", KEY_ID, SECRET, TOKEN, PROFILE, KEY_FILE, CONFIG_FILE, HOMES[0], HOMES[1]];

/// The service in signatures of requests to models of Bedrock and its jobs.
const BEDROCK: &str = "bedrock";

/// Settings of a profile that get a key from elsewhere.
const INDIRECT_KEYS: [&str; 5] =
    ["sso_session", "sso_start_url", "role_arn", "credential_process", "login_session"];

/// An access key.
#[derive(Debug, Clone)]
pub(crate) struct AccessKey {
    pub(crate) id: SecretString,
    pub(crate) secret: SecretString,
    /// Of a temporary key.
    pub(crate) token: Option<SecretString>,
    /// The variable or the profile that holds it.
    pub(crate) source: String,
}

impl AccessKey {
    /// The key from the variables, or else from the profile. `None` if neither has one.
    ///
    /// # Errors
    /// If only half of a key is set, if the profile can't be read, or if the profile gets its key from elsewhere.
    pub(crate) fn find(env: Lookup<'_>) -> Result<Option<Self>, ConfigError> {
        let bad = |reason: String| Err(ConfigError::NoAccessKey { reason });
        let read_key = |get: &dyn Fn(&str) -> Option<String>, names: [&str; 3]| {
            let [id, secret, token] = names.map(|name| get(name).map(SecretString::from));
            (id, secret, token)
        };
        match read_key(&|name| set(env, name), [KEY_ID, SECRET, TOKEN]) {
            (Some(id), Some(secret), token) => {
                return Ok(Some(Self { id, secret, token, source: SECRET.to_owned() }));
            }
            (Some(_), None, _) => return bad(format!("{KEY_ID} is set, and {SECRET} is not")),
            (None, Some(_), _) => return bad(format!("{SECRET} is set, and {KEY_ID} is not")),
            (None, None, _) => {}
        }

        let Some(profile) = Profile::read(env)? else { return Ok(None) };
        let name = &profile.name;
        let names = ["aws_access_key_id", "aws_secret_access_key", "aws_session_token"];
        match read_key(&|name| profile.setting(name), names) {
            (Some(id), Some(secret), token) => {
                Ok(Some(Self { id, secret, token, source: format!("the profile `{name}` of AWS") }))
            }
            (None, None, _) if INDIRECT_KEYS.iter().any(|key| profile.setting(key).is_some()) => {
                bad(format!(
                    "the profile `{name}` gets its key from elsewhere; `eval \"$(aws configure export-credentials --profile \
                 {name} --format env)\"` sets the variables that are read"
                ))
            }
            (None, None, _) if set(env, PROFILE).is_none() => Ok(None),
            _ => bad(format!("the profile `{name}` has no access key with its secret")),
        }
    }

    /// Everything that must not be shown.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = SecretString> + use<> {
        [Some(self.id.clone()), Some(self.secret.clone()), self.token.clone()].into_iter().flatten()
    }
}

/// Signs requests to Bedrock in a region.
#[derive(Debug, Clone)]
pub(crate) struct RequestSigner {
    pub(crate) key: AccessKey,
    pub(crate) region: String,
}

impl RequestSigner {
    /// Adds the headers of a signature.
    ///
    /// # Errors
    /// If the request or the key can't be sent. The reason shows no secret.
    pub(crate) fn sign(
        &self,
        method: &Method,
        url: &Url,
        headers: &mut HeaderMap,
        body: &[u8],
        now: SystemTime,
    ) -> Result<(), String> {
        let AccessKey { id, secret, token, .. } = &self.key;
        let token = token.as_ref().map(|token| token.expose_secret().to_owned());
        let identity =
            Credentials::new(id.expose_secret(), secret.expose_secret(), token, None, "assize").into();
        let parameters = v4::SigningParams::builder()
            .identity(&identity)
            .region(&self.region)
            .name(BEDROCK)
            .time(now)
            .settings(SigningSettings::default())
            .build()
            .map_err(|error| error.to_string())?
            .into();

        // Proxies may change other headers.
        let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let signed = content_type.map(|value| (CONTENT_TYPE.as_str(), value));
        let request = SignableRequest::new(
            method.as_str(),
            url.as_str(),
            signed.into_iter(),
            SignableBody::Bytes(body),
        )
        .map_err(|error| error.to_string())?;
        let (added, _) = sign(request, &parameters).map_err(|error| error.to_string())?.into_parts();
        for (name, value) in added.headers() {
            let name = HeaderName::try_from(name).map_err(|error| error.to_string())?;
            let mut value = HeaderValue::from_str(value)
                .map_err(|_| "the access key of AWS has characters that a header may not have")?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }

        Ok(())
    }
}

/// The region, and the name of the variable or profile that sets it.
pub(crate) fn region(env: Lookup<'_>) -> Result<Option<(&'static str, String)>, ConfigError> {
    let named = ["AWS_REGION", "AWS_DEFAULT_REGION"].iter().find_map(|name| Some((*name, set(env, name)?)));
    if named.is_some() {
        return Ok(named);
    }
    Ok(Profile::read(env)?.and_then(|profile| Some(("`region` of the profile", profile.setting("region")?))))
}

/// The region in the usual address of models.
pub(crate) fn region_of(runtime: &Url) -> Option<&str> {
    let (service, region) = runtime.host_str()?.strip_suffix(".amazonaws.com")?.split_once('.')?;
    matches!(service, "bedrock-runtime" | "bedrock-runtime-fips").then_some(region)
}

fn set(env: Lookup<'_>, name: &str) -> Option<String> {
    env(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

/// A profile of the files that AWS's own tools write.
struct Profile {
    name: String,
    /// Settings in the file of keys come first.
    settings: Vec<(String, String)>,
}

impl Profile {
    /// The profile that `AWS_PROFILE` names, or else `default`. `None` if nothing names it and there is none.
    fn read(env: Lookup<'_>) -> Result<Option<Self>, ConfigError> {
        let chosen = set(env, PROFILE);
        let name = chosen.clone().unwrap_or_else(|| "default".to_owned());
        let home = HOMES.iter().find_map(|name| set(env, name)).map(PathBuf::from);
        let mut settings = Vec::new();
        let mut is_there = false;
        for (variable, usual, section) in
            [(KEY_FILE, "credentials", name.clone()), (CONFIG_FILE, "config", format!("profile {name}"))]
        {
            let usual = || Some(home.as_ref()?.join(".aws").join(usual));
            let Some(path) = set(env, variable).map(PathBuf::from).or_else(usual) else { continue };
            let text = match assize_files::read_text(&path) {
                Ok(text) => text,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => {
                    let reason = format!("{} can't be read: {error}", path.display());
                    return Err(ConfigError::NoAccessKey { reason });
                }
            };
            is_there |= read_section(&text, &name, &section, &mut settings);
        }

        match chosen {
            Some(_) if !is_there => Err(ConfigError::NoAccessKey {
                reason: format!(
                    "{PROFILE} names the profile `{name}`, which is in neither file of AWS (`~/.aws/credentials`, `~/.aws/config`)"
                ),
            }),
            _ => Ok(is_there.then_some(Self { name, settings })),
        }
    }

    fn setting(&self, name: &str) -> Option<String> {
        let found = self.settings.iter().find(|(known, value)| known == name && !value.is_empty());
        found.map(|(_, value)| value.clone())
    }
}

/// Adds the settings below the title `section`; `default` needs no `profile` before it. Returns whether there is such a title.
fn read_section(text: &str, name: &str, section: &str, settings: &mut Vec<(String, String)>) -> bool {
    let (mut is_inside, mut is_there) = (false, false);
    for line in text.lines() {
        if let Some(title) = line.trim().strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            let title: Vec<&str> = title.0.split_whitespace().collect();
            let title = title.join(" ").replace('"', "");
            is_inside = title == section || (name == "default" && title == name);
            is_there |= is_inside;
        } else if is_inside
            // Indented lines belong to the setting above them.
            && !line.starts_with([' ', '\t', '#', ';'])
            && let Some((key, value)) = line.split_once('=')
        {
            let value = value.split(" #").next().unwrap_or_default();
            settings.push((key.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
    is_there
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn with<'a>(variables: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
        |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    }

    /// The expected signatures come from botocore, the library of AWS's own command line.
    #[test]
    fn signatures_are_those_of_the_command_line_of_aws() {
        let models = "https://bedrock-runtime.eu-west-1.amazonaws.com/model";
        for (method, url, token, body, signed, signature) in [
            (
                Method::POST,
                format!("{models}/eu.anthropic.claude-x-v1%3A0/converse"),
                None,
                r#"{"messages":[]}"#,
                "content-type;host;x-amz-date",
                "6eb2ce6fb8898d4727f8b970c8b9a254a3f4cd985627222b604f1ee62070caa4",
            ),
            (
                Method::POST,
                format!(
                    "{models}/arn%3Aaws%3Abedrock%3Aeu-west-1%3A123456789012%3Ainference-profile%2Fx/converse"
                ),
                Some("a/session+token=="),
                r#"{"text":"é"}"#,
                "content-type;host;x-amz-date;x-amz-security-token",
                "001299b045ab1f2319530b69031cb922d8e3061299d12e96deec0947428e8eb6",
            ),
            (
                Method::GET,
                "http://127.0.0.1:8080/model-invocation-jobs?nameContains=assize+1&maxResults=100".to_owned(),
                None,
                "",
                "host;x-amz-date",
                "4bb576cddbfb195a987df4e8955f243e5396d2bb0e499e132fc89ab88dbb97a0",
            ),
        ] {
            let key = AccessKey {
                id: "AKIDEXAMPLE".into(),
                secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".into(),
                token: token.map(SecretString::from),
                source: String::new(),
            };
            let signer = RequestSigner { key, region: "eu-west-1".to_owned() };
            let mut headers = HeaderMap::new();
            if !body.is_empty() {
                headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            }
            let now = SystemTime::UNIX_EPOCH + Duration::from_hours(498_874);
            signer.sign(&method, &Url::parse(&url).unwrap(), &mut headers, body.as_bytes(), now).unwrap();

            assert_eq!(headers["x-amz-date"], "20261129T100000Z");
            assert_eq!(headers.get("x-amz-security-token").map(|value| value.to_str().unwrap()), token);
            assert_eq!(
                headers["authorization"].to_str().unwrap(),
                format!(
                    "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261129/eu-west-1/bedrock/aws4_request, \
                     SignedHeaders={signed}, Signature={signature}"
                ),
                "{url}"
            );
            assert!(!format!("{headers:?} {signer:?}").contains("AKID"), "{headers:?}");
        }
    }

    #[test]
    fn keys_come_from_the_variables_or_from_one_profile() {
        let folder = std::env::temp_dir().join(format!("assize-aws-{}", std::process::id()));
        let files = folder.join(".aws");
        std::fs::create_dir_all(&files).unwrap();
        let credentials = "# mine\n[default]\naws_access_key_id = AKIADEFAULT\nAWS_SECRET_ACCESS_KEY=default/secret= # old\n\n\
                           [work]\r\naws_access_key_id=AKIAWORK\r\naws_secret_access_key=work-secret\r\naws_session_token=work-token\r\n\
                           [half]\naws_access_key_id=AKIAHALF\n";
        let config = "[default]\nregion = eu-west-1\ns3 =\n  region = eu-west-9\n[profile  work]\nregion=us-east-2\n\
                      [profile sso]\nsso_session = team\nregion = eu-central-1\n[sso-session team]\nsso_region=us-west-2\n";
        std::fs::write(files.join("credentials"), credentials).unwrap();
        std::fs::write(files.join("config"), config).unwrap();

        let home = ("HOME", folder.to_str().unwrap());
        let variables = [("AWS_ACCESS_KEY_ID", "AKIAENV"), ("AWS_SECRET_ACCESS_KEY", " env-secret ")];
        let profile = |name| [home, ("AWS_PROFILE", name)];
        let found = |given: &[(&str, &str)]| {
            let env = with(given);
            let region = region(&env).unwrap().map(|(_, region)| region);
            let key = AccessKey::find(&env);
            key.map(|key| {
                let shown = key.map(|key| {
                    let secrets: Vec<String> =
                        key.secrets().map(|secret| secret.expose_secret().to_owned()).collect();
                    format!("{} from {}", secrets.join(" "), key.source)
                });
                (shown, region)
            })
            .map_err(|error| error.to_string())
        };
        let of_default = "AKIADEFAULT default/secret= from the profile `default` of AWS";
        let of_work = "AKIAWORK work-secret work-token from the profile `work` of AWS";
        let of_variables = "AKIAENV env-secret from AWS_SECRET_ACCESS_KEY";
        for (given, key, region) in [
            (&[][..], None, None),
            (&[home], Some(of_default), Some("eu-west-1")),
            (&profile("work"), Some(of_work), Some("us-east-2")),
            // A key of variables is never completed by a profile's token.
            (&[&profile("work")[..], &variables].concat(), Some(of_variables), Some("us-east-2")),
            (&[home, ("AWS_REGION", "sa-east-1")], Some(of_default), Some("sa-east-1")),
            (&[home, ("AWS_SHARED_CREDENTIALS_FILE", "/none")], None, Some("eu-west-1")),
        ] {
            assert_eq!(found(given), Ok((key.map(str::to_owned), region.map(str::to_owned))), "{given:?}");
        }
        for (given, words) in [
            (&[variables[0]][..], "AWS_ACCESS_KEY_ID is set, and AWS_SECRET_ACCESS_KEY is not"),
            (&[home, variables[1]], "AWS_SECRET_ACCESS_KEY is set, and AWS_ACCESS_KEY_ID is not"),
            (&profile("half"), "the profile `half` has no access key with its secret"),
            (&profile("sso"), "aws configure export-credentials --profile sso"),
        ] {
            let error = found(given).unwrap_err();
            assert!(error.contains(words) && !error.contains("AKIA"), "{error}");
        }
        let missing = region(&with(&profile("none"))).unwrap_err().to_string();
        assert!(missing.contains("the profile `none`, which is in neither file"), "{missing}");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
