//! Identities of workspaces and of the commands around them.

use assize_rubric::{Identify, IdentityWriter};

use crate::{
    ContainerSpec, FilePosition, FilePreprocessor, GraderCommand, RepoSource, RepoSpec, WorkspaceHook,
    WorkspaceHooks, WorkspaceIsolation, WorkspaceMode, WorkspaceReset, WorkspaceSpec,
};

impl Identify for WorkspaceSpec {
    fn identify(&self, identity: &mut IdentityWriter) {
        // `docker` says where graders run, which does not change the folder.
        let Self { template, repos, hooks, isolation, mode, path, docker: _ } = self;
        identity.field(template);
        identity.field(repos);
        identity.field(hooks);
        identity.field(isolation);
        identity.field(mode);

        identity.field(path);
    }
}

impl Identify for ContainerSpec {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { image, timeout, memory, cpus, place: _ } = self;
        identity.field(image);
        identity.field(timeout);
        identity.field(memory);
        identity.field(cpus);
    }
}

impl Identify for FilePreprocessor {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { media_type, command, place } = self;
        identity.field(media_type);
        identity.field(command);
        identity.field(place);
    }
}

impl Identify for RepoSpec {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { path, source, revision, ancestor, depth, filter, sparse, place } = self;
        identity.field(path);
        identity.field(source);
        identity.field(revision);
        identity.field(ancestor);
        identity.field(depth);
        identity.field(filter);
        identity.field(sparse);

        identity.field(place);
    }
}

impl Identify for RepoSource {
    fn identify(&self, identity: &mut IdentityWriter) {
        match self {
            Self::Url(url) => {
                identity.text("url");
                identity.field(url);
            }
            Self::Folder(path) => {
                identity.text("folder");
                identity.field(path);
            }
        }
    }
}

impl Identify for WorkspaceIsolation {
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.text(match self {
            Self::PerTest => "per_test",
            Self::Shared => "shared",
        });
    }
}

impl Identify for WorkspaceMode {
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.text(self.name());
    }
}

impl Identify for WorkspaceHooks {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { enabled, before_all, before_each, after_each, after_all, functions } = self;
        identity.field(enabled);
        identity.field(before_all);
        identity.field(before_each);
        identity.field(after_each);

        identity.field(after_all);
        // If there are no functions, nothing is written, so that identities stored by older versions stay
        // valid.
        for (event, function) in functions {
            identity.text(event.name());
            identity.field(function);
        }
    }
}

impl Identify for WorkspaceHook {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { command, cwd, timeout, reset, place } = self;
        identity.field(command);
        identity.field(cwd);
        identity.field(timeout);
        identity.field(reset);

        identity.field(place);
    }
}

impl Identify for WorkspaceReset {
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.text(match self {
            Self::Fast => "fast",
            Self::Strict => "strict",
        });
    }
}

impl Identify for GraderCommand {
    fn identify(&self, identity: &mut IdentityWriter) {
        match self {
            Self::Argv(words) => {
                identity.text("argv");
                identity.field(words);
            }
            Self::Shell(line) => {
                identity.text("shell");
                identity.field(line);
            }
        }
    }
}

impl Identify for FilePosition {
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.field(self.path());
        identity.field(&self.line);
        identity.field(&self.column);
    }
}
