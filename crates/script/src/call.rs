//! Calls of scripts, and the time that they share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{Script, ScriptError, ScriptValue, engine};
pub use assize_limits::SCRIPT_BYTES as MAX_SCRIPT_BYTES;
pub use assize_limits::SCRIPT_MEMORY as MAX_SCRIPT_MEMORY;
pub use assize_limits::SCRIPT_STEPS as MAX_SCRIPT_STEPS;
pub use assize_limits::SCRIPT_TIME as MAX_SCRIPT_TIME;

/// Time for the engine to notice by itself that the time of a call is over.
const GRACE: Duration = Duration::from_millis(100);

/// Time that the calls of several scripts share. Clones share it too.
#[derive(Debug, Clone)]
pub struct ScriptTime(Arc<AtomicU64>);

impl Default for ScriptTime {
    /// [`MAX_SCRIPT_TIME`].
    fn default() -> Self {
        Self::of(MAX_SCRIPT_TIME)
    }
}

impl ScriptTime {
    fn of(time: Duration) -> Self {
        Self(Arc::new(AtomicU64::new(microseconds(time))))
    }

    /// True if there is no time left.
    pub fn is_spent(&self) -> bool {
        self.left().is_err()
    }

    /// The remaining time.
    ///
    /// # Errors
    /// When there is none.
    fn left(&self) -> Result<Duration, ScriptError> {
        match self.0.load(Ordering::Relaxed) {
            0 => Err(ScriptError::TimeSpent(MAX_SCRIPT_TIME.as_secs())),
            left => Ok(Duration::from_micros(left)),
        }
    }

    fn take(&self, time: Duration) {
        let less = |left: u64| Some(left.saturating_sub(microseconds(time)));
        // The closure never refuses.
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }
}

fn microseconds(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

impl Script {
    /// Checks the syntax of a script, without running it.
    ///
    /// # Errors
    /// If it is not valid JavaScript.
    pub fn check(&self, parameters: &[&str]) -> Result<(), ScriptError> {
        engine::check(self, parameters)
    }

    /// Calls the script with named values.
    ///
    /// # Errors
    /// If it throws, exceeds a limit, or returns a value that can't be read.
    pub fn call(&self, arguments: &[(&str, &Value)]) -> Result<ScriptValue, ScriptError> {
        engine::call(self, arguments, MAX_SCRIPT_TIME, false)
    }

    /// Like [`Script::call`], within a time that it shares with other calls.
    ///
    /// # Errors
    /// As in [`Script::call`], and when no time is left.
    pub fn call_within(
        &self,
        arguments: &[(&str, &Value)],
        time: &ScriptTime,
    ) -> Result<ScriptValue, ScriptError> {
        self.call_beside(arguments, time, false)
    }

    /// Like [`Script::call_within`], but if a file exports a value that is not a function, returns that value.
    ///
    /// # Errors
    /// As in [`Script::call_within`].
    pub fn call_or_value(
        &self,
        arguments: &[(&str, &Value)],
        time: &ScriptTime,
    ) -> Result<ScriptValue, ScriptError> {
        self.call_beside(arguments, time, true)
    }

    /// Calls the script on another thread. The engine looks at the clock after thousands of operations, and each may be
    /// one on a long list. If it does not end in time, its thread runs on, and no other script of the same time begins.
    fn call_beside(
        &self,
        arguments: &[(&str, &Value)],
        time: &ScriptTime,
        takes_value: bool,
    ) -> Result<ScriptValue, ScriptError> {
        let left = time.left()?;
        let begun = Instant::now();
        let owned: Vec<(String, Value)> =
            arguments.iter().map(|(name, value)| ((*name).to_owned(), (*value).clone())).collect();
        let (script, (returned, result)) = (self.clone(), mpsc::channel());
        let work = move || {
            let named: Vec<(&str, &Value)> =
                owned.iter().map(|(name, value)| (name.as_str(), value)).collect();
            // Nobody waits for it any more if it took too long.
            let _ = returned.send(engine::call(&script, &named, left, takes_value));
        };
        let started = thread::Builder::new().name("script".to_owned()).spawn(work);
        started.map_err(|error| ScriptError::Result(error.to_string()))?;
        let outcome = result.recv_timeout(left + GRACE);
        time.take(begun.elapsed());

        outcome.unwrap_or_else(|_| Err(ScriptError::TooSlow(MAX_SCRIPT_TIME.as_secs())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_share_their_time_are_refused_when_it_is_spent() {
        let time = ScriptTime::of(Duration::from_millis(20));
        let slow = Script::from_code("while (true) {}\nreturn 1");
        let quick = Script::from_code("1 + 1");
        assert_eq!(quick.call_within(&[], &time), Ok(crate::ScriptValue::Number(2.0)));
        assert_eq!(slow.call_within(&[], &time), Err(ScriptError::TooSlow(10)));
        assert_eq!(quick.call_within(&[], &time), Err(ScriptError::TimeSpent(10)));
        assert_eq!(quick.call(&[]), Ok(crate::ScriptValue::Number(2.0)));
    }

    #[test]
    fn a_script_of_few_but_long_steps_ends_with_its_time() {
        let time = ScriptTime::of(Duration::from_millis(20));
        let script = Script::from_code("const list = new Uint8Array(5e7);\nfor (;;) list.indexOf(1);");
        let begun = Instant::now();
        assert_eq!(script.call_within(&[], &time), Err(ScriptError::TooSlow(10)));
        assert!(begun.elapsed() < MAX_SCRIPT_TIME);
        assert_eq!(script.call_within(&[], &time), Err(ScriptError::TimeSpent(10)));
    }

    #[test]
    fn nothing_of_a_text_is_run_while_it_is_checked() {
        for code in ["}); throw new Error('it ran'); (function() {", "}); for (;;) {} (function() {"] {
            for script in [
                Script::from_code(code),
                Script::from_file(code, None),
                Script::from_file(&format!("{code}\n// or\nexport x"), None),
            ] {
                let begun = Instant::now();
                let checked = script.check(&["output"]);
                assert!(
                    !format!("{checked:?}").contains("it ran") && begun.elapsed() < GRACE,
                    "{code}: {checked:?}"
                );
            }
        }
        assert!(Script::from_code("return (").check(&[]).is_err());
    }
}
