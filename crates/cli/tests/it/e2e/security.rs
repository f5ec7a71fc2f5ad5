//! SECURITY.md: each of its sentences with the tests that hold it.

use crate::e2e::named_tests::expect_test;

/// What holds a sentence.
enum Held {
    /// Tests, each by its file and name.
    By(&'static [(&'static str, &'static str)]),
    /// No limit, because it makes no promise.
    PromisesNothing,
}

use Held::{By, PromisesNothing};

const ENVIRONMENT: &str = "cli/tests/it/e2e/environment.rs";
const PROGRAMS: &str = "cli/tests/it/e2e/programs.rs";
const SERVE: &str = "cli/tests/it/e2e/serve.rs";
const LIMITS: &str = "cli/tests/it/e2e/limits.rs";
const SEALED: &str = "cluster/src/tests/sealed.rs";
const SIGNED: &str = "cli/tests/cluster/signed.rs";

/// Beginnings of the sentences, in order.
const SENTENCES: &[(&str, Held)] = &[
    ("Assize reads files that other people wrote", PromisesNothing),
    ("This page says what it trusts", PromisesNothing),
    ("Reasons are in ", PromisesNothing),
    ("You: the command line", By(&[(ENVIRONMENT, "what_the_user_chose_needs_no_consent")])),
    (
        "Not trusted: eval files",
        By(&[
            (PROGRAMS, "no_key_of_any_format_starts_a_program_without_consent"),
            (ENVIRONMENT, "an_address_of_a_file_of_variables_is_one_of_the_project"),
            ("cli/tests/it/e2e/isolation.rs", "answers_that_pretend_to_be_more_change_no_criterion"),
        ]),
    ),
    (
        "| start a program",
        By(&[
            (PROGRAMS, "no_key_of_any_format_starts_a_program_without_consent"),
            (PROGRAMS, "each_key_that_may_name_a_program_is_in_the_list"),
            (PROGRAMS, "no_check_of_a_scorecard_starts_a_program_without_consent"),
        ]),
    ),
    (
        "| run JavaScript in the built-in engine",
        By(&[
            ("script/src/tests.rs", "nothing_outside_of_a_script_exists"),
            ("script/src/tests.rs", "limits_stop_a_script"),
            (LIMITS, "every_limit_holds"),
        ]),
    ),
    ("| use time and memory", By(&[(LIMITS, "every_limit_holds")])),
    (
        "| open a file",
        By(&[
            ("cli/tests/it/e2e/outside.rs", "no_key_of_any_schema_opens_a_file_outside_of_the_root"),
            ("load/src/tests/suites/mod.rs", "links_do_not_lead_out_of_the_root"),
        ]),
    ),
    (
        "| open a file elsewhere",
        By(&[(
            "cli/tests/it/e2e/references.rs",
            "no_reference_reads_a_file_outside_of_the_root_without_consent",
        )]),
    ),
    (
        "| send your key of a provider",
        By(&[("cli/tests/it/e2e/secrets.rs", "a_sound_run_sends_the_key_and_stores_it_nowhere")]),
    ),
    ("| send any value", By(&[(ENVIRONMENT, "no_value_of_the_environment_leaves_without_consent")])),
    ("| use a value as a setting", By(&[(ENVIRONMENT, "what_the_user_chose_needs_no_consent")])),
    (
        "You consent with",
        By(&[
            (PROGRAMS, "the_environment_consents_and_no_file_of_variables_moves_the_list"),
            (PROGRAMS, "trusted_folders_are_listed_outside_of_them_and_revoked"),
        ]),
    ),
    (
        "Without consent, Assize lists",
        By(&[
            (PROGRAMS, "all_programs_of_a_plan_are_listed_with_their_places"),
            (ENVIRONMENT, "all_values_and_programs_are_listed_in_one_error"),
        ]),
    ),
    (
        "`assize validate` lists the same",
        By(&[(ENVIRONMENT, "all_values_and_programs_are_listed_in_one_error")]),
    ),
    ("`assize trust --list`", By(&[(PROGRAMS, "trusted_folders_are_listed_outside_of_them_and_revoked")])),
    (
        "A folder that was moved",
        By(&[(
            "engine/src/trust.rs",
            "only_the_folder_itself_is_trusted_and_no_link_or_other_folder_in_its_place",
        )]),
    ),
    (
        "`validate`, `lint`, `--dry-run` and the language server",
        By(&[
            (PROGRAMS, "no_key_of_any_format_starts_a_program_without_consent"),
            ("cli/tests/it/e2e/lsp.rs", "no_program_of_a_text_is_started"),
        ]),
    ),
    ("With consent, programs have your permissions", PromisesNothing),
    ("Run files of strangers in a container", PromisesNothing),
    (
        "`--deny exposed-keys` refuses",
        By(&[(ENVIRONMENT, "no_value_of_the_environment_leaves_without_consent")]),
    ),
    (
        "`serve` listens on loopback",
        By(&[
            ("serve/src/tests/access.rs", "addresses_that_others_reach_need_keys_and_encryption"),
            (SERVE, "what_cannot_be_served_is_refused_at_once"),
        ]),
    ),
    (
        "Requests start no program and open no file",
        By(&[("serve/src/tests/hostile.rs", "nothing_in_a_request_is_opened_or_run")]),
    ),
    (
        "`mcp` starts programs only with",
        By(&[
            ("mcp/src/tests/safety.rs", "programs_are_started_only_where_the_server_was_told_so"),
            ("mcp/src/tests/safety.rs", "without_the_right_to_write_no_run_is_made"),
        ]),
    ),
    (
        "`view` listens on loopback",
        By(&[(
            "view/src/tests/access.rs",
            "a_server_that_others_can_reach_needs_a_long_token_and_encryption",
        )]),
    ),
    (
        "Answers and replies are shown as text",
        By(&[
            ("view/src/tests/pages.rs", "every_page_is_there_and_harmless"),
            ("view/src/tests/access.rs", "every_reply_forbids_scripts_of_others"),
        ]),
    ),
    (
        "`serve` and `mcp` never have consent from a request",
        By(&[
            (ENVIRONMENT, "no_client_of_mcp_can_consent"),
            ("serve/src/tests/hostile.rs", "nothing_in_a_request_is_opened_or_run"),
        ]),
    ),
    (
        "`mcp --allow-programs` is the consent",
        By(&[
            ("mcp/src/tests/safety.rs", "programs_are_started_only_where_the_server_was_told_so"),
            (SERVE, "values_of_the_environment_in_files_of_the_server_need_consent"),
        ]),
    ),
    (
        "A worker with a",
        By(&[
            (SEALED, "only_who_knows_the_secret_works_on_a_job_or_describes_one"),
            (SIGNED, "forged_results_and_replies_on_servers_are_refused_and_counted"),
            (SIGNED, "servers_elsewhere_without_a_secret_are_warned_of"),
        ]),
    ),
    (
        "The consent of the coordinator's user",
        By(&[(SEALED, "the_consent_of_the_coordinator_does_not_travel")]),
    ),
    (
        "A check whose single step takes for ever",
        By(&[("grade/src/check_threads.rs", "checks_that_run_on_take_places_of_their_own_client_only")]),
    ),
    (
        "Other keys keep their own threads",
        By(&[("grade/src/check_threads.rs", "checks_that_run_on_take_places_of_their_own_client_only")]),
    ),
    ("All clients of `serve` share", PromisesNothing),
    ("The limits of an account", PromisesNothing),
    ("Line ends of HTTP headers", PromisesNothing),
    ("Put a strict proxy", PromisesNothing),
    (
        "Whoever can write to the NATS servers",
        By(&[(SIGNED, "a_description_that_is_put_back_brings_no_calls_and_none_is_taken_for_another_job")]),
    ),
    ("Without a secret of the job", PromisesNothing),
    ("The reply cache holds replies", PromisesNothing),
    ("A model that repeats a value", PromisesNothing),
    (
        "Masking finds keys",
        By(&[("cli/tests/it/e2e/secrets.rs", "servers_that_echo_the_key_do_not_spread_it")]),
    ),
    ("It is no protection from", PromisesNothing),
    ("promptfoo trusts configurations", PromisesNothing),
    ("Assize does not, so a configuration", PromisesNothing),
    ("Report a problem in private", PromisesNothing),
    ("A file that starts a program without consent", PromisesNothing),
];

/// The sentences of the page, each row of a table as one.
fn sentences(page: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in page.lines() {
        let line = line.trim();
        let is_text = !line.is_empty() && !line.starts_with('#');
        if line.starts_with('|') {
            let is_head = line.starts_with("|---") || line.starts_with("| a file wants to |");
            found.extend((!is_head).then(|| line.to_owned()));
        } else if let (true, true, Some(last)) =
            (is_text, goes_on && !line.starts_with("- "), found.last_mut())
        {
            last.push(' ');
            last.push_str(line);
        } else if is_text {
            found.push(line.trim_start_matches("- ").to_owned());
        }
        goes_on = is_text && !line.starts_with('|');
    }
    let ends = |text: &str, at: usize| {
        let next = text[at + 2..].chars().next();
        next.is_some_and(|next| next.is_uppercase() || next == '`')
    };
    found
        .iter()
        .flat_map(|text| {
            let is_row = text.starts_with('|');
            let cuts = text.match_indices(". ").map(|(at, _)| at).filter(|at| !is_row && ends(text, *at));
            let cuts: Vec<usize> = cuts.collect();
            let begins = std::iter::once(0).chain(cuts.iter().map(|at| at + 2));
            let ends = cuts.iter().map(|at| at + 1).chain([text.len()]);
            begins.zip(ends).map(|(begin, end)| text[begin..end].to_owned()).collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn each_sentence_of_the_security_page_has_its_tests() {
    let page = include_str!("../../../../../SECURITY.md");
    let found = sentences(page);
    for (at, sentence) in found.iter().enumerate() {
        let known = SENTENCES.get(at).is_some_and(|(begin, _)| sentence.starts_with(begin));
        assert!(known, "no tests for: {sentence}");
    }
    assert_eq!(found.len(), SENTENCES.len(), "the list has sentences that the page lacks");

    for (sentence, held) in SENTENCES {
        let By(tests) = held else { continue };
        for (file, name) in *tests {
            expect_test(file, name, sentence);
        }
    }
}

#[test]
fn a_new_sentence_is_noticed() {
    let page =
        "# Title\n\nOne. `Two` is\nhere.\n\n| a | b |\n|---|---|\n| c | d |\n- Three. Four, v. 1.\n- Five.\n";
    let expected = ["One.", "`Two` is here.", "| a | b |", "| c | d |", "Three.", "Four, v. 1.", "Five."];
    assert_eq!(sentences(page), expected);
}
