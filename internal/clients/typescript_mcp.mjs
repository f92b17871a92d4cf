// Drives a server with the TypeScript MCP clients: the one that most programs
// have, and its successor in both of its protocols.
//
// usage: node typescript_mcp.mjs URL FOLDER

import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { Client as Classic } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as ClassicTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const [url, folder] = process.argv.slice(2);
if (!folder) {
  console.error("usage: node typescript_mcp.mjs URL FOLDER");
  process.exit(2);
}

const me = { name: "clearbox-clients", version: "0" };
const clients = {
  "typescript-sdk": (at) => connect(new Classic(me), new ClassicTransport(at)),
  "typescript-client": (at) => connect(new Client(me), new StreamableHTTPClientTransport(at)),
  "typescript-client-auto": (at) =>
    connect(new Client(me, { versionNegotiation: { mode: "auto" } }), new StreamableHTTPClientTransport(at)),
};

async function connect(client, transport) {
  await client.connect(transport);
  return client;
}

// value returns what a tool answered.
async function value(client, name, args) {
  const res = await client.callTool({ name, arguments: args });
  assert.ok(!res.isError, `${name} was refused: ${text(res)}`);
  const got = res.structuredContent;
  return Object.keys(got).join() === "result" ? got.result : got;
}

const text = (res) => res.content.map((c) => c.text).join("");

const plan = (title) => ({
  title,
  working_directory: mkdtempSync(join(folder, "plan-")),
  nodes: [
    { key: "a", title: "A", files: ["a.txt"] },
    { key: "b", title: "B", results_from: ["a"] },
  ],
  edges: [["a", "b"]],
});

const checks = {
  "the tools are listed and the instructions arrive": async (client) => {
    const { tools } = await client.listTools();
    assert.ok(tools.length >= 20, `${tools.length} tools`);
    assert.match(client.getInstructions(), /submit_plan/);
    assert.equal(client.getServerVersion().name, "clearbox");
  },
  "a plan with faults is refused, all of them named": async (client) => {
    const broken = plan("Broken");
    broken.edges.push(["b", "a"], ["a", "nope"]);
    const res = await client.callTool({ name: "submit_plan", arguments: broken });
    assert.ok(res.isError);
    for (const part of ["nothing was created", "unknown node key 'nope'"]) {
      assert.ok(text(res).includes(part), `${text(res)} does not say ${part}`);
    }
  },
  "an unknown tool is a refused call": async (client) => {
    const res = await client.callTool({ name: "no_such_tool", arguments: {} });
    assert.ok(res.isError && text(res).includes("no_such_tool"), text(res));
  },
  "a plan is submitted, started and done by agents": async (client) => {
    const made = await value(client, "submit_plan", plan("Built in"));
    assert.deepEqual(made.nodes, { a: 1, b: 2 });
    await value(client, "start_plan", { plan_id: made.plan_id });
    for (let tries = 0; ; tries++) {
      const now = await value(client, "get_plan", { plan_id: made.plan_id });
      if (now.status === "done") break;
      assert.ok(tries < 600 && now.status !== "failed", `the plan is ${now.status}`);
      await new Promise((wait) => setTimeout(wait, 50));
    }
  },
  "a session tracks its own work": async (_, observe) => {
    const made = await value(observe, "submit_plan", plan("Observed"));
    for (const node_id of [1, 2]) {
      const claim = await value(observe, "claim_next_node", { agent_name: "typescript", plan_id: made.plan_id });
      assert.equal(claim.node_id, node_id);
      assert.equal(await value(observe, "complete_node", { plan_id: made.plan_id, node_id, result: "did it" }), "ok");
    }
    const seen = await (await fetch(`${url}/api/plans/${made.plan_id}`)).json();
    assert.equal(seen.status, "done");
  },
  "a call that its client gives up does no harm": async (client) => {
    const many = { ...plan("Given up"), edges: [] };
    many.nodes = Array.from({ length: 3000 }, (_, i) => ({ key: `k${i}`, title: `Step ${i}` }));
    const giveUp = AbortSignal.timeout(5);
    await client.callTool({ name: "submit_plan", arguments: many }, ...abortable(client, giveUp)).catch(() => {});
    const all = await value(client, "list_plans", {});
    for (const p of all.filter((p) => p.title === "Given up")) assert.equal(p.progress.total, 3000);
  },
};

// abortable returns the rest of the arguments of callTool: the older client has
// one more before its options.
const abortable = (client, signal) => (client instanceof Classic ? [undefined, { signal }] : [{ signal }]);

let failures = 0;
for (const [suite, open] of Object.entries(clients)) {
  let passed = 0, failed = 0;
  const client = await open(new URL(url + "/mcp"));
  const observe = await open(new URL(url + "/mcp/observe"));
  for (const [name, check] of Object.entries(checks)) {
    try {
      await check(client, observe);
      passed++;
      console.log(`ok    ${suite}: ${name}`);
    } catch (err) {
      failed++;
      console.log(`FAIL  ${suite}: ${name}: ${err.message}`);
    }
  }
  await client.close();
  await observe.close();
  console.log(`${suite}: ${passed} passed, ${failed} failed`);
  failures += failed;
}
process.exit(failures ? 1 : 0);
