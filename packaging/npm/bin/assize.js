#!/usr/bin/env node
"use strict";

// Starts the program of this platform's package, and ends as it ends.

const { spawn } = require("node:child_process");
const os = require("node:os");

function programPath() {
  if (process.env.ASSIZE_BINARY) {
    return process.env.ASSIZE_BINARY;
  }

  const platform = `${process.platform}-${process.arch}`;
  const name = `@assize/${platform}`;
  const file = process.platform === "win32" ? "assize.exe" : "assize";
  try {
    return require.resolve(`${name}/${file}`);
  } catch {
    const { optionalDependencies = {} } = require("../package.json");
    const reason = name in optionalDependencies
      ? `The package ${name} is not installed. npm leaves it out with --omit=optional or --no-optional, and where a lock
file was written on another platform. Delete node_modules and the lock file and install again, or add it:
    npm install ${name}@${optionalDependencies[name]}`
      : `There is no build of assize for ${platform}. Set ASSIZE_BINARY to the path of one that you built.`;
    console.error(`assize: ${reason}`);
    process.exit(2);
  }
}

const path = programPath();
const program = spawn(path, process.argv.slice(2), { stdio: "inherit", windowsHide: true });
program.on("error", (error) => {
  console.error(`assize: can't start ${path}: ${error.message}`);
  process.exit(2);
});
program.on("exit", (code, signal) => process.exit(code ?? 128 + (os.constants.signals[signal] ?? 0)));

// Ctrl-C reaches the program too, which ends in order; this process waits for it. Other signals reach only this process, and
// a run without it would go on spending.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) {
  process.on(signal, () => program.kill(signal));
}
