//! `assize mcp` with an independent client: the package `mcp` of PyPI, if it can be installed.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use assize_testkit::cli::CliTest;

/// The client, in a version that is known to work.
const CLIENT: &str = "mcp==2.3.0";

/// The official client for Node.js, in a version that is known to work.
const NODE_CLIENT: &str = "@modelcontextprotocol/sdk@1.32.2";

#[test]
fn a_client_of_somebody_else_uses_every_tool() {
    walk(client_python().map(|python| {
        let mut command = Command::new(python);
        command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/mcp/client.py"));
        command
    }));
}

#[test]
fn errors_reach_the_client_of_node_with_their_message() {
    walk(node_client().map(|script| {
        let mut command = Command::new("node");
        command.arg(script);
        command
    }));
}

/// Runs a client with the server, if there is one, in a folder with the examples.
fn walk(client: Result<Command, String>) {
    let mut client = match client {
        Ok(client) => client,
        Err(missing) => {
            // Bypasses the test harness, which captures output: the summary counts these lines.
            let line = format!("\nSKIPPED 1 test of `assize mcp` with another client: {missing}\n");
            std::io::stdout().write_all(line.as_bytes()).expect("stdout takes a line");
            return;
        }
    };

    let test = CliTest::new(env!("CARGO_BIN_EXE_assize"));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    test.copy_folder(&root.join("examples"), "examples");

    let walked =
        client.arg(env!("CARGO_BIN_EXE_assize")).arg(test.dir()).output().expect("the client starts");
    let (stdout, stderr) = (String::from_utf8_lossy(&walked.stdout), String::from_utf8_lossy(&walked.stderr));
    assert!(walked.status.success(), "{stdout}\n{stderr}");
    assert!(stdout.contains(" checks, 0 problems"), "{stdout}");
}

#[test]
fn nothing_but_the_protocol_is_printed_and_the_end_of_input_is_the_end() {
    let test = CliTest::new(env!("CARGO_BIN_EXE_assize"));
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let list = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;

    let output = test.run_with_input(&["mcp"], &format!("{hello}\n{ready}\n{list}\n"));

    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{}", output.stdout);
    let lines: Vec<serde_json::Value> =
        output.stdout.lines().map(|line| serde_json::from_str(line).expect("a message")).collect();
    assert_eq!(lines[0]["result"]["serverInfo"]["name"], "assize");
    assert_eq!(lines[1]["result"]["tools"].as_array().map(Vec::len), Some(7));
}

#[test]
fn a_root_that_is_no_folder_is_said() {
    let test = CliTest::new(env!("CARGO_BIN_EXE_assize"));
    let output = test.run_with_input(&["mcp", "--root", "nowhere"], "").expect_code(2);
    assert!(
        output.stderr.contains("`nowhere` can't be used") && output.stdout.is_empty(),
        "{}",
        output.stderr
    );
}

#[test]
fn documented_configurations_start_the_server() {
    let test = CliTest::new(env!("CARGO_BIN_EXE_assize"));
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/mcp.md");
    let page = std::fs::read_to_string(page).expect("readable");

    let mut commands: Vec<Vec<String>> = Vec::new();
    for block in page.split("```json\n").skip(1) {
        let text = block.split("```").next().expect("a block");
        find_commands(&serde_json::from_str(text).expect("JSON"), &mut commands);
    }
    for line in page.lines().filter_map(|line| line.strip_prefix("args = ")) {
        commands.push(serde_json::from_str(line).expect("a list"));
    }

    assert_eq!(commands.len(), 4, "{commands:?}");
    for mut command in commands {
        command.push("--help".to_owned());
        assert_eq!(command[0], "mcp");
        test.run(&command).expect_code(0);
    }
}

/// Collects the arguments of servers in a configuration.
fn find_commands(value: &serde_json::Value, found: &mut Vec<Vec<String>>) {
    let serde_json::Value::Object(map) = value else { return };
    for (key, value) in map {
        let words: Vec<String> = serde_json::from_value(value.clone()).unwrap_or_default();
        match (key.as_str(), words.as_slice()) {
            ("args", _) => found.push(words),
            ("command", [program, arguments @ ..]) if program == "assize" => found.push(arguments.to_vec()),
            _ => find_commands(value, found),
        }
    }
}

/// The interpreter of a virtual environment with the client, below `target/`. It is created if possible; the
/// error names the missing program or package.
fn client_python() -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mcp-client");
    let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let works = |python: &Path| {
        let imported = quiet(Command::new(python).args(["-c", "import mcp"])).status();
        imported.is_ok_and(|status| status.success())
    };
    if works(&python) {
        return Ok(python);
    }

    let made = quiet(Command::new("python3").args(["-m", "venv"]).arg(&folder)).status();
    if !made.is_ok_and(|status| status.success()) {
        return Err("`python3 -m venv` can't make an environment".to_owned());
    }

    let pip =
        ["-m", "pip", "install", "--quiet", "--no-compile", "--retries", "0", "--timeout", "10", CLIENT];
    let installed = quiet(Command::new(&python).args(pip)).status();
    if installed.is_ok_and(|status| status.success()) && works(&python) {
        Ok(python)
    } else {
        Err(format!("pip can't install {CLIENT}"))
    }
}

/// The script with the client of Node.js, in a folder with its packages below `target/`.
fn node_client() -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mcp-node-client");
    let script = folder.join("errors.mjs");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/mcp/errors.mjs");
    let copied = std::fs::create_dir_all(&folder).and_then(|()| std::fs::copy(source, &script));
    copied.map_err(|error| format!("{}: {error}", folder.display()))?;
    let installed = folder.join("installed");
    if std::fs::read_to_string(&installed).is_ok_and(|package| package == NODE_CLIENT) {
        return Ok(script);
    }

    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock", "--prefix"]);
    let status = quiet(npm.arg(&folder).arg(NODE_CLIENT)).status();
    if !status.is_ok_and(|status| status.success()) {
        return Err(format!("npm can't install {NODE_CLIENT}"));
    }

    std::fs::write(installed, NODE_CLIENT).map_err(|error| error.to_string())?;
    Ok(script)
}

fn quiet(command: &mut Command) -> &mut Command {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null())
}
