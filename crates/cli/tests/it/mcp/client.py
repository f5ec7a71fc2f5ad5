"""Uses every tool of `assize mcp` as an agent would: client.py ASSIZE FOLDER."""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

assize, folder = sys.argv[1:3]
checks = 0
problems = []


def check(what, holds, seen=None):
    global checks
    checks += 1
    if not holds:
        problems.append(f"{what}: {json.dumps(seen, default=str)[:2000]}")


class Session:
    def __init__(self, session):
        self.session = session

    async def call(self, tool, **arguments):
        result = await self.session.call_tool(tool, arguments)
        text = "".join(block.text for block in result.content)
        check(f"{tool} answers in text as in data", result.structured_content in (None, json.loads(text))
              if result.structured_content is not None else bool(text), text)
        return result.is_error, result.structured_content or {"error": {"message": text}}

    async def succeed(self, tool, **arguments):
        failed, value = await self.call(tool, **arguments)
        check(f"{tool} succeeds", not failed, value)
        return value

    async def fail(self, tool, expected, **arguments):
        failed, value = await self.call(tool, **arguments)
        check(f"{tool} fails with `{expected}`", failed and expected in value["error"]["message"], value)


async def connected(flags, walk):
    server = StdioServerParameters(command=assize, args=["mcp", *flags], cwd=folder)
    async with stdio_client(server) as (reader, writer), ClientSession(reader, writer) as session:
        info = await session.initialize()
        check("the server names itself", info.server_info.name == "assize", info)
        await walk(session, Session(session))


async def read_only(session, assize):
    tools = (await session.list_tools()).tools
    names = sorted(tool.name for tool in tools)
    check("tools", names == ["explain", "grade", "list_runs", "plan", "results", "run_eval", "validate"], names)
    for tool in tools:
        spends = tool.name in ("grade", "run_eval")
        check(f"hint of {tool.name}", tool.annotations.read_only_hint is not spends, tool)
        check(f"budget of {tool.name}", ("budget_usd" in tool.input_schema.get("required", [])) is spends, tool)

    resources = [str(resource.uri) for resource in (await session.list_resources()).resources]
    for uri in [*resources, "assize://errors/E0103", "assize://lint/L0111"]:
        contents = (await session.read_resource(uri)).contents
        check(f"{uri} can be read", len(contents[0].text) > 50, contents)

    valid = await assize.succeed("validate", paths=["examples/quickstart"])
    check("the quickstart is valid", valid["valid"] is True, valid)
    await assize.fail("validate", "outside", paths=["../"])
    plan = await assize.succeed("plan", paths=["examples/quickstart"], judges=["openai:gpt-4o-mini"])
    check("a plan has calls and cost", plan["calls"] > 0 and plan["cost_usd"]["high"] > 0, plan)

    samples = [{"id": "good", "answer": "Refunds take 5 days."}, {"id": "bad", "answer": "No idea."}]
    graded = await assize.succeed("grade", rubric=["Says that refunds take 5 days"], samples=samples, budget_usd=0)
    verdicts = [(row["id"], row["verdict"]) for row in graded["results"]]
    check("samples are graded in order", verdicts == [("good", "pass"), ("bad", "fail")], graded)
    card = await assize.succeed("grade", scorecard_file="examples/scorecard", weights="routine", budget_usd=0,
                                samples=[{"answer": "Complaint: Nausea. Treatment: ondansetron 4 mg IV at 14:05.",
                                          "tags": ["drafted", "treated", "medication"]}])
    check("a scorecard leaves open what people decide",
          card["results"][0]["status"] == "partial" and card["results"][0]["scorecard"][0]["code"] == "RDI", card)
    await assize.fail("grade", "budget_usd", rubric=["Says that refunds take 5 days"], samples=samples)
    await assize.fail("run_eval", "--write", paths=["examples/quickstart"], budget_usd=0)
    await assize.fail("results", "no runs")


async def writing(session, assize):
    begun = await assize.succeed("run_eval", paths=["examples/quickstart"], budget_usd=0)
    check("a run has an id at once", begun["run_id"] and begun["status"] in ("running", "finished"), begun)
    while (page := await assize.succeed("results", run=begun["run_id"]))["status"] == "running":
        await asyncio.sleep(0.05)
    check("results", len(page["results"]) == page["summary"]["counts"]["pass"] == 6, page)

    ended = await assize.succeed("run_eval", paths=["examples/gate.eval.yaml"], budget_usd=0, wait_seconds=60)
    check("the run ends within the wait", ended["status"] == "finished", ended)
    page = await assize.succeed("results", failures_only=True, detail="full")
    check("what did not pass", page["results"] and all(row["verdict"] != "pass" for row in page["results"]), page)
    explained = await assize.succeed("explain", case=page["results"][0]["case_id"])
    check("an explanation", len(explained["cases"]) >= 1, explained)

    listed = await assize.succeed("list_runs")
    check("both runs", len(listed["runs"]) == 2 and listed["runs"][1]["run"] == begun["run_id"], listed)
    await assize.fail("run_eval", "target `fixer`", paths=["examples/workspace"], budget_usd=0)


asyncio.run(connected([], read_only))
asyncio.run(connected(["--write"], writing))
print("\n".join([*problems, f"{checks} checks, {len(problems)} problems"]))
sys.exit(1 if problems else 0)
