//! Storage for batches whose requests and results are not part of the API calls: an S3 bucket, and the role with which
//! the provider reads and writes there.

use std::str::FromStr;

use super::bucket::Bucket;
use super::place::BatchPlace;
use crate::aws::{self, AccessKey, region_of};
use crate::client::ModelClient;
use crate::config::ConfigError;
use crate::endpoint::is_loopback;
use crate::settings::is_from_file;
use reqwest::Url;

/// Variables for other addresses of S3, and of the Bedrock service for jobs.
const S3_ADDRESS: &str = "AWS_ENDPOINT_URL_S3";
const JOBS_ADDRESS: &str = "AWS_ENDPOINT_URL_BEDROCK";
/// Variable of the key for the latter.
const BEARER: &str = "AWS_BEARER_TOKEN_BEDROCK";

/// Longest name of a role.
const LONGEST_ROLE: usize = 2048;

/// An IAM role that reads requests and writes results, by its ARN.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchRole(pub(super) String);

impl FromStr for BatchRole {
    type Err = InvalidBatchRole;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts: Vec<&str> = text.splitn(6, ':').collect();
        let [arn, partition, iam, region, account, resource] = parts[..] else {
            return Err(InvalidBatchRole);
        };
        let is_account = account.len() == 12 && account.bytes().all(|byte| byte.is_ascii_digit());
        let name = resource.strip_prefix("role/").unwrap_or_default();
        let is_role = arn == "arn"
            && (partition == "aws" || partition.starts_with("aws-"))
            && (iam, region) == ("iam", "")
            && is_account
            && !name.is_empty()
            && text.len() <= LONGEST_ROLE
            && text.bytes().all(|byte| byte.is_ascii_graphic());

        if is_role { Ok(Self(text.to_owned())) } else { Err(InvalidBatchRole) }
    }
}

/// The text is not a role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected the ARN of a role of IAM: `arn:aws:iam::ACCOUNT:role/NAME`, where ACCOUNT has 12 digits")]
pub struct InvalidBatchRole;

/// Place, role and access key for batches that go through a bucket. Missing settings are reported when a model
/// needs them.
#[derive(Clone, Default)]
pub struct BatchStorage {
    place: Option<BatchPlace>,
    role: Option<BatchRole>,
    key: Option<Result<AccessKey, ConfigError>>,
    /// Values of the variables that were set.
    region: Option<String>,
    s3: Option<String>,
    jobs: Option<String>,
    /// A variable from a file in the working folder names an address that would receive settings from
    /// elsewhere.
    foreign: Option<&'static str>,
}

impl BatchStorage {
    /// Storage at a place, with the access key from the variables that `env` looks up.
    pub fn new(
        place: Option<BatchPlace>,
        role: Option<BatchRole>,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Self {
        let set =
            |name: &str| env(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        let (s3, jobs) = (set(S3_ADDRESS), set(JOBS_ADDRESS));
        let is_foreign = |address: &Option<String>, variable: &str, key: &str| {
            let is_elsewhere =
                address.as_deref().is_some_and(|text| Url::parse(text).is_ok_and(|url| !is_loopback(&url)));
            is_elsewhere && is_from_file(variable, env) && !is_from_file(key, env)
        };
        let foreign = if is_foreign(&s3, S3_ADDRESS, aws::SECRET) {
            Some(S3_ADDRESS)
        } else {
            is_foreign(&jobs, JOBS_ADDRESS, BEARER).then_some(JOBS_ADDRESS)
        };

        Self {
            place,
            role,
            key: AccessKey::find(env).transpose(),
            region: aws::region(env).ok().flatten().map(|(_, region)| region),
            s3,
            jobs,
            foreign,
        }
    }

    /// The bucket for batches of a Bedrock model.
    ///
    /// # Errors
    /// What to do, if a setting is missing or can't be used.
    pub(super) fn open(&self, client: &ModelClient) -> Result<JobSetup, String> {
        let (Some(place), Some(role)) = (&self.place, &self.role) else {
            return Err("batches of `bedrock` go through a bucket of S3: name it with `--batch-storage \
                        s3://BUCKET/PREFIX`, and the role that Bedrock reads and writes it by with `--batch-role ARN`"
                .to_owned());
        };
        let Some(key) = &self.key else {
            return Err(format!(
                "batches of `bedrock` are exchanged through {place}: set {} and {} to an access key for it, and \
                 AWS_SESSION_TOKEN where it is temporary, or name a profile in AWS_PROFILE",
                aws::KEY_ID,
                aws::SECRET
            ));
        };
        let key = key.as_ref().map_err(ConfigError::to_string)?;
        if let Some(variable) = self.foreign {
            return Err(format!(
                "{variable} is set in the `.env` file of this folder, which may not be yours, and the key is not: set \
                 both in the environment, or name the file with --env-file"
            ));
        }

        let runtime = client.place("");
        let region = region_of(&runtime).map(str::to_owned).or_else(|| self.region.clone());
        let region = region.filter(|region| is_region(region)).ok_or_else(|| {
            "batches of `bedrock` need the region of the bucket: set AWS_REGION, such as `eu-west-1`"
                .to_owned()
        })?;

        let jobs = match &self.jobs {
            Some(text) => address(JOBS_ADDRESS, text)?,
            None => jobs_beside(runtime),
        };
        let s3 = self.s3.as_deref().map(|text| address(S3_ADDRESS, text)).transpose()?;
        let bucket = Bucket::new(place, &region, s3, key)?;

        Ok(JobSetup { jobs, role: role.clone(), place: place.clone(), bucket })
    }
}

/// What jobs of Bedrock need besides the client of their model.
#[derive(Clone)]
pub(super) struct JobSetup {
    /// Base of the addresses of jobs.
    pub(super) jobs: Url,
    pub(super) role: BatchRole,
    pub(super) place: BatchPlace,
    pub(super) bucket: Bucket,
}

/// Reads an address from a variable. It must be encrypted unless it is on this machine.
fn address(variable: &str, text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| format!("{variable} is not an address: {error}"))?;
    let is_safe = url.scheme() == "https" || (url.scheme() == "http" && is_loopback(&url));
    if is_safe && url.has_host() { Ok(url) } else { Err(format!("{variable} must begin with https://")) }
}

fn is_region(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

/// The address for batch jobs, derived from the address of the models. AWS has a separate service for jobs; any other
/// server uses the same address.
fn jobs_beside(mut runtime: Url) -> Url {
    if region_of(&runtime).is_some()
        && let Some(host) = runtime.host_str().map(|host| host.replacen("bedrock-runtime", "bedrock", 1))
    {
        // It was a valid host before, and still is one.
        let _ = runtime.set_host(Some(&host));
    }
    runtime
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::InvalidBatchPlace;

    #[test]
    fn places_are_buckets_with_plain_prefixes() {
        for (text, key) in [
            ("s3://bucket", "in/a.jsonl"),
            ("s3://bucket/", "in/a.jsonl"),
            ("s3://my.bucket-1/team/evals/", "team/evals/in/a.jsonl"),
        ] {
            let place: BatchPlace = text.parse().unwrap();
            assert_eq!(place.key("in/a.jsonl"), key, "{text}");
            assert_eq!(place.key_of(&place.uri(key)), Some(key));
        }
        for text in [
            "bucket", "s3://", "s3://ab", "s3://UPPER", "s3://b..b", "s3://-ab/x", "s3://bucket/../x",
            "s3://bucket//x", "s3://bucket/a b", "s3://user:pass@bucket/x", "https://bucket/x",
        ] {
            assert_eq!(text.parse::<BatchPlace>(), Err(InvalidBatchPlace), "{text}");
        }

        let place: BatchPlace = "s3://bucket/p".parse().unwrap();
        for uri in ["s3://other/p/x", "s3://bucket/p/../x", "https://bucket/p/x", "s3://bucket/a?b"] {
            assert_eq!(place.key_of(uri), None, "{uri}");
        }
    }

    #[test]
    fn roles_are_arns_of_iam() {
        for text in
            ["arn:aws:iam::123456789012:role/batch", "arn:aws-us-gov:iam::123456789012:role/team/batch"]
        {
            assert_eq!(text.parse(), Ok(BatchRole(text.to_owned())));
        }
        for text in [
            "batch", "arn:aws:iam::1234:role/b", "arn:aws:s3:::b", "arn:aws:iam::123456789012:user/b",
            "arn:aws:iam::123456789012:role/",
        ] {
            assert_eq!(text.parse::<BatchRole>(), Err(InvalidBatchRole), "{text}");
        }
    }

    #[test]
    fn jobs_are_beside_the_models_of_aws_and_at_the_same_address_elsewhere() {
        let beside = |text: &str| jobs_beside(Url::parse(text).unwrap()).to_string();
        assert_eq!(
            beside("https://bedrock-runtime.eu-west-1.amazonaws.com"),
            "https://bedrock.eu-west-1.amazonaws.com/"
        );
        assert_eq!(
            beside("https://bedrock-runtime-fips.us-east-1.amazonaws.com/"),
            "https://bedrock-fips.us-east-1.amazonaws.com/"
        );
        assert_eq!(
            beside("https://gateway.example/bedrock-runtime"),
            "https://gateway.example/bedrock-runtime"
        );
    }
}
