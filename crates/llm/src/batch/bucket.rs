//! Reads and writes objects of an S3 bucket with signed addresses.

use std::time::Duration;

use reqwest::header::HeaderMap;
use reqwest::{Method, Url};
use rusty_s3::{Credentials, S3Action as _, UrlStyle};
use secrecy::ExposeSecret as _;

use super::place::BatchPlace;
use crate::aws::AccessKey;
use crate::classify::classify;
use crate::error::{AskError, ErrorKind};
use crate::http::HttpTransport;
use crate::redact::Redactor;
use crate::transport::{HttpAnswer, HttpRequest, Transport as _, TransportError};

/// Time limit of a transfer; a signed address is valid for as long.
const TRANSFER_TIMEOUT: Duration = Duration::from_mins(20);

/// An S3 bucket with its access key. Neither the key nor a signed address is ever shown.
#[derive(Clone)]
pub(super) struct Bucket {
    objects: rusty_s3::Bucket,
    credentials: Credentials,
    redactor: Redactor,
}

impl Bucket {
    /// The bucket of a place, in a region of AWS or on another server.
    ///
    /// # Errors
    /// If there can be no such address.
    pub(super) fn new(
        place: &BatchPlace,
        region: &str,
        server: Option<Url>,
        key: &AccessKey,
    ) -> Result<Self, String> {
        // In a host name, a bucket with dots matches no certificate.
        let style = if server.is_some() || place.bucket.contains('.') {
            UrlStyle::Path
        } else {
            UrlStyle::VirtualHost
        };
        let server = match server {
            Some(server) => server,
            None => Url::parse(&format!("https://s3.{region}.amazonaws.com"))
                .map_err(|error| error.to_string())?,
        };
        let bucket = rusty_s3::Bucket::new(server, style, place.bucket.clone(), region.to_owned())
            .map_err(|error| format!("there is not an address for {place}: {error}"))?;
        let (id, secret) = (key.id.expose_secret(), key.secret.expose_secret());
        let credentials = match &key.token {
            Some(token) => Credentials::new_with_token(id, secret, token.expose_secret()),
            None => Credentials::new(id, secret),
        };

        let redactor = Redactor::new(key.secrets());
        Ok(Self { objects: bucket, credentials, redactor })
    }

    /// Writes an object.
    ///
    /// # Errors
    /// If it was not written, or may not have been.
    pub(super) async fn put(
        &self,
        transport: &HttpTransport,
        key: &str,
        body: Vec<u8>,
    ) -> Result<(), AskError> {
        let url = self.objects.put_object(Some(&self.credentials), key).sign(TRANSFER_TIMEOUT);
        self.exchange(transport, Method::PUT, url, body, key).await.map(drop)
    }

    /// Reads an object. If it does not exist, the error has the kind "not found".
    ///
    /// # Errors
    /// If it can't be read in full.
    pub(super) async fn get(&self, transport: &HttpTransport, key: &str) -> Result<Vec<u8>, AskError> {
        let url = self.objects.get_object(Some(&self.credentials), key).sign(TRANSFER_TIMEOUT);
        self.exchange(transport, Method::GET, url, Vec::new(), key).await
    }

    async fn exchange(
        &self,
        transport: &HttpTransport,
        method: Method,
        url: Url,
        body: Vec<u8>,
        key: &str,
    ) -> Result<Vec<u8>, AskError> {
        let what = if method == Method::PUT { "write" } else { "read" };
        let request = HttpRequest { method, url, headers: HeaderMap::new(), body, timeout: TRANSFER_TIMEOUT };
        self.checked(transport.send(request).await, what, key)
    }

    fn checked(
        &self,
        answer: Result<HttpAnswer, TransportError>,
        what: &str,
        key: &str,
    ) -> Result<Vec<u8>, AskError> {
        let place = format!("s3://{}/{key}", self.objects.name());
        let hidden = |error: AskError, words: &str| {
            let words = self.redactor.redact_message(words);
            let message = crate::excerpt::cut(&words, crate::excerpt::MESSAGE_CHARS);
            AskError { message: format!("can't {what} {place}: {message}"), ..error }
        };
        let answer = answer.map_err(|error| {
            let words = error.to_string();
            hidden(AskError::from(&error), &words)
        })?;
        if (200..300).contains(&answer.status) {
            return Ok(answer.body);
        }

        // Only these two, because other elements of an error repeat the signed request.
        let text = answer.text();
        let (code, words) = (element(&text, "Code"), element(&text, "Message"));
        if (300..400).contains(&answer.status) {
            let words =
                format!("the bucket is not in the region {}, as AWS_REGION says", self.objects.region());
            return Err(hidden(
                AskError { status: Some(400), ..AskError::new(ErrorKind::BadRequest, "") },
                &words,
            ));
        }

        let error = AskError {
            status: Some(answer.status),
            advice: (answer.status == 403)
                .then(|| "The access key needs s3:PutObject, s3:GetObject and s3:ListBucket there.".into()),
            ..AskError::new(classify(answer.status, code, words), "")
        };
        Err(hidden(error, &format!("{words} ({code})")))
    }
}

/// The text of an element in a short XML answer.
fn element<'a>(text: &'a str, name: &str) -> &'a str {
    let start = text.split_once(&format!("<{name}>")).map(|(_, rest)| rest);
    start.and_then(|rest| rest.split_once("</")).map_or("", |(inner, _)| inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket(server: Option<&str>, name: &str) -> Bucket {
        let place = format!("s3://{name}/p").parse().unwrap();
        let server = server.map(|text| Url::parse(text).unwrap());
        let env = |name: &str| {
            let value = match name {
                "AWS_ACCESS_KEY_ID" => "AKIAIOSFODNN7EXAMPLE",
                "AWS_SECRET_ACCESS_KEY" => "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                "AWS_SESSION_TOKEN" => "a-session-token-of-some-length",
                _ => return None,
            };
            Some(value.to_owned())
        };
        let key = AccessKey::find(&env).unwrap().unwrap();
        Bucket::new(&place, "us-east-1", server, &key).unwrap()
    }

    #[test]
    fn addresses_are_those_of_the_bucket_in_its_region_or_at_another_server() {
        let address = |bucket: &Bucket| bucket.objects.object_url("p/x").to_string();
        assert_eq!(address(&bucket(None, "plain")), "https://plain.s3.us-east-1.amazonaws.com/p/x");
        assert_eq!(address(&bucket(None, "with.dots")), "https://s3.us-east-1.amazonaws.com/with.dots/p/x");
        assert_eq!(
            address(&bucket(Some("http://127.0.0.1:9/s3"), "plain")),
            "http://127.0.0.1:9/s3/plain/p/x"
        );
    }

    /// The example from "Authenticating Requests: Using Query Parameters" in AWS's documentation of S3.
    #[test]
    fn the_signature_is_that_of_the_published_example() {
        let signed = rusty_s3::signing::sign(
            &"2013-05-24T00:00:00Z".parse().unwrap(),
            rusty_s3::Method::Get,
            Url::parse("https://examplebucket.s3.amazonaws.com/test.txt").unwrap(),
            "AKIAIOSFODNN7EXAMPLE",
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            None,
            "us-east-1",
            86_400,
            std::iter::empty(),
            std::iter::empty(),
        );
        let signature = "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404";
        assert!(signed.as_str().ends_with(signature), "{signed}");
    }

    /// The expected signature comes from botocore, the library of AWS's own command line.
    #[test]
    fn writing_with_a_temporary_key_is_signed_as_by_the_command_line_of_aws() {
        let signed = rusty_s3::signing::sign(
            &"2013-05-24T00:00:00Z".parse().unwrap(),
            rusty_s3::Method::Put,
            bucket(None, "plain").objects.object_url("p/requests/assize-1.jsonl"),
            "AKIAIOSFODNN7EXAMPLE",
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            Some("a-session-token/of+some=length"),
            "us-east-1",
            1200,
            std::iter::empty(),
            std::iter::empty(),
        );
        let signature = "b15bf6bdc1e7f37d0f1700adc54c4a00b7c56855ea8049de765f1d78dd13b244";
        assert!(signed.as_str().ends_with(signature), "{signed}");
    }

    /// Run `moto_server -p 5000` with a bucket `plain`, and set `ASSIZE_TEST_S3=http://127.0.0.1:5000`.
    #[tokio::test]
    #[expect(clippy::disallowed_methods, reason = "a switch of the tests alone")]
    #[ignore = "needs a server of S3 with a bucket `plain`, named by ASSIZE_TEST_S3"]
    async fn objects_are_written_and_read_at_a_server_of_s3() {
        let server = std::env::var("ASSIZE_TEST_S3").expect("ASSIZE_TEST_S3 names a server");
        let transport = HttpTransport::default();
        let plain = bucket(Some(&server), "plain");
        let lines = b"{\"recordId\":\"a\"}\n".to_vec();
        plain.put(&transport, "p/requests/a.jsonl", lines.clone()).await.unwrap();
        assert_eq!(plain.get(&transport, "p/requests/a.jsonl").await, Ok(lines));

        let missing = plain.get(&transport, "p/none").await.unwrap_err();
        assert_eq!((missing.kind, missing.status), (ErrorKind::NotFound, Some(404)), "{missing}");
        let elsewhere = bucket(Some(&server), "no-such-bucket").put(&transport, "p/a", Vec::new()).await;
        assert!(elsewhere.unwrap_err().to_string().contains("NoSuchBucket"));
    }

    #[test]
    fn errors_have_the_servers_words_and_no_key() {
        let body = "<Error><Code>SignatureDoesNotMatch</Code><Message>It does not match for \
                    AKIAIOSFODNN7EXAMPLE</Message><StringToSign>a-session-token-of-some-length</StringToSign></Error>";
        let answer = HttpAnswer { status: 403, headers: HeaderMap::new(), body: body.as_bytes().to_vec() };
        let error = bucket(None, "plain").checked(Ok(answer), "write", "p/x").unwrap_err();
        assert_eq!((error.kind, error.status), (ErrorKind::PermissionDenied, Some(403)));
        let words = error.to_string();
        assert!(words.contains("can't write s3://plain/p/x: It does not match"), "{words}");
        assert!(words.contains("SignatureDoesNotMatch") && words.contains("s3:PutObject"), "{words}");
        assert!(!words.contains("AKIA") && !words.contains("session-token"), "{words}");

        let moved = HttpAnswer { status: 301, headers: HeaderMap::new(), body: Vec::new() };
        let error = bucket(None, "plain").checked(Ok(moved), "read", "p/x").unwrap_err();
        assert!(error.status == Some(400) && error.message.contains("us-east-1"), "{error}");
    }
}
