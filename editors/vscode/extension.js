"use strict";

// The language server of Assize in Visual Studio Code, and commands that run the program. The program is started with a list
// of arguments, never through a shell.

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function settings() {
  return vscode.workspace.getConfiguration("assize");
}

/** Starts the language server, or says how to get the program. */
async function startServer() {
  const command = settings().get("path");
  client = new LanguageClient(
    "assize",
    "Assize",
    { command, args: ["lsp"] },
    {
      documentSelector: ["yaml", "json", "jsonl", "markdown"].map((language) => ({ scheme: "file", language })),
      outputChannelName: "Assize",
    },
  );

  try {
    await client.start();
  } catch (error) {
    client = undefined;
    const open = "Open settings";
    const chosen = await vscode.window.showErrorMessage(
      `\`${command} lsp\` can't be started (${error.message}). Install Assize, or set assize.path to the program.`,
      open,
    );
    if (chosen === open) {
      vscode.commands.executeCommand("workbench.action.openSettings", "assize.path");
    }
  }
}

async function stopServer() {
  const running = client;
  client = undefined;
  await running?.stop();
}

/** Runs the program as a task in a terminal of the folder. */
async function runTask(name, folder, args) {
  const task = new vscode.Task(
    { type: "assize" },
    folder ?? vscode.TaskScope.Workspace,
    name,
    "assize",
    new vscode.ProcessExecution(settings().get("path"), args, { cwd: folder?.uri.fsPath }),
  );
  task.presentationOptions = { reveal: vscode.TaskRevealKind.Always, panel: vscode.TaskPanelKind.Dedicated, clear: true };
  await vscode.tasks.executeTask(task);
}

/** Runs the evals of the file in the editor. */
async function runFile(extra) {
  const document = vscode.window.activeTextEditor?.document;
  if (!document || document.uri.scheme !== "file") {
    vscode.window.showInformationMessage("Open an eval file first.");
    return;
  }
  if (document.isDirty && !(await document.save())) {
    return;
  }

  const args = ["eval", document.uri.fsPath, "--budget-usd", String(settings().get("budgetUsd"))];
  const judge = settings().get("judge");
  if (judge) {
    args.push("--judge", judge);
  }
  await runTask("eval", vscode.workspace.getWorkspaceFolder(document.uri), [...args, ...extra]);
}

function activate(context) {
  const register = (name, act) => context.subscriptions.push(vscode.commands.registerCommand(name, act));
  register("assize.run", () => runFile([]));
  register("assize.dryRun", () => runFile(["--dry-run"]));
  register("assize.view", () => runTask("view", vscode.workspace.workspaceFolders?.[0], ["view"]));
  register("assize.restart", async () => {
    await stopServer();
    await startServer();
  });
  context.subscriptions.push(
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration("assize.path")) {
        await stopServer();
        await startServer();
      }
    }),
  );

  return startServer();
}

module.exports = { activate, deactivate: stopServer };
