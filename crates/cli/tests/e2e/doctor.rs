//! `doctor`: which judges are usable.

use assize_testkit::mock::{MockServer, Reply, always};

use crate::bench::{KEY, cli, object};

#[test]
fn what_is_set_up_is_usable_and_the_rest_says_what_it_lacks() {
    let server = MockServer::start(always(Reply::text("never asked")));
    let mut cli = cli();
    cli.env("ANTHROPIC_API_KEY", KEY).env("VLLM_BASE_URL", server.base_url());
    let output = cli.run(&["doctor", "--json"]).expect_code(0);
    let value = object(&output);
    let judge = |name: &str| {
        let list = value["judges"].as_array().expect("a list");
        list.iter().find(|judge| judge["judge"] == name).expect("listed").clone()
    };
    for name in ["offline", "anthropic", "vllm"] {
        assert_eq!(judge(name)["usable"], true, "{}", judge(name));
    }
    assert_eq!(judge("gemini")["usable"], false);
    assert!(judge("gemini")["about"].as_str().is_some_and(|about| about.contains("GEMINI_API_KEY")));
    assert!(!output.stdout.contains(KEY) && !output.stderr.contains(KEY));
    assert_eq!(server.count(), 0, "nothing is sent");
}

#[test]
fn the_table_hides_what_nobody_set_up() {
    let short = cli().run(&["doctor"]).expect_code(0).stdout;
    assert!(short.contains("usable    offline") && !short.contains("GROQ_API_KEY"), "{short}");
    let long = cli().run(&["doctor", "--all"]).expect_code(0).stdout;
    assert!(long.contains("GROQ_API_KEY"), "{long}");
}
