import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { temporaryFolder } from "@toolgate/testbed/temporary-folder";
import fc from "fast-check";
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

test("the curl line makes the same call in a shell, with any text in the arguments", async () => {
  const texts = fc.dictionary(fc.string({ unit: "binary-ascii" }), fc.string({ unit: "binary-ascii" }));
  await fc.assert(
    fc.asyncProperty(texts, async (args) => {
      const line = curlLine({ ...REPORT, example: { tool: "a tool's", args } });
      const shell = await promisify(execFile)("sh", ["-c", `curl() { printf '%s\\0' "$@"; }; ${line}`]);
      expect(shell.stdout.split("\0").slice(0, -1)).toEqual([
        "-i",
        "http://127.0.0.1:8080/api/v1/tools/a%20tool's",
        "-H",
        "Authorization: Bearer svc_live_abc",
        "-H",
        "Content-Type: application/json",
        "-d",
        JSON.stringify({ args }),
      ]);
    }),
    { numRuns: 20 },
  );
});

test("the hook's curl line signs exactly the body that it sends", async () => {
  const texts = fc.dictionary(fc.string({ unit: "binary-ascii" }), fc.string({ unit: "binary-ascii" }));
  await fc.assert(
    fc.asyncProperty(texts, async (body) => {
      const line = hookLine(REPORT, { ...HOOK, body });
      const shell = await promisify(execFile)("sh", ["-c", `curl() { printf '%s\\0' "$@"; }; ${line}`]);
      const [, url, , , , header = "", , sent = ""] = shell.stdout.split("\0");
      expect([url, sent]).toEqual([`${REPORT.baseUrl}${HOOK.path}`, JSON.stringify(body)]);
      const [, t, v1] = /^X-Service-Signature: t=(\d+),v1=([0-9a-f]{64})$/.exec(header) ?? [];
      expect(v1).toBe(createHmac("sha256", HOOK.secret).update(`${t}.${sent}`).digest("hex"));
    }),
    { numRuns: 20 },
  );
});

test("the chat's line logs in, and asks with the token that it got", async () => {
  const login = '{"token":"a.b-c_d","expiresAt":"2030-01-01T00:00:00Z"}';
  const curl = `curl() { case "$*" in *Login*) printf '%s' '${login}';; *) printf '%s\\0' "$@";; esac; }`;
  const { stdout } = await promisify(execFile)("sh", ["-c", `${curl}; ${chatLine(REPORT, CHAT)}`]);
  const sent = stdout.split("\0").slice(0, -1);
  expect(sent).toEqual([
    "-N",
    "-G",
    "http://127.0.0.1:8080/chat/stream",
    "-H",
    "Authorization: Bearer a.b-c_d",
    "--data-urlencode",
    "tenant=demo",
    "--data-urlencode",
    expect.stringMatching(/^chat_id=demo-\d+$/),
    "--data-urlencode",
    `message=${CHAT.message}`,
  ]);
});

test("the banner names base URL, login, key, the call, the call of the hook and the chat", () => {
  const text = banner(REPORT, "/data/run.json", "split");
  const calls = [curlLine(REPORT), hookLine(REPORT, HOOK), chatLine(REPORT, CHAT)];
  for (const part of [REPORT.baseUrl, REPORT.admin.email, REPORT.admin.password, REPORT.apiKey, ...calls]) {
    expect(text).toContain(part);
  }
});

test("the split topology says where its services serve RPCs", async () => {
  const summary = { ...REPORT, rpcUrls: { gateway: "", "key-auth": "http://127.0.0.1:7001" } };
  expect(banner(summary, "run.json", "split")).toContain("\n  RPCs          key-auth http://127.0.0.1:7001\n");
  const file = await writeRunFile(await temporaryFolder(), summary);
  expect(JSON.parse(await readFile(file, "utf8")).rpc_urls).toEqual(summary.rpcUrls);
});
