//! HTTP servers as targets. Each case makes a request from the templates of the target.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use assize_evalfile::is_secret_header;
use assize_llm::{
    AskError, ClientSetup, HeaderMap, HeaderName, HeaderValue, HttpRequest, Method, ModelEndpoint, Redactor,
    Url, WebAnswer, WebClient,
};
use assize_model::{HttpBody, HttpTargetSpec};
use assize_rubric::{Cost, IdentityWriter, Tokens, Usd};
use assize_targets::{
    BoxFuture, Target, TargetAnswer, TargetDescription, TargetError, TargetErrorKind, TargetInput,
    TargetKind, messages_json, prompt_or_messages,
};

use super::http_request::{
    HttpTargetCase, HttpTargetRequest, accepts_status, fixed_address, read_answer, write_request,
};
use super::secrets::is_secret_name;

/// A server that answers the request of each case.
pub(super) struct HttpTarget {
    name: String,
    spec: Arc<HttpTargetSpec>,
    client: WebClient,
    /// The part of the address that all cases share.
    origin: Url,
    timeout: Duration,
}

impl HttpTarget {
    /// A target with these settings.
    ///
    /// # Errors
    /// If the address is not valid, or has no fixed host.
    pub(super) fn new(name: &str, spec: &HttpTargetSpec, setup: ClientSetup) -> Result<Self, String> {
        let fixed = fixed_address(spec)?;
        let endpoint = ModelEndpoint::new(&fixed, "url").map_err(|_| BAD_ADDRESS.to_owned())?;
        let origin = Url::parse(fixed.trim()).map_err(|_| BAD_ADDRESS.to_owned())?;
        let timeout = spec.timeout.unwrap_or(setup.timeout);

        Ok(Self {
            name: name.to_owned(),
            spec: Arc::new(spec.clone()),
            client: WebClient::new(&endpoint, setup),
            origin,
            timeout,
        })
    }

    async fn ask(&self, input: &TargetInput) -> Result<TargetAnswer, TargetError> {
        let prompt = prompt_or_messages(&input.messages);
        let messages = messages_json(&input.messages);
        let case = HttpTargetCase { prompt: &prompt, messages: &messages, vars: &input.vars };
        let unsent = |message: String| TargetError::without_attempt(TargetErrorKind::BadInput, message);
        let written = write_request(&self.spec, &case).map_err(unsent)?;
        let request = self.outgoing(written).map_err(unsent)?;

        let accepts = |status| accepts_status(&self.spec, status);
        let sent = self.client.send(&request, &accepts).await;
        let WebAnswer { answer, attempts, latency } = sent.map_err(|error: AskError| TargetError {
            // No server reports what the answer cost.
            cost: Cost::UNKNOWN,
            ..TargetError::from(error)
        })?;

        let failed = |kind, message: String| TargetError {
            attempts,
            duration: Some(latency),
            ..TargetError::new(kind, message)
        };
        let headers = shown_headers(&answer.headers);
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        let reply = read_answer(&self.spec, answer.status, &headers, &text, &case);
        match reply.map_err(|message| failed(TargetErrorKind::Malformed, message))? {
            None => Err(failed(
                TargetErrorKind::NoAnswer,
                "`response` found no answer in what the server sent".to_owned(),
            )),
            Some(reply) => Ok(TargetAnswer {
                text: reply.output,
                is_json: reply.is_json,
                tokens: Tokens { input: reply.tokens[0], cached: None, output: reply.tokens[1] },
                cost: reply.cost.and_then(Usd::from_dollars).map(Cost::from_known),
                guardrails: reply.guardrails,
                duration: latency,
                attempts,
                ..TargetAnswer::default()
            }),
        }
    }

    /// The request in the form that is sent. Error messages quote none of its values.
    fn outgoing(&self, written: HttpTargetRequest) -> Result<HttpRequest, String> {
        let url = Url::parse(&written.url).map_err(|_| BAD_ADDRESS.to_owned())?;
        if url.origin() != self.origin.origin() {
            return Err("the values of this case change the host in `url`".to_owned());
        }

        let mut headers = HeaderMap::new();
        for (name, value) in written.headers {
            let known = HeaderName::from_bytes(name.as_bytes())
                .map_err(|_| format!("`{name}` is not a valid header name"))?;
            let mut value = HeaderValue::from_str(value.trim()).map_err(|_| {
                format!("the value of the header `{name}` has characters that headers can't have")
            })?;
            value.set_sensitive(true);
            headers.insert(known, value);
        }
        let method = Method::from_bytes(self.spec.method.as_bytes())
            .map_err(|_| format!("`{}` is not a valid method", self.spec.method))?;

        Ok(HttpRequest { method, url, headers, body: written.body, timeout: self.timeout })
    }
}

const BAD_ADDRESS: &str = "`url` is not the address of a server; write it like `https://example.com/answer`";

/// Values that the target sends and that must not appear in its output: environment variables in its headers,
/// and variables with the name of a secret.
pub(super) fn redactor(spec: &HttpTargetSpec) -> Redactor {
    let in_headers = |name: &str| spec.headers.iter().any(|(_, text)| text.contains(&format!("env.{name}")));
    let of_environment = spec
        .environment
        .iter()
        .filter(|(name, _)| in_headers(name) || is_secret_name(name))
        .map(|(_, value)| value.expose().to_owned());
    let literal = spec
        .headers
        .iter()
        .filter(|(name, text)| is_secret_header(name) && !text.contains("{{"))
        .filter_map(|(_, text)| text.rsplit(' ').next().map(str::to_owned));

    Redactor::new(of_environment.chain(literal).map(Into::into))
}

fn shown_headers(headers: &HeaderMap) -> BTreeMap<String, String> {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect()
}

impl Target for HttpTarget {
    fn name(&self) -> &str {
        &self.name
    }

    fn answer<'a>(&'a self, input: &'a TargetInput) -> BoxFuture<'a, Result<TargetAnswer, TargetError>> {
        Box::pin(self.ask(input))
    }

    fn describe(&self) -> TargetDescription {
        TargetDescription::new(&self.name, TargetKind::Http)
    }

    /// Values of environment variables are not part of it, because they differ between machines.
    fn write_settings(&self, identity: &mut IdentityWriter) {
        let HttpTargetSpec {
            url,
            method,
            headers,
            query,
            body,
            response,
            status,
            environment: _,
            timeout: _,
        } = &*self.spec;

        identity.begin("server target", 1);
        identity.field(&self.name);
        identity.field(url);
        identity.text(method);
        for (name, value) in headers.iter().chain(query) {
            identity.field(name);
            identity.field(value);
        }
        write_body(identity, body.as_ref());
        for script in [response, status] {
            identity.field(&script.as_ref().map(|script| script.text().to_owned()));
        }
    }
}

fn write_body(identity: &mut IdentityWriter, body: Option<&HttpBody>) {
    match body {
        None => identity.text("no body"),
        Some(HttpBody::Json(value)) => {
            identity.text("json");
            identity.field(value);
        }
        Some(HttpBody::JsonText(text)) => {
            identity.text("json text");
            identity.field(text);
        }
        Some(HttpBody::Form(fields)) => {
            identity.text("form");
            identity.field(fields);
        }
        Some(HttpBody::Text(text)) => {
            identity.text("text");
            identity.field(text);
        }
    }
}
