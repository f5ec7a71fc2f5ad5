//! A target with the same answer to everything, for trying out a suite.

use std::time::Duration;

use assize_llm::BoxFuture;
use assize_rubric::{Cost, IdentityWriter};
use serde_json::Value;

use crate::{
    Target, TargetAnswer, TargetDescription, TargetError, TargetErrorKind, TargetInput, TargetKind,
    given_answer,
};

/// Target with an invented answer.
#[derive(Debug, Clone)]
pub struct MockTarget {
    /// Name of the target.
    pub name: String,
    /// The answer, as [`given_answer`] reads it.
    pub response: Value,
    /// Minimum delay.
    pub shortest: Duration,
    /// Maximum delay. The delay depends only on the case id, so that every run has equal delays.
    pub longest: Duration,
    /// Error message to fail with instead of answering.
    pub fail: Option<String>,
}

impl MockTarget {
    fn wait(&self, input: &TargetInput) -> Duration {
        let range = self.longest.saturating_sub(self.shortest);
        if range.is_zero() {
            return self.shortest;
        }

        let mut hasher = blake3::Hasher::new();
        hasher.update(input.case_id.as_bytes()).update(&input.attempt.to_le_bytes());

        let [first, second, ..] = *hasher.finalize().as_bytes();
        self.shortest + range.mul_f64(f64::from(u16::from_le_bytes([first, second])) / f64::from(u16::MAX))
    }
}

impl Target for MockTarget {
    fn name(&self) -> &str {
        &self.name
    }

    fn answer<'a>(&'a self, input: &'a TargetInput) -> BoxFuture<'a, Result<TargetAnswer, TargetError>> {
        Box::pin(async {
            let wait = self.wait(input);
            if !wait.is_zero() {
                tokio::time::sleep(wait).await;
            }
            if let Some(why) = &self.fail {
                let message = format!("mock failure: {why}");
                let error = TargetError::new(TargetErrorKind::Failed, message);
                return Err(TargetError { cost: Cost::ZERO, ..error });
            }

            let answer = given_answer(&self.response)?;
            let duration = if answer.duration.is_zero() { wait } else { answer.duration };
            // There is no call, so the cost is known to be zero.
            let cost = answer.cost.or(Some(Cost::ZERO));
            Ok(TargetAnswer { cost, duration, ..answer })
        })
    }

    fn describe(&self) -> TargetDescription {
        TargetDescription::new(&self.name, TargetKind::Mock)
    }

    fn write_settings(&self, identity: &mut IdentityWriter) {
        let Self { name, response, shortest, longest, fail } = self;

        identity.begin("mock target", 1);
        identity.fields(&[name, response, shortest, longest, fail]);
    }
}
