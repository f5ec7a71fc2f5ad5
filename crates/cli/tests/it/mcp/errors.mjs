// Calls that fail, through the official client for Node.js: errors.mjs ASSIZE FOLDER. Once the tools are listed, the client
// checks results against their schemas, and loses the message of an error that does not fit.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [assize, folder] = process.argv.slice(2);
const client = new Client({ name: "test", version: "1" });
await client.connect(new StdioClientTransport({ command: assize, args: ["mcp"], cwd: folder }));

const calls = {
    explain: { run: "lost", case: "c" },
    grade: { rubric: ["x"], samples: [{ answer: "y" }] },
    list_runs: { limit: "x" },
    plan: { paths: 7 },
    results: { run: "lost" },
    run_eval: { paths: ["lost.eval.yaml"] },
    validate: { paths: ["lost.yaml"] },
};
let [checks, problems] = [0, 0];
for (const isListed of [false, true]) {
    const tools = isListed ? (await client.listTools()).tools.map((tool) => tool.name).sort() : Object.keys(calls);
    for (const name of tools) {
        checks += 1;
        const result = await client.callTool({ name, arguments: calls[name] }).catch((error) => ({ error: error.message }));
        const text = result.content?.[0]?.text ?? "";
        if (result.isError !== true || text === "" || result.structuredContent !== undefined) {
            problems += 1;
            console.log(`${name}, ${isListed ? "listed" : "not listed"}: ${JSON.stringify(result)}`);
        }
    }
}
console.log(`${checks} checks, ${problems} problems`);
await client.close();
