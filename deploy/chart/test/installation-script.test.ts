import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningToolgate, runToolgate } from "../../installation/test/running-toolgate.ts";
import { ECHO } from "../../installation/test/tool-call/echo.ts";
import { CHART } from "../src/paths.ts";

let toolgate: RunningToolgate;
beforeAll(async () => {
  toolgate = await runToolgate("single");
  await toolgate.saveTool("echo", { ...ECHO, webhook_event: true });
});
afterAll(() => toolgate[Symbol.asyncDispose]());

/** Runs the script of helm test as its pod does. */
async function runScript(env: Record<string, string>): Promise<string> {
  const script = await readFile(join(CHART, "files/test-installation.mjs"), "utf8");
  const args = ["--input-type=module", "--eval", script];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  return stdout;
}

test("the script of helm test succeeds on an installation that works, with a key and without", async () => {
  const GATEWAY_URL = toolgate.baseUrl;
  expect(await runScript({ GATEWAY_URL })).toContain("passed: a call without a valid key is refused");
  const { secret } = await toolgate.createKey({ name: "k", tools: ["echo"] });
  const env = { GATEWAY_URL, API_KEY: secret, TOOL: "echo", ARGUMENTS: '{"text":"hi"}' };
  expect(await runScript(env)).toContain("passed: a call of the tool echo succeeds");
});

test("with a Manager's login the script creates a key, calls a tool, sees its webhook delivered and revokes the key", async () => {
  const { email: EMAIL, password: PASSWORD, workspace: WORKSPACE } = toolgate.account;
  const login = { GATEWAY_URL: toolgate.baseUrl, EMAIL, PASSWORD, WORKSPACE };
  const env = { ...login, WEBHOOK: "true", TOOL: "echo", ARGUMENTS: '{"text":"hi"}' };
  await toolgate.createEndpoint(["tool.completed"]);
  const said = await runScript(env);
  expect(said).toContain("passed: its webhook is delivered");
  expect(said).toContain("passed: the key is refused once it is revoked");
  expect(toolgate.receiver.requests).toHaveLength(1);
  await expect(runScript({ ...env, PASSWORD: "wrong" })).rejects.toThrow(/Login: 401 instead of 200/);
});

test("the script fails when a call fails, and when there is no gateway", async () => {
  const GATEWAY_URL = toolgate.baseUrl;
  const { secret } = await toolgate.createKey({ name: "k", tools: ["echo"] });
  const env = { GATEWAY_URL, API_KEY: secret, TOOL: "echo", ARGUMENTS: "{}" };
  await expect(runScript(env)).rejects.toThrow(/400 instead of 200/);
  await expect(runScript({ GATEWAY_URL: "http://127.0.0.1:1" })).rejects.toThrow(/fetch failed/);
});
