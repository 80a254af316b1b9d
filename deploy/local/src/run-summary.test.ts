import { execFile } from "node:child_process";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { temporaryFolder } from "@toolgate/testbed/temporary-folder";
import fc from "fast-check";
import { expect, test } from "vitest";
import { banner, curlLine, type RunSummary, writeRunFile } from "./run-summary.ts";

const REPORT: RunSummary = {
  baseUrl: "http://127.0.0.1:8080",
  workspace: "demo",
  admin: { email: "admin@demo.test", password: "let me in" },
  apiKey: "svc_live_abc",
  example: { tool: "shipping_quote", args: { weight_kg: 2 } },
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
    workspace: "demo",
    admin: { email: "admin@demo.test", password: "let me in" },
    api_key: "svc_live_abc",
    example: { tool: "shipping_quote", args: { weight_kg: 2 } },
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

test("the banner names base URL, login, key and the call", () => {
  const text = banner(REPORT, "/data/run.json", "split");
  for (const part of [REPORT.baseUrl, REPORT.admin.email, REPORT.admin.password, REPORT.apiKey, curlLine(REPORT)]) {
    expect(text).toContain(part);
  }
});
