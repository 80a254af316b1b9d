import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { temporaryFolder } from "@toolgate/testbed/temporary-folder";
import { expect, test } from "vitest";
import { banner, chatLine, curlLine, hookLine, type RunSummary, writeRunFile } from "./run-summary.ts";

const HOOK = {
  path: "/api/v1/hooks/hk_abc",
  secret: "whsec_c2VjcmV0+/==",
  tool: "add_order",
  body: { customer: "Ada", city: "Bern", amount: 1 },
};

const CHAT = { assistant: "assistant", message: "Ada's city report for Bern" };

const REPORT: RunSummary = {
  baseUrl: "http://127.0.0.1:8080",
  workspace: "demo",
  admin: { email: "admin@demo.test", password: "let me in" },
  apiKey: "svc_live_abc",
  example: { tool: "shipping_quote", args: { weight_kg: 2 } },
  hook: HOOK,
  chat: CHAT,
  servers: {
    databaseUrl: "postgres://o:p@127.0.0.1:1/t",
    natsUrl: "nats://127.0.0.1:2",
    redisUrl: "redis://127.0.0.1:3",
  },
};

test("run.json has the promised keys and only its owner may read it, also when it was open before", async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "run.json"), "old", { mode: 0o644 });
  const file = await writeRunFile(folder, REPORT);
  expect(file).toBe(join(folder, "run.json"));
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual({
    base_url: "http://127.0.0.1:8080",
    console_url: "http://127.0.0.1:8080/manage/",
    workspace: "demo",
    admin: { email: "admin@demo.test", password: "let me in" },
    api_key: "svc_live_abc",
    example: { tool: "shipping_quote", args: { weight_kg: 2 } },
    hook: {
      url: "http://127.0.0.1:8080/api/v1/hooks/hk_abc",
      secret: "whsec_c2VjcmV0+/==",
      tool: "add_order",
      body: { customer: "Ada", city: "Bern", amount: 1 },
    },
    chat: { url: "http://127.0.0.1:8080/chat/stream", ...CHAT },
    servers: {
      database_url: "postgres://o:p@127.0.0.1:1/t",
      nats_url: "nats://127.0.0.1:2",
      redis_url: "redis://127.0.0.1:3",
    },
  });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

/** Runs a line in a shell; returns the arguments with which it calls curl, after `login` was the response to a login. */
async function curlArguments(line: string, login = ""): Promise<string[]> {
  const curl = `curl() { case "$*" in *Login*) printf '%s' '${login}';; *) printf '%s\\0' "$@";; esac; }`;
  const { stdout } = await promisify(execFile)("sh", ["-c", `${curl}; ${line}`]);
  return stdout.split("\0").slice(0, -1);
}

test("the curl line makes the same call in a shell, with any text in the arguments", async () => {
  const args = { "it's": `"\\ $HOME \`id\` %s !! \n` };
  const line = curlLine({ ...REPORT, example: { tool: "a tool's", args } });
  expect(await curlArguments(line)).toEqual([
    "-i",
    "http://127.0.0.1:8080/api/v1/tools/a%20tool's",
    ...["-H", "Authorization: Bearer svc_live_abc", "-H", "Content-Type: application/json"],
    ...["-d", JSON.stringify({ args })],
  ]);
});

test("the hook's curl line signs exactly the body that it sends", async () => {
  const body = { "it's": `"\\ $HOME \`id\` %s !! \n` };
  const [, url, , , , header = "", , sent = ""] = await curlArguments(hookLine(REPORT, { ...HOOK, body }));
  expect([url, sent]).toEqual([`${REPORT.baseUrl}${HOOK.path}`, JSON.stringify(body)]);
  const [, t, v1] = /^X-Service-Signature: t=(\d+),v1=([0-9a-f]{64})$/.exec(header) ?? [];
  expect(v1).toBe(createHmac("sha256", HOOK.secret).update(`${t}.${sent}`).digest("hex"));
});

test("the chat's line logs in, and asks with the token that it got", async () => {
  const login = '{"token":"a.b-c_d","expiresAt":"2030-01-01T00:00:00Z"}';
  expect(await curlArguments(chatLine(REPORT, CHAT), login)).toEqual([
    ...["-N", "-G", "http://127.0.0.1:8080/chat/stream", "-H", "Authorization: Bearer a.b-c_d"],
    ...["--data-urlencode", "tenant=demo", "--data-urlencode", expect.stringMatching(/^chat_id=demo-\d+$/)],
    ...["--data-urlencode", `message=${CHAT.message}`],
  ]);
});

test("the banner names login, key and the calls, and in the split topology where the services serve RPCs", () => {
  const text = banner(
    { ...REPORT, rpcUrls: { gateway: "", "key-auth": "http://127.0.0.1:7001" } },
    "run.json",
    "split",
  );
  expect(text).toContain("\n  RPCs          key-auth http://127.0.0.1:7001\n");
  const calls = [curlLine(REPORT), hookLine(REPORT, HOOK), chatLine(REPORT, CHAT)];
  for (const part of [REPORT.baseUrl, REPORT.admin.email, REPORT.admin.password, REPORT.apiKey, ...calls])
    expect(text).toContain(part);
});
