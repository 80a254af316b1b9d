import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isReady } from "@toolgate/local/service-process";
import { freePort } from "@toolgate/local-servers/ports";
import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningToolgate, runToolgate } from "../running-toolgate.ts";
import { ECHO } from "../tool-call/echo.ts";
import { IMAGE_ROOT, startContainer, whyNoImage } from "./container.ts";

const missing = whyNoImage();
if (missing !== undefined) test.skip(`not run: every role in its image (${missing})`, () => {});

const START = ["node", "--max-semi-space-size=32", "--v8-pool-size=1", "deploy/installation/src/start-main.ts"];
const SERVICE_ROLES = {
  chat: { api: 1, worker: 1 },
  "inbound-hook": { receiver: 1, runner: 1 },
  "outbound-webhook": { manager: 1, "fan-out": 1, dispatcher: 1, worker: 1 },
};
/** In the order in which the processes of the installation start, where the roles of chat and outbound-webhook share a name. */
const PROGRAMS = [
  ...["sandbox", "tool-runner", "key-auth", "chat-api", "chat-worker"],
  ...["inbound-hook-receiver", "inbound-hook-runner"],
  ...["outbound-webhook-manager", "outbound-webhook-fan-out", "outbound-webhook-dispatcher", "outbound-webhook-worker"],
  "gateway",
];
/** Files of the machine, which are not in the image, and the channel to a parent process. */
const NOT_IN_IMAGE = ["TARGET_CA_FILE", "CHAT_FILES", "NODE_CHANNEL_FD", "NODE_CHANNEL_SERIALIZATION_MODE"];
const TOKEN = "a-token-of-tests-with-enough-characters";

describe.runIf(missing === undefined)("the image, as its user and with a read-only root", () => {
  let toolgate: RunningToolgate;
  let environments: Record<string, Record<string, string>>;
  beforeAll(async () => {
    toolgate = await runToolgate("split", { roles: SERVICE_ROLES });
    const processes = toolgate.processes();
    expect(processes).toHaveLength(PROGRAMS.length);
    environments = Object.fromEntries(
      await Promise.all(processes.map(async ({ pid }, index) => [PROGRAMS[index], await environmentOf(pid)] as const)),
    );
  });
  afterAll(() => toolgate?.[Symbol.asyncDispose]());

  /** Starts a process of the image with what the same process of the installation has, on ports of its own. */
  async function start(program: string, changed: Record<string, string> = {}) {
    const [PORT, RPC_PORT, OPS_PORT] = await Promise.all([freePort(), freePort(), freePort()]);
    const ports = { PORT: `${PORT}`, RPC_PORT: `${RPC_PORT}`, OPS_PORT: `${OPS_PORT}` };
    const env: Record<string, string> = { ...environments[program], ...ports, LOG_LEVEL: "info", ...changed };
    // The program's name says it.
    delete env.ROLES;
    const container = await startContainer([...START, program], env);
    await eventually(
      async () => {
        if (container.log.some((line) => line.includes('"level":"fatal"'))) throw new Error(container.log.join("\n"));
        return isReady(OPS_PORT);
      },
      { deadlineMs: 60_000 },
    ).catch((error: Error) => {
      throw new Error(`${error.message}\n${container.log.join("\n")}`);
    });
    return { container, port: PORT, rpcUrl: `http://127.0.0.1:${RPC_PORT}` };
  }

  test.each(PROGRAMS)("%s becomes ready, has no rights, and stops on SIGTERM with exit code 0", async (program) => {
    const { container } = await start(program);
    await using _ = container;
    const status = await container.status();
    expect(status).toMatch(/^Uid:\s+10001\s+10001\s+10001\s+10001$/m);
    expect(status).toMatch(/^CapEff:\s+0+$/m);
    expect(status).toMatch(/^CapBnd:\s+0+$/m);
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
    expect(status).toMatch(/^NSpid:\s+\d+\s+1$/m);
    const code = await container.stop();
    expect(code, container.log.join("\n")).toBe(0);
    expect(container.log.join("\n")).toContain('"msg":"stopped"');
  });

  test("a call passes gateway, tool-runner and sandbox of the image", async () => {
    await toolgate.saveTool("echo", ECHO);
    const { secret } = await toolgate.createKey({ name: "k", tools: ["echo"] });
    const hash = createHash("sha256").update(TOKEN).digest("hex");
    const sandbox = await start("sandbox", { SANDBOX_TOKEN_HASH: hash });
    await using _sandbox = sandbox.container;
    const runner = await start("tool-runner", { SANDBOX_URL: sandbox.rpcUrl, SANDBOX_TOKEN: TOKEN });
    await using _runner = runner.container;
    const gateway = await start("gateway", { TOOL_RUNNER_URL: runner.rpcUrl });
    await using _gateway = gateway.container;
    const response = await fetch(`http://127.0.0.1:${gateway.port}/api/v1/tools/echo`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify({ args: { text: "hi" } }),
    });
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("hi")]);
  });

  test("its root and its program cannot be changed, and it has only what its list of packages says", async () => {
    const script = `for (const path of ["/x", "/toolgate/x", "/usr/x"])
      try { require("fs").writeFileSync(path, ""); console.log("written") } catch (error) { console.log(error.code) }`;
    await using container = await startContainer(["node", "-e", script], {});
    await eventually(() => container.log.length === 3);
    expect(container.log).toEqual(["EROFS", "EROFS", "EROFS"]);
    const root = join(IMAGE_ROOT ?? "", "toolgate");
    const { components } = JSON.parse(await readFile(join(root, "sbom.cdx.json"), "utf8"));
    const listed = components.map(({ name, version }: { name: string; version: string }) => `${name}@${version}`);
    const { packages } = JSON.parse(await readFile(join(root, "node_modules/.package-lock.json"), "utf8"));
    const installed = Object.entries(packages as Record<string, { version?: string; link?: boolean }>)
      .filter(([path, { link }]) => path.startsWith("node_modules/") && !link)
      .map(([path, { version }]) => `${path.slice(path.lastIndexOf("node_modules/") + 13)}@${version}`);
    expect(installed.length).toBeGreaterThan(50);
    expect(installed.filter((one) => !listed.includes(one))).toEqual([]);
  });
});

async function environmentOf(pid: number): Promise<Record<string, string>> {
  const entries = (await readFile(`/proc/${pid}/environ`, "utf8")).split("\0").filter((entry) => entry.includes("="));
  const env = Object.fromEntries(entries.map((entry) => entry.split(/=(.*)/s).slice(0, 2) as [string, string]));
  for (const name of NOT_IN_IMAGE) delete env[name];
  return env;
}
