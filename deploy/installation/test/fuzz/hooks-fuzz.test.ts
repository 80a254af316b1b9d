import { randomUUID } from "node:crypto";
import { env } from "node:process";
import { provision } from "@toolgate/key-auth/operator/provision";
import { loginTo, type Management } from "@toolgate/local/demo/management";
import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createHook } from "../hooks/hooks.ts";
import { type RunningToolgate, runToolgate } from "../running-toolgate.ts";
import type { FuzzHook } from "./credentials.ts";
import { makeHookCase } from "./hook-cases.ts";
import { createLedger, type Ledger } from "./ledger.ts";
import { createSender, type Sender } from "./send.ts";

/** The same seed makes the same cases, except for which earlier call a case repeats. */
const CASES = Number(env.FUZZ_CASES ?? 20_000);
const SEED = Number(env.FUZZ_SEED ?? 1);
const CONNECTIONS = 32;
const WORKSPACES = 4;
const DEADLINE_MS = 60_000 + CASES * 30;

const FORMATS: Readonly<Record<FuzzHook["format"], Record<string, string>>> = {
  native: { format: "HOOK_FORMAT_NATIVE" },
  stripe: { format: "HOOK_FORMAT_PROCESSOR", preset: "HOOK_PRESET_STRIPE" },
  shopify: { format: "HOOK_FORMAT_SHOP", preset: "HOOK_PRESET_SHOPIFY" },
  bearer: { format: "HOOK_FORMAT_BEARER" },
  github: { format: "HOOK_FORMAT_GITHUB" },
  standard: { format: "HOOK_FORMAT_STANDARD_WEBHOOKS" },
};
const PROVIDED: readonly string[] = ["stripe", "shopify", "github"];

const TOOL = {
  inbound_hook: true,
  parameters: { type: "object", properties: { text: {}, payload: { type: "object" }, any: {} } },
  handler: "export default async () => ({ success: true });",
};

let toolgate: RunningToolgate;
let manage: Management;
let sender: Sender;
const hooks: FuzzHook[] = [];
const ledger: Ledger = createLedger();
beforeAll(async () => {
  // Each request says which address it comes from, and a workspace's runs need not wait for each other.
  toolgate = await runToolgate("single", { env: { TRUSTED_PROXIES: "127.0.0.1", RUNS_PER_WORKSPACE: "32" } });
  for (let index = 0; index < WORKSPACES; index += 1) await addWorkspace();
  sender = createSender(toolgate.baseUrl, CONNECTIONS);
}, 120_000);
afterAll(async () => {
  sender?.[Symbol.dispose]();
  await toolgate?.[Symbol.asyncDispose]();
});

/** Adds a workspace with hooks of every format, half of which hand over the whole body. */
async function addWorkspace(): Promise<void> {
  const code = `w-${randomUUID().slice(0, 8)}`;
  const account = { workspace: code, email: `${code}@example.test`, password: "a password" };
  await provision(toolgate.pool, { ...account, role: "admin" });
  manage = (await loginTo(toolgate.baseUrl, account)) as Management;
  await manage("tool_runner.v1.ToolService/SaveTool", {
    name: "echo",
    definition: { description: "echo", ...TOOL },
    confirmExposure: true,
  });
  for (const [format, request] of Object.entries(FORMATS) as [FuzzHook["format"], object][]) {
    const secret = `secret-${randomUUID()}`;
    const args = hooks.length % 2 === 0 ? { payload: {} } : { fields: {} };
    const made = await createHook(
      { manage },
      { ...request, arguments: args, ...(PROVIDED.includes(format) && { providerSecret: secret }) },
    );
    hooks.push({ ...made, secret: made.secret || secret, format });
  }
}

/** An address of its own for each case, so that no flood is noticed. */
const addressOf = (index: number) => `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;

async function callHook(index: number): Promise<void> {
  const { originals } = ledger;
  const hookCase = makeHookCase({ seed: SEED, index, hooks, originals, now: Math.floor(Date.now() / 1000) });
  const copies = Array.from({ length: hookCase.copies }, () => sender.send(hookCase, addressOf(index)));
  const responses = await Promise.all(copies);
  try {
    ledger.note(hookCase, responses);
  } catch (error) {
    const { method, target, headers, body } = hookCase;
    const shown = {
      format: hookCase.hook.format,
      method,
      target,
      headers,
      body: body.toString("latin1").slice(0, 500),
    };
    throw new Error(`${(error as Error).message}: ${JSON.stringify(shown)} → ${responses.map(({ text }) => text)}`);
  }
}

test(`[IN-27] [IN-24] ${CASES} random calls (seed ${SEED}): no internal error, no run without proof`, {
  timeout: DEADLINE_MS,
}, async () => {
  let next = 0;
  const failures: string[] = [];
  const work = async () => {
    while (next < CASES && failures.length < 5) {
      const index = next;
      next += 1;
      await callHook(index).catch((error: Error) => failures.push(`case ${index}: ${error.message}`));
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  expect(failures).toEqual([]);
  expect(Object.keys(Object.prototype)).toEqual([]);
  // The cases reach every response.
  const seen = [...ledger.statuses.keys()].sort((left, right) => left - right);
  expect(seen).toEqual([200, 202, 400, 401, 404, 405, 413, 508]);
});

test("[IN-24] [IN-22] [IN-33] every accepted call is stored and ran once, and nothing else did", {
  timeout: DEADLINE_MS,
}, async () => {
  const { pool } = toolgate;
  const stateOf = async () => {
    const { rows } = await pool.query(
      `select (select count(*)::int from inbound_hook.delivery) as stored,
              (select count(*)::int from inbound_hook.delivery where status in ('waiting', 'running')) as outstanding,
              (select count(*)::int from inbound_hook.run) as runs,
              (select count(distinct delivery_id)::int from inbound_hook.run) as ran,
              (select count(*)::int from inbound_hook.run where execution_id <> '') as started,
              (select count(*)::int from tool_runner.executions) as executions`,
    );
    return rows[0];
  };
  const state = await eventually(
    async () => {
      const now = await stateOf();
      return now.outstanding === 0 && now.executions === now.started && now;
    },
    { deadlineMs: DEADLINE_MS, everyMs: 250 },
  );
  const accepted = ledger.accepted.size;
  expect(state).toMatchObject({ stored: accepted, ran: accepted, runs: accepted });
  const { rows } = await pool.query("select id from inbound_hook.delivery");
  expect(new Set(rows.map(({ id }) => id))).toEqual(ledger.accepted);
});
