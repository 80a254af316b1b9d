import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { clientsRig, hasPython, MODULES, PYTHON, run } from "./clients-rig.ts";

const isInstalled = existsSync(join(MODULES, "orval"));

const ORVAL_CONFIG = `export default {
  api: { input: "./openapi.json", output: { target: "./client.ts", client: "fetch", baseUrl: { getBaseUrlFromSpecification: true } } },
};`;
const USE_ORVAL = `import { findOrders, greet } from "./client.ts";
const headers = { authorization: "Bearer " + process.env.SERVICE_API_KEY };
const greeted = await greet({ args: { name: "Ada", anything: [1] } }, { headers });
const refused = await greet({ args: { name: "x".repeat(30) } }, { headers });
const found = await findOrders({}, { headers });
const greeting = greeted.status === 200 ? greeted.data.greeting : undefined;
console.log(JSON.stringify([greeting, refused.status, found.status]));`;
const USE_FETCH = `import createClient from "openapi-fetch";
import type { paths } from "./types.d.ts";
const headers = { authorization: "Bearer " + process.env.SERVICE_API_KEY };
const client = createClient<paths>({ baseUrl: process.env.TOOLGATE_URL, headers });
const greeted = await client.POST("/api/v1/tools/greet", { body: { args: { name: "Ada", anything: [1] } } });
const refused = await client.POST("/api/v1/tools/greet", { body: { args: { name: "x".repeat(30) } } });
const found = await client.POST("/api/v1/tools/find-orders", { body: {} });
console.log(JSON.stringify([greeted.data?.greeting, refused.error && refused.response.status, found.response.status]));`;
/** It replaces the hyphens of names. */
const USE_SWAGGER = `import SwaggerClient from "swagger-client";
const key = { value: process.env.SERVICE_API_KEY };
const scheme = Object.keys(JSON.parse(process.env.DOCUMENT).components.securitySchemes)[0];
const client = await SwaggerClient({ spec: JSON.parse(process.env.DOCUMENT), authorizations: { [scheme]: key } });
const status = (error) => ({ status: error.status });
const call = (id, requestBody) => client.execute({ operationId: id, requestBody }).catch(status);
const greeted = await call("greet", { args: { name: "Ada", anything: [1] } });
const refused = await call("greet", { args: { name: "x".repeat(30) } });
const found = await call("find_orders", {});
console.log(JSON.stringify([greeted.body?.greeting, refused.status, found.status]));`;
/** Each operation is in a module of its own, whose folder is named after the operation's tag. */
const USE_PYTHON = `import importlib, json, os, pkgutil
import client.api
from client import AuthenticatedClient
from client.models import FindOrdersBody, GreetBody
modules = {m.name.rsplit(".", 1)[1]: m.name for m in pkgutil.walk_packages(client.api.__path__, "client.api.")}
api = AuthenticatedClient(base_url=os.environ["TOOLGATE_URL"], token=os.environ["SERVICE_API_KEY"])
def call(name, body):
    return importlib.import_module(modules[name]).sync_detailed(client=api, body=body)
greeted = call("greet", GreetBody.from_dict({"args": {"name": "Ada", "anything": [1]}}))
refused = call("greet", GreetBody.from_dict({"args": {"name": "x" * 30}}))
found = call("find_orders", FindOrdersBody.from_dict({}))
print(json.dumps([greeted.parsed.greeting, refused.status_code, found.status_code]))`;
const TYPES = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2024"];

describe.skipIf(!isInstalled)("clients that others' generators write", () => {
  let rig: Awaited<ReturnType<typeof clientsRig>>;
  let folder: string;
  let environment: NodeJS.ProcessEnv;

  beforeAll(async () => {
    rig = await clientsRig();
    ({ folder, environment } = rig);
  });
  afterAll(() => rig?.[Symbol.asyncDispose]());

  const node = async (...args: string[]) =>
    (await run(process.execPath, args, { cwd: folder, env: environment })).stdout;
  /** Checks the types of a program, runs it, and returns what it printed. */
  const use = async (program: string, code: string) => {
    await writeFile(join(folder, program), code);
    const compiler = join(MODULES, "typescript/bin/tsc");
    const types = ["--allowImportingTsExtensions", "--lib", "es2024,dom,dom.iterable", program];
    expect(await node(compiler, ...TYPES, ...types).catch((error: { stdout: string }) => error.stdout)).toBe("");
    return JSON.parse(await node(program));
  };

  test("[OAPI-4] [OAPI-6] a client by orval compiles and calls tools", async () => {
    await writeFile(join(folder, "orval.config.mjs"), ORVAL_CONFIG);
    await node(join(MODULES, "orval/dist/bin/orval.mjs"), "--config", "./orval.config.mjs");
    expect(await use("use-orval.ts", USE_ORVAL)).toEqual(["Hello Ada", 400, 200]);
  });

  test("[OAPI-4] [OAPI-6] types by openapi-typescript compile, and a client with them calls tools", async () => {
    await node(join(MODULES, "openapi-typescript/bin/cli.js"), "openapi.json", "-o", "types.d.ts");
    expect(await use("use-fetch.ts", USE_FETCH)).toEqual(["Hello Ada", 400, 200]);
  });

  test("[OAPI-4] [OAPI-6] swagger-client reads the document and calls tools", async () => {
    await writeFile(join(folder, "use-swagger.js"), USE_SWAGGER);
    expect(JSON.parse(await node("use-swagger.js"))).toEqual(["Hello Ada", 400, 200]);
  });

  test.skipIf(!hasPython)("[OAPI-4] [OAPI-6] a client by openapi-python-client calls tools", async () => {
    const options = { cwd: folder, env: { ...environment, PATH: `${PYTHON}:${process.env.PATH}` } };
    const generate = ["generate", "--path", "openapi.json", "--meta", "none", "--output-path", "client"];
    const { stdout: warnings } = await run(join(PYTHON, "openapi-python-client"), generate, options);
    expect(warnings).not.toMatch(/warning|unable|skipping/i);
    await writeFile(join(folder, "use.py"), USE_PYTHON);
    const { stdout } = await run(join(PYTHON, "python"), ["use.py"], options);
    expect(JSON.parse(stdout)).toEqual(["Hello Ada", 400, 200]);
  });
});
