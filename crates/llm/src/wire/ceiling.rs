//! Recognizes refusals of an output limit that is too high, in the words of many servers.

/// Lower limits are not tried, because no useful reply fits into them.
const MIN_OUTPUT_LIMIT: u32 = 1024;

/// Words in messages that refuse a limit as too high, in lower case: names of the limit, and words for too much.
const SUBJECTS: [&str; 11] = [
    "max_tokens", "max_completion_tokens", "max_output_tokens", "max_new_tokens", "maxoutputtokens",
    "maxtokens", "num_predict", "maximum tokens", "output tokens", "completion tokens", "in the completion",
];
const EXCESS: [&str; 12] = [
    "too large", "too high", "too many", "at most", "maximum", "exceed", "less than or equal", "must be <=",
    "range", "only afford", "lower than", "must have stream",
];

/// A lower limit to try after one was refused with this message; `None` if the message is about something else,
/// or no limit is low enough. A limit that the server names is used; otherwise the limit is halved.
pub(super) fn lower(limit: u32, message: &str) -> Option<u32> {
    let message = message.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
    let too_high = says(&SUBJECTS) && says(&EXCESS);
    if !(too_high || never_fits(&message)) {
        return None;
    }

    let numbers = message.split(|c: char| !c.is_ascii_digit() && c != ',').filter_map(|digits| {
        let digits: String = digits.chars().filter(char::is_ascii_digit).collect();
        digits.parse::<u32>().ok()
    });
    let named = numbers.filter(|number| (MIN_OUTPUT_LIMIT..limit).contains(number)).max();
    named.or(Some(limit / 2).filter(|half| *half >= MIN_OUTPUT_LIMIT))
}

/// [`lower`] for requests that came too fast (HTTP 429). Waiting solves that, and a lower limit does not help,
/// unless the limit exceeds a whole minute's allowance. Anthropic's messages mention the allowance in any case.
pub(super) fn within_allowance(limit: u32, message: &str) -> Option<u32> {
    let lower_case = message.to_ascii_lowercase();
    if never_fits(&lower_case) {
        return lower(limit, message);
    }

    let (before, _) = lower_case.split_once(" output tokens per minute")?;
    let allowance: u32 = before.rsplit(' ').next()?.replace(',', "").parse().ok()?;
    Some(allowance).filter(|allowance| (MIN_OUTPUT_LIMIT..limit).contains(allowance))
}

/// Some servers count the limit against the account's tokens a minute, and refuse one that can never fit.
fn never_fits(message: &str) -> bool {
    message.contains("request too large") && message.contains("tokens per min")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_429_lowers_an_output_limit_only_to_the_allowance() {
        let message = |allowance: &str| {
            format!(
                "This request would exceed your organization's rate limit of {allowance} tokens per minute (org: \
                 3f2504e0-4f89, model: m). Please reduce the prompt length or the maximum tokens requested, or try \
                 again later."
            )
        };
        assert_eq!(within_allowance(40_960, &message("8,000 output")), Some(8000));
        assert_eq!(within_allowance(8000, &message("8,000 output")), None);
        assert_eq!(within_allowance(8192, &message("50,000 input")), None);
        assert_eq!(within_allowance(8192, &message("4,000 input")), None);
        let never = "Request too large for `m` on tokens per minute (TPM): Limit 6000, Requested 9000.";
        assert_eq!(within_allowance(8192, never), Some(6000));
        assert_eq!(
            within_allowance(8192, "Rate limit reached on max_tokens: at most 5000 in a minute"),
            None
        );
    }

    #[test]
    fn servers_that_name_their_limit_are_taken_at_their_word() {
        for (message, expected) in [
            (
                "max_tokens is too large: 32768. This model supports at most 16384 completion tokens, whereas you \
                 provided 32768.",
                16_384,
            ),
            (
                "max_tokens: 32768 > 4096, which is the maximum allowed number of output tokens for claude-x",
                4096,
            ),
            (
                "The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum tokens \
                 value that is lower than 4096.",
                4096,
            ),
            ("`max_tokens` must be less than or equal to `8,192`, the maximum value for `max_tokens`", 8192),
            ("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", 8192),
            (
                "This request requires more credits, or fewer max_tokens. You requested up to 32768 tokens, but can \
                 only afford 5000.",
                5000,
            ),
            ("Requests with max_tokens > 4096 must have stream=true", 4096),
            (
                "Unable to submit request because it has a maxOutputTokens value of 32768 but the supported range is \
                 from 1 (inclusive) to 8193 (exclusive). Update the value and try again.",
                8193,
            ),
            (
                "Request too large for model `m` in organization `o` on tokens per minute (TPM): Limit 6000, Requested \
                 33000, please reduce your message size and try again.",
                6000,
            ),
        ] {
            assert_eq!(lower(32_768, message), Some(expected), "{message}");
        }
    }

    #[test]
    fn context_window_too_small_for_both_is_found_by_halving() {
        let message = |limit: u32| {
            let all = 808 + limit;
            format!(
                "This model's maximum context length is 4096 tokens. However, you requested {all} tokens (808 in the \
                 messages, {limit} in the completion)."
            )
        };
        assert_eq!(lower(8192, &message(8192)), Some(4096));
        assert_eq!(lower(4096, &message(4096)), Some(2048));
        assert_eq!(lower(1500, &message(1500)), None);
        let newer = |limit: u32| {
            format!(
                "'max_tokens' or 'max_completion_tokens' is too large: {limit}. This model's maximum context length is \
                 4096 tokens and your request has 808 input tokens ({limit} > 4096 - 808)."
            )
        };
        assert_eq!((lower(8192, &newer(8192)), lower(4096, &newer(4096))), (Some(4096), Some(2048)));
    }

    #[test]
    fn other_refusals_say_nothing_about_the_limit() {
        for message in [
            "Unsupported parameter: 'max_tokens' is not supported with this model.",
            "This model's maximum context length is 4096 tokens, your prompt has 9000",
            "temperature must be at most 2",
            "Rate limit reached for m in organization o on tokens per min (TPM): Limit 30000, Used 29000, Requested 9000.",
            "",
        ] {
            assert_eq!(lower(8192, message), None, "{message}");
        }
    }
}
