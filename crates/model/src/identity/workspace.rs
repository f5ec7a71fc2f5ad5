//! Identities of workspaces and of the commands around them.

use assize_rubric::{Identify, IdentityWriter, identify_enum, identify_struct};

use crate::{
    ContainerSpec, FilePosition, FilePreprocessor, GraderCommand, RepoSource, RepoSpec, WorkspaceHook,
    WorkspaceHooks, WorkspaceIsolation, WorkspaceMode, WorkspaceReset, WorkspaceSpec,
};

// `docker` determines where graders run, which does not change the folder.
identify_struct!(WorkspaceSpec { template, repos, hooks, isolation, mode, path; not docker });
identify_struct!(ContainerSpec { image, timeout, memory, cpus; not place });
identify_struct!(FilePreprocessor { media_type, command, place });
identify_struct!(RepoSpec { path, source, revision, ancestor, depth, filter, sparse, place });
identify_enum!(RepoSource { Url(url) = "url", Folder(path) = "folder" });
identify_enum!(WorkspaceIsolation { PerTest = "per_test", Shared = "shared" });
identify_enum!(WorkspaceMode { Temp = "temp", Pooled = "pooled", Static = "static" });

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

identify_struct!(WorkspaceHook { command, cwd, timeout, reset, place });
identify_enum!(WorkspaceReset { Fast = "fast", Strict = "strict" });
identify_enum!(GraderCommand { Argv(words) = "argv", Shell(line) = "shell" });

impl Identify for FilePosition {
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.field(self.path());
        identity.field(&self.line);
        identity.field(&self.column);
    }
}
