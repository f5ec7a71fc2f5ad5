// Writes the packages for npm: node packaging/npm/build.mjs FOLDER TARGET=PROGRAM...
//
// One package for each Rust target with the program, and the package `assize` that names all of them as optional dependencies
// at the same version, so that npm installs the one of the platform. Prints the folder of each, that of `assize` last: it is
// published last.
import { chmodSync, copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

// Node's names for each target. The programs for Linux are static, so they need no `libc`.
const PLATFORMS = {
  "x86_64-unknown-linux-musl": { os: "linux", cpu: "x64" },
  "x86_64-unknown-linux-gnu": { os: "linux", cpu: "x64", libc: "glibc" },
  "aarch64-unknown-linux-musl": { os: "linux", cpu: "arm64" },
  "x86_64-apple-darwin": { os: "darwin", cpu: "x64" },
  "aarch64-apple-darwin": { os: "darwin", cpu: "arm64" },
  "x86_64-pc-windows-msvc": { os: "win32", cpu: "x64" },
};

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, "../..");
const [folder, ...programs] = process.argv.slice(2);
if (!folder || programs.length === 0) {
  console.error("usage: node packaging/npm/build.mjs FOLDER TARGET=PROGRAM...");
  process.exit(2);
}

const version = /^version = "(.*)"$/m.exec(readFileSync(join(root, "Cargo.toml"), "utf8"))[1];
const main = { ...JSON.parse(readFileSync(join(here, "package.json"), "utf8")), version, optionalDependencies: {} };
rmSync(folder, { recursive: true, force: true });

const copyLicences = (to) => ["LICENSE-APACHE", "LICENSE-MIT"].forEach((name) => copyFileSync(join(root, name), join(to, name)));
const writeJson = (path, value) => writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);

for (const pair of programs) {
  const [target, program] = pair.split("=", 2);
  const platform = PLATFORMS[target];
  if (!platform || !program) {
    console.error(`expected TARGET=PROGRAM with one of ${Object.keys(PLATFORMS).join(", ")}; found ${pair}`);
    process.exit(2);
  }

  const name = `@assize/${platform.os}-${platform.cpu}`;
  if (name in main.optionalDependencies) {
    console.error(`two programs for ${name}`);
    process.exit(2);
  }
  const to = join(folder, `${platform.os}-${platform.cpu}`);
  const file = platform.os === "win32" ? "assize.exe" : "assize";
  mkdirSync(to, { recursive: true });
  copyFileSync(program, join(to, file));
  chmodSync(join(to, file), 0o755);
  copyLicences(to);
  writeJson(join(to, "package.json"), {
    name,
    version,
    description: `The program assize for ${platform.os} on ${platform.cpu}; install the package assize.`,
    license: main.license,
    files: [file, "LICENSE-APACHE", "LICENSE-MIT"],
    os: [platform.os],
    cpu: [platform.cpu],
    ...(platform.libc ? { libc: [platform.libc] } : {}),
    preferUnplugged: true,
    publishConfig: { access: "public", provenance: true },
  });
  main.optionalDependencies[name] = version;
  console.log(to);
}

const to = join(folder, "assize");
mkdirSync(to, { recursive: true });
cpSync(join(here, "bin"), join(to, "bin"), { recursive: true });
copyFileSync(join(here, "README.md"), join(to, "README.md"));
copyLicences(to);
writeJson(join(to, "package.json"), main);
console.log(to);
