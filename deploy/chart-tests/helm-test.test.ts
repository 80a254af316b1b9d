import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { runToolgate } from "../installation/test/running-toolgate.ts";
import { ECHO } from "../installation/test/tool-call/echo.ts";
import { CHART } from "./helm.ts";

test("the script of helm test passes on an installation that works, by key and by login, and fails otherwise", async () => {
  await using toolgate = await runToolgate("single");
  const script = await readFile(`${CHART}files/test-installation.mjs`, "utf8");
  const run = async (env: Record<string, string>) => {
    const args = ["--input-type=module", "--eval", script];
    return (await promisify(execFile)(process.execPath, args, { env })).stdout;
  };
  await toolgate.saveTool("echo", { ...ECHO, webhook_event: true });
  await toolgate.createEndpoint(["tool.completed"]);
  const { secret } = await toolgate.createKey({ name: "k", tools: ["echo"] });
  const { email: EMAIL, password: PASSWORD, workspace: WORKSPACE } = toolgate.account;
  const call = { GATEWAY_URL: toolgate.baseUrl, TOOL: "echo", ARGUMENTS: '{"text":"hi"}' };

  expect(await run({ ...call, API_KEY: secret })).toContain("passed: a call of the tool echo succeeds");
  const said = await run({ ...call, EMAIL, PASSWORD, WORKSPACE, WEBHOOK: "true" });
  expect(said).toContain("passed: its webhook is delivered");
  expect(said).toContain("passed: the key is refused once it is revoked");
  await expect(run({ ...call, API_KEY: secret, ARGUMENTS: "{}" })).rejects.toThrow(/400 instead of 200/);
  await expect(run({ ...call, EMAIL, PASSWORD: "wrong", WORKSPACE })).rejects.toThrow(/401 instead of 200/);
  await expect(run({ GATEWAY_URL: "http://127.0.0.1:1" })).rejects.toThrow(/fetch failed/);
});
