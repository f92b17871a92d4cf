"""Drives a server with the Python MCP client, in both of its protocols."""

import asyncio
import sys
import tempfile

from checks import Checks, arguments, contains, equal, rest
from mcp import Client

OBSERVE = {"submit_plan", "claim_next_node", "report_progress", "complete_node", "fail_node", "add_node", "add_edge",
           "remove_node", "remove_edge", "get_plan"}


def value(res):
    """What a tool answered; a refused call fails the check."""
    assert not res.is_error, f"refused: {text(res)}"
    got = res.structured_content
    return got["result"] if set(got) == {"result"} else got


def text(res):
    return "".join(c.text for c in res.content)


def steps(n=2):
    nodes = [{"key": f"s{i}", "title": f"Step {i}", "files": [f"{i}.txt"]} for i in range(n)]
    return nodes, [["s0", "s1"]]


async def until(what, ask):
    """Waits for what has to come."""
    for _ in range(600):
        if await ask():
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f"never came to: {what}")


async def planning(c, client, folder):
    with c.check("the tools are listed with descriptions and schemas"):
        tools = (await client.list_tools()).tools
        assert len(tools) >= 20, f"{len(tools)} tools"
        for tool in tools:
            assert tool.description and tool.input_schema["type"] == "object", tool.name
            for name, p in tool.input_schema["properties"].items():
                assert p.get("description"), f"{tool.name}.{name} has no description"
    with c.check("the instructions arrive"):
        contains(client.instructions, "submit_plan")
    nodes, edges = steps()
    with c.check("a plan with faults is refused, all of them named, and nothing is created"):
        before = value(await client.call_tool("list_plans", {}))
        res = await client.call_tool("submit_plan", {
            "title": "Broken", "working_directory": folder, "edges": edges + [["s1", "s0"], ["s0", "nope"]],
            "nodes": nodes + [{"key": "s0", "title": "Again"}, {"key": "f", "title": "F", "files": ["../x"]}]})
        assert res.is_error
        contains(text(res), "nothing was created", "duplicate node key 's0'", "unknown node key 'nope'", "escapes")
        equal(value(await client.call_tool("list_plans", {})), before, "the list of plans")
    with c.check("missing and mistyped arguments are named"):
        res = await client.call_tool("submit_plan", {"description": 7, "bogus": 1})
        assert res.is_error
        contains(text(res), "title is required", "description must be a string", "bogus")
    with c.check("an unknown tool is a refused call"):
        res = await client.call_tool("no_such_tool", {})
        assert res.is_error
        contains(text(res), "no_such_tool")
    with c.check("a plan is submitted, started and done by agents"):
        plan = value(await client.call_tool("submit_plan", {
            "title": "Built in", "working_directory": folder, "nodes": nodes, "edges": edges}))
        equal(plan["nodes"], {"s0": 1, "s1": 2}, "the numbers of the steps")
        contains(value(await client.call_tool("start_plan", {"plan_id": plan["plan_id"]})), "started")

        async def done():
            return value(await client.call_tool("get_plan", {"plan_id": plan["plan_id"]}))["status"] == "done"
        await until("done", done)
        got = value(await client.call_tool("get_plan", {"plan_id": plan["plan_id"]}))
        assert all(n["status"] == "done" and n["result"] for n in got["nodes"]), got
    await values(c, client, plan["plan_id"], folder)


async def values(c, client, plan_id, folder):
    with c.check("values that are no objects come under result"):
        made = await client.call_tool("create_plan", {"title": "Empty", "working_directory": folder})
        assert isinstance(made.structured_content["result"], int), made
        node = await client.call_tool("add_node", {"plan_id": value(made), "title": "N"})
        equal(value(node), [value(made), 1], "the answer of add_node")
        none = await client.call_tool("claim_next_node", {"agent_name": "me", "plan_id": plan_id})
        equal(none.structured_content, {"result": None}, "nothing to claim")


async def observing(c, client, url, folder):
    with c.check("observe has its tools and no others"):
        names = {t.name for t in (await client.list_tools()).tools}
        assert names >= OBSERVE and not names & {"start_plan", "delete_plan", "list_agents"}, names
    with c.check("a session tracks its own work"):
        nodes, edges = steps()
        plan = value(await client.call_tool("submit_plan", {
            "title": "Observed", "working_directory": folder, "nodes": nodes, "edges": edges}))
        contains(plan["started"], "external", "/#/plan/")
        for number in (1, 2):
            claim = value(await client.call_tool("claim_next_node", {"agent_name": "python", "plan_id": plan["plan_id"]}))
            equal(claim["node_id"], number, "the claimed step")
            here = {"plan_id": plan["plan_id"], "node_id": number}
            equal(value(await client.call_tool("report_progress", {**here, "message": "at it"})), "ok")
            equal(value(await client.call_tool("complete_node", {**here, "result": f"did {number}"})), "ok")
        equal(value(await client.call_tool("claim_next_node", {"agent_name": "python"})), None, "a claim at the end")
        status, seen = rest(url, f"/api/plans/{plan['plan_id']}")
        equal((status, seen["status"], [n["result"] for n in seen["nodes"]]), (200, "done", ["did 1", "did 2"]))


async def hanging_up(c, client, url, folder):
    with c.check("a call that its client gives up leaves a whole plan or none, and the server goes on"):
        big = [{"key": f"k{i}", "title": f"Step {i}"} for i in range(3000)]
        for patience in (0.001, 0.01, 0.05):
            call = asyncio.create_task(client.call_tool("submit_plan", {
                "title": f"Given up after {patience}", "working_directory": folder, "nodes": big}))
            await asyncio.sleep(patience)
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
        await asyncio.sleep(0.5)
        for plan in rest(url, "/api/plans")[1]:
            if plan["title"].startswith("Given up"):
                equal(plan["progress"]["total"], len(big), "the steps of " + plan["title"])
        assert len(value(await client.call_tool("list_plans", {}))) > 0
        equal(rest(url, "/api/health")[0], 200)


async def main():
    (url,) = arguments("python_mcp.py URL", "url")
    suites = []
    for mode in ("auto", "legacy"):
        c = Checks(f"python-mcp-{mode}")
        suites.append(c)
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
            with c.check("connections"):
                async with Client(url + "/mcp", mode=mode) as client:
                    equal(client.server_info.name, "clearbox", "the server's name")
                    await planning(c, client, folder)
                    await hanging_up(c, client, url, other)
                async with Client(url + "/mcp/observe", mode=mode) as client:
                    await observing(c, client, url, folder)
    return max(c.close() for c in suites)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
