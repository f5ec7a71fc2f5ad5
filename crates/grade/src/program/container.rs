//! Programs in containers: `docker` starts one for each run of a program, and the container is removed
//! afterwards.

use std::path::Path;
use std::time::Duration;

use assize_model::{ContainerSpec, GraderCommand};
use assize_process::{Environment, ProcessCommand, ProgramConsent};

/// Default time limit of a program in a container, as the format defines it.
const DEFAULT_TIME: Duration = Duration::from_mins(30);
/// Time limit for removing a container.
const REMOVAL_TIME: Duration = Duration::from_secs(30);
/// Bytes of a `docker` error that are shown, from the end.
const SHOWN_BYTES: usize = 2000;

/// A container and its name.
pub(super) struct Container<'a> {
    spec: &'a ContainerSpec,
    name: String,
}

impl<'a> Container<'a> {
    /// Chooses a name for a container that does not exist yet.
    pub(super) fn new(spec: &'a ContainerSpec) -> Self {
        Self { spec, name: format!("assize-{}", uuid::Uuid::new_v4().simple()) }
    }

    /// The time limit of a program whose own limit is `own`.
    pub(super) fn timeout(&self, own: Option<Duration>) -> Duration {
        own.or(self.spec.timeout).unwrap_or(DEFAULT_TIME)
    }

    /// Pulls the image unless it is present. Otherwise, the output of the pull would look like an error of the
    /// program.
    pub(super) async fn fetch_image(
        &self,
        env: &Environment,
        consent: Option<ProgramConsent>,
    ) -> Result<(), String> {
        let image = self.spec.image.as_str();
        let run = async |words: &[&str]| {
            let command =
                ProcessCommand::argv(words.iter().copied(), env.clone()).with_timeout(self.timeout(None));
            command.run(consent).await.map_err(|error| format!("`docker` of the workspace: {error}"))
        };
        if run(&["docker", "image", "inspect", image]).await?.exit.is_success() {
            return Ok(());
        }

        let pulled = run(&["docker", "pull", "--quiet", image]).await?;
        if pulled.exit.is_success() {
            return Ok(());
        }

        let stderr = pulled.stderr.tail(SHOWN_BYTES).trim().to_owned();
        Err(format!("the image `{image}` is not available ({}): {stderr}", pulled.exit))
    }

    /// The command that runs a program in the container. Variables are passed by name, so that their values
    /// appear in no process list; `folder` is readable in the container under the same path.
    pub(super) fn command(
        &self,
        program: &GraderCommand,
        pass_env: &[String],
        folder: Option<&Path>,
        env: Environment,
    ) -> ProcessCommand {
        let ContainerSpec { image, timeout: _, memory, cpus, place: _ } = self.spec;
        let mut words: Vec<String> =
            ["docker", "run", "--rm", "--interactive", "--init", "--name", &self.name]
                .map(str::to_owned)
                .into();
        words.extend(memory.iter().map(|memory| format!("--memory={memory}")));
        words.extend(cpus.iter().map(|cpus| format!("--cpus={cpus}")));
        words.extend(pass_env.iter().flat_map(|name| ["--env".to_owned(), name.clone()]));
        if let Some(folder) = folder {
            let folder = folder.display();
            words.extend(["--volume".to_owned(), format!("{folder}:{folder}:ro")]);
        }

        let mut program = match program {
            GraderCommand::Argv(words) => words.clone(),
            GraderCommand::Shell(line) => ["sh", "-c", line].map(str::to_owned).into(),
        };
        // The program replaces the image's entry point.
        let first = if program.is_empty() { String::new() } else { program.remove(0) };
        words.extend(["--entrypoint".to_owned(), first, image.clone()]);
        words.append(&mut program);

        ProcessCommand::argv(words, env)
    }

    /// Removes the container of a program that was stopped early: it keeps running without the `docker` that
    /// started it.
    pub(super) async fn remove(&self, env: Environment, consent: Option<ProgramConsent>) {
        let words = ["docker", "rm", "--force", &self.name];
        // There may be no container; and why the program was stopped matters more than this error.
        let _ = ProcessCommand::argv(words, env).with_timeout(REMOVAL_TIME).run(consent).await;
    }
}
